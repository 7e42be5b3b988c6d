#include "workloads/video/video.h"

#include <string>

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
}

namespace doetune::workloads {
namespace {

constexpr int kQuality = 5;  // libavcodec's quantiser scale, 2 (best) to 31

void check(int code, const char* what) {
  if (code >= 0) return;
  char reason[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, reason, sizeof reason);
  throw VideoError(std::string(what) + ": " + reason);
}

struct FreeContext {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
};
struct FreeFrame {
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
};
struct FreePacket {
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
};

/// What coding in either direction needs.
struct Codec {
  std::unique_ptr<AVCodecContext, FreeContext> context;
  std::unique_ptr<AVFrame, FreeFrame> frame{av_frame_alloc()};
  std::unique_ptr<AVPacket, FreePacket> packet{av_packet_alloc()};

  explicit Codec(const AVCodec* codec) {
    if (codec == nullptr) throw VideoError("this libavcodec has no Motion JPEG");
    context.reset(avcodec_alloc_context3(codec));
    if (!context || !frame || !packet) throw std::bad_alloc();
    av_log_set_level(AV_LOG_QUIET);  // errors come back as codes
    context->thread_count = 1;
  }
};

}  // namespace

struct FrameEncoder::State : Codec {
  State() : Codec(avcodec_find_encoder(AV_CODEC_ID_MJPEG)) {}
};

FrameEncoder::FrameEncoder(int width, int height) : state_(std::make_unique<State>()) {
  AVCodecContext& context = *state_->context;
  context.width = width;
  context.height = height;
  context.pix_fmt = AV_PIX_FMT_YUVJ420P;
  context.time_base = {1, 25};
  context.flags |= AV_CODEC_FLAG_QSCALE;
  context.global_quality = FF_QP2LAMBDA * kQuality;
  check(avcodec_open2(&context, nullptr, nullptr), "cannot start the video encoder");
}

FrameEncoder::~FrameEncoder() = default;

std::vector<std::byte> FrameEncoder::encode(const PictureView& picture) {
  AVFrame& frame = *state_->frame;
  frame.format = AV_PIX_FMT_YUVJ420P;
  frame.width = picture.width;
  frame.height = picture.height;
  frame.quality = state_->context->global_quality;
  frame.data[0] = const_cast<std::uint8_t*>(picture.luma);  // the encoder only reads
  frame.data[1] = const_cast<std::uint8_t*>(picture.blue);
  frame.data[2] = const_cast<std::uint8_t*>(picture.red);
  frame.linesize[0] = picture.luma_stride;
  frame.linesize[1] = frame.linesize[2] = picture.chroma_stride;
  ++frame.pts;
  check(avcodec_send_frame(state_->context.get(), &frame), "cannot code a frame");
  AVPacket& packet = *state_->packet;
  check(avcodec_receive_packet(state_->context.get(), &packet), "cannot code a frame");
  const auto* data = reinterpret_cast<const std::byte*>(packet.data);
  std::vector<std::byte> bytes(data, data + packet.size);
  av_packet_unref(&packet);
  return bytes;
}

struct FrameDecoder::State : Codec {
  State() : Codec(avcodec_find_decoder(AV_CODEC_ID_MJPEG)) {}
};

FrameDecoder::FrameDecoder() : state_(std::make_unique<State>()) {
  state_->context->err_recognition = AV_EF_EXPLODE;
  check(avcodec_open2(state_->context.get(), nullptr, nullptr), "cannot start the video decoder");
}

FrameDecoder::~FrameDecoder() = default;

PictureView FrameDecoder::decode(std::span<const std::byte> bytes) {
  AVPacket& packet = *state_->packet;
  packet.data = reinterpret_cast<std::uint8_t*>(
      const_cast<std::byte*>(bytes.data()));  // copied by libavcodec
  packet.size = static_cast<int>(bytes.size());
  check(avcodec_send_packet(state_->context.get(), &packet), "cannot decode a frame");
  AVFrame& frame = *state_->frame;
  check(avcodec_receive_frame(state_->context.get(), &frame), "cannot decode a frame");
  if (frame.format != AV_PIX_FMT_YUVJ420P && frame.format != AV_PIX_FMT_YUV420P)
    throw VideoError("the video's chroma is not at half size (4:2:0)");
  return {frame.width,       frame.height,          frame.data[0],
          frame.data[1],     frame.data[2],         frame.linesize[0],
          frame.linesize[1], (frame.width + 1) / 2, (frame.height + 1) / 2};
}

}  // namespace doetune::workloads
