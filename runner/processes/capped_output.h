// A program's output on disk, however much it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// Writes the first bytes of a stream to a file as they come, and keeps the last ones in memory
/// until the end: a file of at most head + tail bytes, with a line between them that says how many
/// were left out. A full disk loses output, never the attempt; problem() tells of it.
class CappedOutput {
 public:
  static constexpr std::size_t kHeadBytes = 8 << 20;
  static constexpr std::size_t kTailBytes = 1 << 20;

  explicit CappedOutput(const std::filesystem::path& file, std::size_t head_bytes = kHeadBytes,
                        std::size_t tail_bytes = kTailBytes);

  void write(std::string_view bytes);
  void finish();

  /// Why some of it is not in the file; empty where all is there.
  const std::string& problem() const { return problem_; }

 private:
  void write_to_file(std::string_view bytes);

  FileDescriptor file_;
  std::size_t head_left_;
  std::size_t tail_bytes_;
  std::string tail_;            ///< the last bytes after the head, up to twice tail_bytes_
  std::uint64_t left_out_ = 0;  ///< bytes dropped from the front of tail_
  std::string problem_;
};

}  // namespace doetune::runner
