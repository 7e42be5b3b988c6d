#include "workloads/video/video.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <new>
#include <string>

#include "workloads/video/gpu_decoding.h"
#include "workloads/video/libav.h"

extern "C" {
#include <libavutil/dict.h>
}

namespace doetune::workloads {
namespace {

constexpr int kQuality = 5;  // libavcodec's quantiser scale, 2 (best) to 31

/// The encoder settings by codec: fast, without delay (no frame waits for a later one), and at a
/// quality without visible blocks and with part of the noise removed.
struct CodecType {
  VideoCodec codec;
  std::string_view name;
  AVCodecID id;
  const char* encoder;
  const char* options;
};

constexpr std::array<CodecType, 5> kCodecs{{
    {VideoCodec::mjpeg, "mjpeg", AV_CODEC_ID_MJPEG, "mjpeg", ""},
    {VideoCodec::mpeg4, "mpeg4", AV_CODEC_ID_MPEG4, "mpeg4", ""},
    {VideoCodec::h264, "h264", AV_CODEC_ID_H264, "libx264",
     "preset=veryfast,tune=zerolatency,crf=26"},
    {VideoCodec::vp9, "vp9", AV_CODEC_ID_VP9, "libvpx-vp9",
     "deadline=realtime,cpu-used=8,lag-in-frames=0,crf=36,b=0"},
    {VideoCodec::av1, "av1", AV_CODEC_ID_AV1, "libaom-av1",
     "usage=realtime,cpu-used=8,lag-in-frames=0,crf=36,b=0"},
}};

const CodecType& type_of(VideoCodec codec) { return kCodecs[static_cast<std::size_t>(codec)]; }

/// Translates a lack of memory into std::bad_alloc: no input is at fault here.
void check(int code, const char* what) {
  if (code == AVERROR(ENOMEM)) throw std::bad_alloc();
  libav::check(code, what);
}

/// The libavcodec objects of an encoder or decoder.
struct Codec {
  libav::Owner<AVCodecContext> context;
  libav::Owner<AVFrame> frame = libav::owned(av_frame_alloc());
  libav::Owner<AVPacket> packet = libav::owned(av_packet_alloc());

  Codec(const AVCodec* codec, std::string_view name) {
    if (codec == nullptr) throw VideoError("this libavcodec lacks " + std::string(name));
    context = libav::owned(avcodec_alloc_context3(codec));
    av_log_set_level(AV_LOG_QUIET);  // errors are returned as codes
    context->thread_count = 1;
  }
};

/// Scales one plane to `levels` + 1 values around a fixed point, for video range.
void to_video_range(const std::uint8_t* plane, int stride, int width, int height, int levels,
                    std::vector<std::uint8_t>& out) {
  std::array<std::uint8_t, 256> table;
  for (int value = 0; value < 256; ++value)
    table[value] = static_cast<std::uint8_t>(16 + (value * levels + 127) / 255);
  out.resize(static_cast<std::size_t>(width) * height);
  for (int y = 0; y < height; ++y)
    std::transform(plane + static_cast<std::ptrdiff_t>(stride) * y,
                   plane + static_cast<std::ptrdiff_t>(stride) * y + width,
                   out.begin() + static_cast<std::ptrdiff_t>(width) * y,
                   [&](std::uint8_t value) { return table[value]; });
}

}  // namespace

std::string_view name_of(VideoCodec codec) { return type_of(codec).name; }

VideoCodec video_codec_named(std::string_view name) {
  for (const CodecType& type : kCodecs)
    if (type.name == name) return type.codec;
  throw std::invalid_argument("there is no video codec '" + std::string(name) + "'");
}

bool each_frame_by_itself(VideoCodec codec) { return codec == VideoCodec::mjpeg; }

std::vector<VideoCodec> available_codecs() {
  std::vector<VideoCodec> codecs;
  for (const CodecType& type : kCodecs)
    if (avcodec_find_encoder_by_name(type.encoder) != nullptr &&
        avcodec_find_decoder(type.id) != nullptr)
      codecs.push_back(type.codec);
  return codecs;
}

struct FrameEncoder::State : Codec {
  explicit State(const CodecType& type)
      : Codec(avcodec_find_encoder_by_name(type.encoder), type.name),
        full_range(type.codec == VideoCodec::mjpeg) {}

  bool full_range;
  bool key_frame = false;
  std::int64_t next_pts = 0;
  std::vector<std::uint8_t> luma, blue, red;  // an image in video range
};

FrameEncoder::FrameEncoder(int width, int height, VideoCodec codec)
    : state_(std::make_unique<State>(type_of(codec))) {
  AVCodecContext& context = *state_->context;
  context.width = width;
  context.height = height;
  context.pix_fmt = state_->full_range ? AV_PIX_FMT_YUVJ420P : AV_PIX_FMT_YUV420P;
  context.time_base = {1, 25};
  context.gop_size = kKeyFrameInterval;
  context.max_b_frames = 0;
  if (codec == VideoCodec::mjpeg || codec == VideoCodec::mpeg4) {
    context.flags |= AV_CODEC_FLAG_QSCALE;
    context.global_quality = FF_QP2LAMBDA * kQuality;
  }
  AVDictionary* options = nullptr;
  av_dict_parse_string(&options, type_of(codec).options, "=", ",", 0);
  const int opened = avcodec_open2(&context, nullptr, &options);
  av_dict_free(&options);
  check(opened, "cannot start the video encoder");
}

FrameEncoder::~FrameEncoder() = default;

bool FrameEncoder::key_frame() const { return state_->key_frame; }

std::vector<std::byte> FrameEncoder::encode(const YcbcrView& image) {
  AVFrame& frame = *state_->frame;
  frame.format = state_->context->pix_fmt;
  frame.width = image.width;
  frame.height = image.height;
  frame.quality = state_->context->global_quality;
  if (state_->full_range || !image.full_range) {
    frame.data[0] = const_cast<std::uint8_t*>(image.luma);  // the encoder only reads it
    frame.data[1] = const_cast<std::uint8_t*>(image.blue);
    frame.data[2] = const_cast<std::uint8_t*>(image.red);
    frame.linesize[0] = image.luma_stride;
    frame.linesize[1] = frame.linesize[2] = image.chroma_stride;
  } else {
    const int width = image.chroma_width;
    to_video_range(image.luma, image.luma_stride, image.width, image.height, 219, state_->luma);
    to_video_range(image.blue, image.chroma_stride, width, image.chroma_height, 224, state_->blue);
    to_video_range(image.red, image.chroma_stride, width, image.chroma_height, 224, state_->red);
    frame.data[0] = state_->luma.data();
    frame.data[1] = state_->blue.data();
    frame.data[2] = state_->red.data();
    frame.linesize[0] = image.width;
    frame.linesize[1] = frame.linesize[2] = width;
  }
  frame.pts = state_->next_pts++;
  check(avcodec_send_frame(state_->context.get(), &frame), "cannot encode a frame");
  AVPacket& packet = *state_->packet;
  check(avcodec_receive_packet(state_->context.get(), &packet), "cannot encode a frame");
  state_->key_frame = (packet.flags & AV_PKT_FLAG_KEY) != 0;
  const auto* data = reinterpret_cast<const std::byte*>(packet.data);
  std::vector<std::byte> bytes(data, data + packet.size);
  av_packet_unref(&packet);
  return bytes;
}

struct FrameDecoder::State : Codec {
  State(const AVCodec* decoder, std::string_view name) : Codec(decoder, name) {}
};

FrameDecoder::FrameDecoder(VideoCodec codec, std::optional<int> gpu) {
  const CodecType& type = type_of(codec);
  const AVCodec* decoder = gpu ? libav::gpu_decoder(type.id) : avcodec_find_decoder(type.id);
  if (gpu && decoder == nullptr)
    throw Infeasible("this libavcodec cannot decode " + std::string(type.name) + " on a GPU");
  state_ = std::make_unique<State>(decoder, type.name);
  AVCodecContext& context = *state_->context;
  context.err_recognition = AV_EF_EXPLODE;
  context.flags |= AV_CODEC_FLAG_LOW_DELAY;  // each packet yields its image at once
  if (gpu) libav::decode_on_gpu(context, *gpu);
  check(avcodec_open2(&context, nullptr, nullptr), "cannot start the video decoder");
}

FrameDecoder::~FrameDecoder() = default;
FrameDecoder::FrameDecoder(FrameDecoder&&) noexcept = default;

YcbcrView FrameDecoder::decode(std::span<const std::byte> bytes) {
  AVPacket& packet = *state_->packet;
  packet.data = reinterpret_cast<std::uint8_t*>(
      const_cast<std::byte*>(bytes.data()));  // libavcodec copies it
  packet.size = static_cast<int>(bytes.size());
  AVCodecContext& context = *state_->context;
  const int sent = avcodec_send_packet(&context, &packet);
  const int code = sent < 0 ? sent : avcodec_receive_frame(&context, state_->frame.get());
  if (code < 0 && libav::gpu_refused(context))
    throw Infeasible("the GPU cannot decode this video: " + libav::reason(code));
  check(code, "cannot decode a frame");
  if (state_->frame->format == AV_PIX_FMT_CUDA) state_->frame = libav::host_image(*state_->frame);
  const AVFrame& frame = *state_->frame;
  if (frame.format != AV_PIX_FMT_YUVJ420P && frame.format != AV_PIX_FMT_YUV420P)
    throw VideoError("the video's chroma is not at half size (4:2:0)");
  YcbcrView view{frame.width,       frame.height,          frame.data[0],
                 frame.data[1],     frame.data[2],         frame.linesize[0],
                 frame.linesize[1], (frame.width + 1) / 2, (frame.height + 1) / 2};
  view.full_range = frame.format == AV_PIX_FMT_YUVJ420P || frame.color_range == AVCOL_RANGE_JPEG;
  return view;
}

std::shared_ptr<const void> FrameDecoder::hold() const {
  AVFrame* held = av_frame_clone(state_->frame.get());
  if (held == nullptr) throw std::bad_alloc();
  return {held, [](AVFrame* frame) { av_frame_free(&frame); }};
}

}  // namespace doetune::workloads
