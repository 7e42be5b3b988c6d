#include "workloads/spark/coded_share.h"

#include <array>
#include <cstring>
#include <stdexcept>

namespace doetune::workloads {
namespace {

using ShareHead = std::array<std::int64_t, 3>;   // micro-batch, share, number of frames
using ShareEntry = std::array<std::int64_t, 3>;  // channel, number of the frame, bytes

void append_bytes(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

/// Takes what is at the beginning of the bytes.
std::array<std::int64_t, 3> take(std::span<const std::byte>& bytes) {
  std::array<std::int64_t, 3> numbers;
  if (bytes.size() < sizeof numbers) throw std::invalid_argument("a share ends early");
  std::memcpy(numbers.data(), bytes.data(), sizeof numbers);
  bytes = bytes.subspan(sizeof numbers);
  return numbers;
}

}  // namespace

std::vector<std::byte> to_bytes(const Clip& clip, std::int64_t micro_batch, std::int64_t share,
                                std::span<const StreamFrame> frames) {
  std::vector<std::byte> bytes;
  const ShareHead head{micro_batch, share, static_cast<std::int64_t>(frames.size())};
  append_bytes(bytes, std::as_bytes(std::span(head)));
  for (const StreamFrame& frame : frames) {
    const auto size = static_cast<std::int64_t>(clip.packet(frame.clip_frame).size());
    const ShareEntry entry{frame.channel, frame.source_frame, size};
    append_bytes(bytes, std::as_bytes(std::span(entry)));
  }
  for (const StreamFrame& frame : frames) append_bytes(bytes, clip.packet(frame.clip_frame));
  return bytes;
}

CodedShare share_in(std::span<const std::byte> bytes) {
  const auto [micro_batch, number, count] = take(bytes);
  if (count < 0 || static_cast<std::size_t>(count) > bytes.size() / sizeof(ShareEntry))
    throw std::invalid_argument("a share ends early");
  CodedShare share{micro_batch, number, {}};
  std::vector<std::size_t> sizes;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto [channel, frame, size] = take(bytes);
    share.frames.push_back({channel, frame, {}});
    sizes.push_back(static_cast<std::size_t>(size));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (sizes[i] > bytes.size()) throw std::invalid_argument("a share ends early");
    share.frames[i].packet = bytes.first(sizes[i]);
    bytes = bytes.subspan(sizes[i]);
  }
  return share;
}

}  // namespace doetune::workloads
