#include "tests/workloads/made_video.h"

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
}

#include <cstring>
#include <stdexcept>

namespace doetune::tests {
namespace {

void check(int code) {
  if (code < 0) throw std::runtime_error("cannot make a video for the test");
}

void set_grey(AVFrame& frame, int level) {
  check(av_frame_make_writable(&frame));
  std::memset(frame.data[0], level, static_cast<std::size_t>(frame.linesize[0]) * frame.height);
  for (const int plane : {1, 2})
    std::memset(frame.data[plane], 128,
                static_cast<std::size_t>(frame.linesize[plane]) * frame.height / 2);
}

}  // namespace

void make_video(const std::filesystem::path& file, const MadeVideo& video) {
  AVFormatContext* container = nullptr;
  check(avformat_alloc_output_context2(&container, nullptr, nullptr, file.c_str()));
  const AVCodec* codec = avcodec_find_encoder_by_name(video.codec.c_str());
  AVCodecContext* encoder = avcodec_alloc_context3(codec);
  const AVPixelFormat format = video.codec == "mjpeg" ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
  encoder->width = video.width;
  encoder->height = video.height;
  encoder->pix_fmt = format;
  encoder->time_base = {1, video.frames_per_second};
  encoder->framerate = {video.frames_per_second, 1};
  encoder->gop_size = video.between_keys;
  encoder->max_b_frames = video.b_frames;
  encoder->flags |= AV_CODEC_FLAG_QSCALE;
  encoder->global_quality = 2 * FF_QP2LAMBDA;
  if ((container->oformat->flags & AVFMT_GLOBALHEADER) != 0)
    encoder->flags |= AV_CODEC_FLAG_GLOBAL_HEADER;
  check(avcodec_open2(encoder, codec, nullptr));
  AVStream* stream = avformat_new_stream(container, nullptr);
  stream->time_base = encoder->time_base;
  stream->avg_frame_rate = encoder->framerate;
  check(avcodec_parameters_from_context(stream->codecpar, encoder));
  check(avio_open(&container->pb, file.c_str(), AVIO_FLAG_WRITE));
  check(avformat_write_header(container, nullptr));
  AVFrame* frame = av_frame_alloc();
  frame->format = format;
  frame->width = video.width;
  frame->height = video.height;
  check(av_frame_get_buffer(frame, 0));
  AVPacket* packet = av_packet_alloc();
  for (int i = 0; i <= video.frames; ++i) {
    frame->pts = i;
    frame->quality = encoder->global_quality;
    if (i < video.frames) set_grey(*frame, grey_of(i));
    check(avcodec_send_frame(encoder, i < video.frames ? frame : nullptr));
    while (avcodec_receive_packet(encoder, packet) >= 0) {
      av_packet_rescale_ts(packet, encoder->time_base, stream->time_base);
      check(av_interleaved_write_frame(container, packet));
    }
  }
  check(av_write_trailer(container));
  av_packet_free(&packet);
  av_frame_free(&frame);
  avcodec_free_context(&encoder);
  avio_closep(&container->pb);
  avformat_free_context(container);
}

}  // namespace doetune::tests
