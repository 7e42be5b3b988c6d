// A number that tells bytes apart which nobody made to be alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace doetune::workloads {

/// Fowler-Noll-Vo hash, variant 1a, 64 bits: hash = (hash ^ byte) 0x100000001B3 for each byte.
inline std::uint64_t fnv1a(std::span<const std::byte> bytes) {
  std::uint64_t hash = 0xCBF29CE484222325ULL;
  for (const std::byte byte : bytes)
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001B3ULL;
  return hash;
}

inline std::uint64_t fnv1a(std::string_view text) {
  return fnv1a(std::as_bytes(std::span(text)));
}

}  // namespace doetune::workloads
