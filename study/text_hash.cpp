#include "study/text_hash.h"

#include <fmt/format.h>

#include <cstdint>

namespace doetune::study {

std::string text_hash(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3ULL;
  return fmt::format("{:016x}", hash);
}

}  // namespace doetune::study
