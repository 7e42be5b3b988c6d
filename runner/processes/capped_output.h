// Stores a program's output in a file of bounded size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// Writes the first bytes of a stream to a file at once, and keeps the last ones in memory until
/// the end. The file has at most head + tail bytes, with a line between them that states how many
/// were omitted. A full disk loses output, but does not end the attempt; see problem().
class CappedOutput {
 public:
  static constexpr std::size_t kHeadBytes = 8 << 20;
  static constexpr std::size_t kTailBytes = 1 << 20;

  explicit CappedOutput(const std::filesystem::path& file, std::size_t head_bytes = kHeadBytes,
                        std::size_t tail_bytes = kTailBytes);

  void write(std::string_view bytes);
  void finish();

  /// Why part of the output is not in the file; empty if it is complete.
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
