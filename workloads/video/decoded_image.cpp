#include "workloads/video/decoded_image.h"

#include "workloads/video/libav.h"

namespace doetune::workloads::libav {
namespace {

constexpr std::uint8_t kNeutral = 128;  // chroma of a grey image

/// Whether the frame's planes are luma and, unless it is grey, Cb and Cr, all of 8 bits.
bool has_planes(const AVPixFmtDescriptor& format) {
  constexpr std::uint64_t kNotPlanes = AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL |
                                       AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_HWACCEL;
  if ((format.flags & kNotPlanes) != 0 || format.comp[0].depth != 8) return false;
  if (format.nb_components == 1) return true;
  return format.nb_components >= 3 && (format.flags & AV_PIX_FMT_FLAG_PLANAR) != 0 &&
         format.comp[1].plane == 1 && format.comp[2].plane == 2;
}

/// Grey images are full range unless marked otherwise; video is not unless marked so.
bool is_full_range(const AVFrame& frame, const AVPixFmtDescriptor& format) {
  if (frame.color_range != AVCOL_RANGE_UNSPECIFIED) return frame.color_range == AVCOL_RANGE_JPEG;
  return format.nb_components == 1 || std::string_view(format.name).starts_with("yuvj");
}

YcbcrView view_of(const AVFrame& frame) {
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  YcbcrView view{frame.width,
                 frame.height,
                 frame.data[0],
                 &kNeutral,
                 &kNeutral,
                 frame.linesize[0],
                 0,
                 1,
                 1,
                 is_full_range(frame, format)};
  if (format.nb_components == 1) return view;
  view.blue = frame.data[1];
  view.red = frame.data[2];
  view.chroma_stride = frame.linesize[1];
  view.chroma_width = AV_CEIL_RSHIFT(frame.width, format.log2_chroma_w);
  view.chroma_height = AV_CEIL_RSHIFT(frame.height, format.log2_chroma_h);
  return view;
}

}  // namespace

Owner<AVCodecContext> open_decoder(AVCodecID codec, const AVCodecParameters* parameters,
                                   int error_recognition) {
  av_log_set_level(AV_LOG_QUIET);  // errors are returned as codes
  const AVCodec* decoder = avcodec_find_decoder(codec);
  if (decoder == nullptr)
    throw VideoError(std::string("this libavcodec cannot decode ") + avcodec_get_name(codec));
  auto context = owned(avcodec_alloc_context3(decoder));
  if (parameters != nullptr)
    check(avcodec_parameters_to_context(context.get(), parameters), "cannot set up the decoder");
  context->thread_count = 1;
  context->max_pixels = kMaxPixels;
  context->err_recognition = error_recognition;
  check(avcodec_open2(context.get(), nullptr, nullptr), "cannot start the decoder");
  return context;
}

DecodedImage ImageMaker::operator()(AVFrame& frame) {
  const AVPixFmtDescriptor* format = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (format == nullptr || frame.width < 1 || frame.height < 1 || frame.data[0] == nullptr)
    throw VideoError("it contains no image");
  Owner<AVFrame> kept;
  if (has_planes(*format)) {
    kept = owned(av_frame_alloc());
    av_frame_move_ref(kept.get(), &frame);
  } else {
    kept = converted(frame);
  }
  const YcbcrView view = view_of(*kept);
  return {view, std::shared_ptr<const void>(std::move(kept))};
}

Owner<AVFrame> ImageMaker::converted(const AVFrame& frame) {
  const auto from = static_cast<AVPixelFormat>(frame.format);
  const AVPixFmtDescriptor& format = *av_pix_fmt_desc_get(from);
  const bool is_rgb = (format.flags & (AV_PIX_FMT_FLAG_RGB | AV_PIX_FMT_FLAG_PAL)) != 0;
  const bool full_range = is_rgb || is_full_range(frame, format);
  auto to = owned(av_frame_alloc());
  to->format = AV_PIX_FMT_YUV444P;
  to->width = frame.width;
  to->height = frame.height;
  to->color_range = full_range ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG;
  check(av_frame_get_buffer(to.get(), 0), "cannot convert the image");
  scaler_.reset(sws_getCachedContext(scaler_.release(), frame.width, frame.height, from, to->width,
                                     to->height, AV_PIX_FMT_YUV444P, SWS_POINT | SWS_ACCURATE_RND,
                                     nullptr, nullptr, nullptr));
  if (!scaler_) throw VideoError("this libswscale cannot convert the image's colours");
  const int* bt_601 = sws_getCoefficients(SWS_CS_ITU601);
  sws_setColorspaceDetails(scaler_.get(), bt_601, full_range, bt_601, full_range, 0, 1 << 16,
                           1 << 16);
  check(
      sws_scale(scaler_.get(), frame.data, frame.linesize, 0, frame.height, to->data, to->linesize),
      "cannot convert the image");
  return to;
}

}  // namespace doetune::workloads::libav
