#include "workloads/video/image_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include "workloads/video/libav.h"

namespace doetune::workloads {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 8> kEndings{".jpg", ".jpeg", ".png", ".bmp",
                                                   ".ppm", ".pgm",  ".pnm", ".webp"};

bool is_image_name(const fs::path& file) {
  std::string ending = file.extension().string();
  std::ranges::transform(ending, ending.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kEndings, ending) != kEndings.end();
}

/// The first bytes of a file format.
struct Signature {
  std::string_view begin;
  AVCodecID codec;
};

constexpr std::array<Signature, 7> kSignatures{{{"\xFF\xD8\xFF", AV_CODEC_ID_MJPEG},
                                                {"\x89PNG", AV_CODEC_ID_PNG},
                                                {"BM", AV_CODEC_ID_BMP},
                                                {"P6", AV_CODEC_ID_PPM},
                                                {"P5", AV_CODEC_ID_PGM},
                                                {"P4", AV_CODEC_ID_PBM},
                                                {"RIFF", AV_CODEC_ID_WEBP}}};

AVCodecID codec_of(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  for (const Signature& signature : kSignatures)
    if (text.starts_with(signature.begin)) return signature.codec;
  throw VideoError(file.empty() ? "it is empty"
                                : "it is not a JPEG, PNG, BMP, PPM, PGM or WebP image");
}

}  // namespace

std::vector<fs::path> images_in(const fs::path& directory) {
  std::vector<fs::path> images;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(directory))
    if (is_image_name(entry.path()) && entry.is_regular_file()) images.push_back(entry.path());
  std::ranges::sort(images, {}, &fs::path::native);
  return images;
}

std::vector<std::byte> read_file(const fs::path& file) {
  std::ifstream in(file, std::ios::binary | std::ios::ate);
  const std::streamoff size = in ? static_cast<std::streamoff>(in.tellg()) : -1;
  if (size < 0) throw VideoError(std::string("cannot be read: ") + std::strerror(errno));
  if (static_cast<std::uintmax_t>(size) > kMaxFileBytes)
    throw VideoError(
        fmt::format("its {} bytes exceed the limit of {} for an image", size, kMaxFileBytes));
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  in.seekg(0);
  if (!in.read(reinterpret_cast<char*>(bytes.data()), size)) throw VideoError("cannot be read");
  return bytes;
}

struct ImageDecoder::State {
  std::map<AVCodecID, libav::Owner<AVCodecContext>> decoders;
  libav::Owner<AVFrame> frame = libav::owned(av_frame_alloc());
  libav::Owner<AVPacket> packet = libav::owned(av_packet_alloc());
  libav::ImageMaker make_image;

  AVCodecContext& decoder(AVCodecID codec) {
    auto& decoder = decoders[codec];
    if (!decoder) decoder = libav::open_decoder(codec, nullptr, AV_EF_EXPLODE | AV_EF_CRCCHECK);
    return *decoder;
  }
};

ImageDecoder::ImageDecoder() : state_(std::make_unique<State>()) {}

ImageDecoder::~ImageDecoder() = default;

DecodedImage ImageDecoder::decode(std::span<const std::byte> file) {
  AVCodecContext& decoder = state_->decoder(codec_of(file));
  AVPacket& packet = *state_->packet;
  packet.data =
      reinterpret_cast<std::uint8_t*>(const_cast<std::byte*>(file.data()));  // libavcodec copies it
  packet.size = static_cast<int>(file.size());
  AVFrame& frame = *state_->frame;
  int code = avcodec_send_packet(&decoder, &packet);
  if (code >= 0) code = avcodec_receive_frame(&decoder, &frame);
  if (code < 0) {
    avcodec_flush_buffers(&decoder);
    libav::check(code == AVERROR(EAGAIN) ? AVERROR_INVALIDDATA : code, "cannot be decoded");
  }
  if (frame.decode_error_flags != 0 || (frame.flags & AV_FRAME_FLAG_CORRUPT) != 0)
    throw VideoError("cannot be decoded: damaged");
  return state_->make_image(frame);
}

}  // namespace doetune::workloads
