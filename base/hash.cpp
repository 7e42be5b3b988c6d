#include "base/hash.h"

#include <fmt/format.h>

namespace doetune {

std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3ULL;
  return hash;
}

std::uint64_t fnv1a(std::string_view text) { return fnv1a(std::as_bytes(std::span(text))); }

std::uint32_t fnv1a_32(std::string_view text) {
  std::uint32_t hash = 2166136261U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  return hash;
}

std::string text_hash(std::string_view text) { return fmt::format("{:016x}", fnv1a(text)); }

}  // namespace doetune
