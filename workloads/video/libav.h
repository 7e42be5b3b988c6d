// RAII owners of FFmpeg's objects. Internal to this folder: nothing else includes FFmpeg.
#pragma once

extern "C" {
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/error.h>
#include <libavutil/log.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

#include <memory>
#include <string>

#include "workloads/video/decoded_image.h"
#include "workloads/video/video.h"

namespace doetune::workloads::libav {

struct Free {
  void operator()(AVCodecContext* context) const { avcodec_free_context(&context); }
  void operator()(AVFormatContext* context) const { avformat_close_input(&context); }
  void operator()(AVFrame* frame) const { av_frame_free(&frame); }
  void operator()(AVPacket* packet) const { av_packet_free(&packet); }
  void operator()(SwsContext* context) const { sws_freeContext(context); }
};
template <class T>
using Owner = std::unique_ptr<T, Free>;

inline std::string reason(int code) {
  char text[AV_ERROR_MAX_STRING_SIZE] = {};
  av_strerror(code, text, sizeof text);
  return text;
}

/// Throws VideoError for an error code.
inline void check(int code, const std::string& what) {
  if (code < 0) throw VideoError(what + ": " + reason(code));
}

template <class T>
Owner<T> owned(T* made) {
  if (made == nullptr) throw std::bad_alloc();
  return Owner<T>(made);
}

/// A decoder on the calling thread that refuses images larger than kMaxPixels. Throws
/// VideoError.
Owner<AVCodecContext> open_decoder(AVCodecID codec, const AVCodecParameters* parameters,
                                   int error_recognition);

/// Makes images from decoded frames: their own planes if these are 8-bit YCbCr or grey, else
/// converted to planes of full size.
class ImageMaker {
 public:
  /// Takes over the frame's samples. Throws VideoError.
  DecodedImage operator()(AVFrame& frame);

 private:
  Owner<AVFrame> converted(const AVFrame& frame);

  Owner<SwsContext> scaler_;
};

}  // namespace doetune::workloads::libav
