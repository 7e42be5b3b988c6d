#include "workloads/video/video_file.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "workloads/video/libav.h"

namespace doetune::workloads {
namespace {

using libav::check;
using libav::owned;
using libav::Owner;

// Self-contained formats: none that refers to other files or to the network.
constexpr const char* kContainers =
    "avi,mov,matroska,mpegts,mpeg,mpegvideo,m4v,h264,hevc,ivf,flv,asf,ogg,nut,gif,mxf";

constexpr std::int64_t kUnknown = AV_NOPTS_VALUE;

Owner<AVFormatContext> open_container(const std::filesystem::path& file) {
  av_log_set_level(AV_LOG_QUIET);  // errors are returned as codes
  AVDictionary* options = nullptr;
  av_dict_set(&options, "protocol_whitelist", "file", 0);
  av_dict_set(&options, "format_whitelist", kContainers, 0);
  AVFormatContext* opened = nullptr;
  const int code =
      avformat_open_input(&opened, ("file:" + file.string()).c_str(), nullptr, &options);
  av_dict_free(&options);
  if (code == AVERROR(EINVAL)) throw VideoError("is not a supported video format");
  check(code, "cannot be read as a video");
  Owner<AVFormatContext> container(opened);
  check(avformat_find_stream_info(opened, nullptr), "cannot be read as a video");
  return container;
}

/// A packet's presentation time, in units of the stream's time base.
std::int64_t stamp_of(const AVPacket& packet) {
  return packet.pts != kUnknown ? packet.pts : packet.dts;
}

/// The index of a stream's frames.
struct Index {
  std::vector<std::int64_t> stamps;  ///< presentation times, ascending
  std::vector<std::int64_t> keys;    ///< numbers of the key frames, ascending
  bool has_stamps = true;            ///< false: frames can only be counted

  std::optional<std::int64_t> number_of(std::int64_t stamp) const {
    const auto found = std::ranges::lower_bound(stamps, stamp);
    if (!has_stamps || found == stamps.end() || *found != stamp) return std::nullopt;
    return found - stamps.begin();
  }

  /// The last key frame at or before a frame; the first frame where none is known.
  std::int64_t key_before(std::int64_t number) const {
    const auto after = std::ranges::upper_bound(keys, number);
    return !has_stamps || after == keys.begin() ? 0 : *(after - 1);
  }
};

Index make_index(AVFormatContext& container, int stream) {
  Index index;
  std::vector<std::int64_t> key_stamps;
  const auto packet = owned(av_packet_alloc());
  for (; av_read_frame(&container, packet.get()) >= 0; av_packet_unref(packet.get())) {
    if (packet->stream_index != stream || packet->size == 0) continue;
    index.stamps.push_back(stamp_of(*packet));
    if ((packet->flags & AV_PKT_FLAG_KEY) != 0) key_stamps.push_back(index.stamps.back());
  }
  std::ranges::sort(index.stamps);
  index.has_stamps = (index.stamps.empty() || index.stamps.front() != kUnknown) &&
                     std::ranges::adjacent_find(index.stamps) == index.stamps.end();
  for (const std::int64_t stamp : key_stamps)
    if (const auto number = index.number_of(stamp)) index.keys.push_back(*number);
  std::ranges::sort(index.keys);
  return index;
}

double rate_of(AVFormatContext& container, AVStream& stream) {
  const double rate = av_q2d(av_guess_frame_rate(&container, &stream, nullptr));
  return rate > 0 && rate <= 1000 ? rate : 25.0;  // FFmpeg's default if unspecified
}

std::int64_t expected_frames(const AVFormatContext& container, const AVStream& stream,
                             double rate) {
  if (stream.nb_frames > 0) return stream.nb_frames;
  if (container.duration_estimation_method != AVFMT_DURATION_FROM_STREAM || container.duration <= 0)
    return 0;
  return std::llround(static_cast<double>(container.duration) / AV_TIME_BASE * rate);
}

}  // namespace

struct VideoReader::State {
  std::filesystem::path file;
  VideoInformation information;
  Index index;
  std::int64_t undecodable = 0;

  explicit State(const std::filesystem::path& path) : file(path) {
    start();
    AVStream& of = *container->streams[stream];
    index = make_index(*container, stream);
    const auto frames = static_cast<std::int64_t>(index.stamps.size());
    if (frames == 0) throw VideoError("has no frames");
    const double rate = rate_of(*container, of);
    information = {of.codecpar->width, of.codecpar->height, rate, frames,
                   std::max(frames, expected_frames(*container, of, rate))};
    start();
    frame(0);
    undecodable = 0;
  }

  DecodedImage frame(std::int64_t number) {
    if (number < shown.number || index.key_before(number) > decoded_number + 1) seek(number);
    while (ahead || decode_next()) {
      if (ahead->number > number) break;
      shown = *std::exchange(ahead, std::nullopt);
    }
    if (shown.number != number) ++undecodable;
    if (shown.image.samples) return shown.image;
    if (!ahead) throw VideoError("has no frame that can be decoded");
    return ahead->image;
  }

 private:
  struct Frame {
    std::int64_t number = -1;
    DecodedImage image;
  };

  Owner<AVFormatContext> container;
  Owner<AVCodecContext> decoder;
  Owner<AVPacket> packet = owned(av_packet_alloc());
  Owner<AVFrame> decoded = owned(av_frame_alloc());
  libav::ImageMaker make_image;
  int stream = 0;
  bool all_sent = false;
  std::int64_t decoded_number = -1;  ///< of the last frame decoded
  Frame shown;                       ///< the latest frame at or before the one requested
  std::optional<Frame> ahead;        ///< decoded, but not due yet

  /// Starts at the first frame.
  void start() {
    container = open_container(file);
    stream = av_find_best_stream(container.get(), AVMEDIA_TYPE_VIDEO, -1, -1, nullptr, 0);
    if (stream < 0) throw VideoError("has no video stream");
    const AVCodecParameters& parameters = *container->streams[stream]->codecpar;
    decoder = libav::open_decoder(parameters.codec_id, &parameters, 0);
    decoder->pkt_timebase = container->streams[stream]->time_base;
    forget();
  }

  void forget() {
    all_sent = false;
    decoded_number = -1;
    shown = {};
    ahead.reset();
  }

  /// Seeks to the last key frame at or before a frame, or restarts where the container cannot seek.
  void seek(std::int64_t number) {
    const std::int64_t key = index.key_before(number);
    if (key > 0 &&
        av_seek_frame(container.get(), stream, index.stamps[key], AVSEEK_FLAG_BACKWARD) >= 0) {
      avcodec_flush_buffers(decoder.get());
      forget();
      decoded_number = number;  // a first frame without a known time counts as too late
      if (decode_next() && ahead->number <= number) return;
    }
    start();
  }

  /// Decodes the next decodable frame; false at the end.
  bool decode_next() {
    while (true) {
      const int code = avcodec_receive_frame(decoder.get(), decoded.get());
      if (code >= 0) {
        const auto number = index.number_of(decoded->best_effort_timestamp);
        decoded_number = number.value_or(decoded_number + 1);
        ahead = {decoded_number, make_image(*decoded)};
        return true;
      }
      if (code == AVERROR_EOF || (code == AVERROR(EAGAIN) && all_sent)) return false;
      if (code == AVERROR(EAGAIN)) send_packet();
    }
  }

  void send_packet() {
    while (true) {
      if (av_read_frame(container.get(), packet.get()) < 0) {
        all_sent = true;
        avcodec_send_packet(decoder.get(), nullptr);
        return;
      }
      const bool ours = packet->stream_index == stream;
      if (ours) avcodec_send_packet(decoder.get(), packet.get());  // damaged ones give no frame
      av_packet_unref(packet.get());
      if (ours) return;
    }
  }
};

VideoReader::VideoReader(const std::filesystem::path& file)
    : state_(std::make_unique<State>(file)) {}

VideoReader::~VideoReader() = default;

const VideoInformation& VideoReader::information() const { return state_->information; }

DecodedImage VideoReader::frame(std::int64_t number) { return state_->frame(number); }

std::int64_t VideoReader::undecodable() const { return state_->undecodable; }

}  // namespace doetune::workloads
