#include "workloads/video/video_writer.h"

#include "workloads/video/libav.h"

namespace doetune::workloads {
namespace {

struct CloseOutput {
  void operator()(AVFormatContext* context) const {
    avio_closep(&context->pb);
    avformat_free_context(context);
  }
};

}  // namespace

std::string container_of(const std::filesystem::path& file) {
  const std::string ending = file.extension().string();
  if (ending == ".avi" || ending == ".mp4" || ending == ".mov") return ending.substr(1);
  return ending == ".mkv" ? "matroska" : "";
}

struct VideoWriter::State {
  std::string what;
  std::unique_ptr<AVFormatContext, CloseOutput> container;
  libav::Owner<AVPacket> packet = libav::owned(av_packet_alloc());
  AVRational frame_time{};
  std::int64_t frames = 0;
};

VideoWriter::VideoWriter(const std::filesystem::path& file, const std::string& container, int width,
                         int height, double frames_per_second)
    : state_(std::make_unique<State>()) {
  av_log_set_level(AV_LOG_QUIET);  // errors are returned as codes
  state_->what = "cannot write the video " + file.string();
  AVFormatContext* made = nullptr;
  libav::check(avformat_alloc_output_context2(&made, nullptr, container.c_str(), nullptr),
               state_->what);
  state_->container.reset(made);
  AVStream* stream = avformat_new_stream(made, nullptr);
  if (stream == nullptr) throw std::bad_alloc();
  state_->frame_time = av_inv_q(av_d2q(frames_per_second, 100'000));
  stream->time_base = state_->frame_time;
  stream->avg_frame_rate = av_inv_q(state_->frame_time);
  AVCodecParameters& codec = *stream->codecpar;
  codec.codec_type = AVMEDIA_TYPE_VIDEO;
  codec.codec_id = AV_CODEC_ID_MJPEG;
  codec.format = AV_PIX_FMT_YUVJ420P;
  codec.color_range = AVCOL_RANGE_JPEG;
  codec.width = width;
  codec.height = height;
  libav::check(avio_open(&made->pb, ("file:" + file.string()).c_str(), AVIO_FLAG_WRITE),
               state_->what);
  libav::check(avformat_write_header(made, nullptr), state_->what);
}

VideoWriter::~VideoWriter() = default;

void VideoWriter::add(std::span<const std::byte> bytes) {
  AVPacket& packet = *state_->packet;
  packet.data = reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(bytes.data()));  // only read
  packet.size = static_cast<int>(bytes.size());
  packet.flags = AV_PKT_FLAG_KEY;
  packet.pts = packet.dts = state_->frames++;
  packet.duration = 1;
  packet.stream_index = 0;
  AVFormatContext* container = state_->container.get();
  av_packet_rescale_ts(&packet, state_->frame_time, container->streams[0]->time_base);
  libav::check(av_write_frame(container, &packet), state_->what);
}

void VideoWriter::finish() {
  libav::check(av_write_trailer(state_->container.get()), state_->what);
  avio_flush(state_->container->pb);
  libav::check(state_->container->pb->error, state_->what);
}

}  // namespace doetune::workloads
