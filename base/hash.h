// Non-cryptographic hashes for short names of texts and for file checksums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace doetune {

/// Fowler-Noll-Vo hash, variant 1a, 64 bits: hash = (hash ^ byte) 0x100000001B3 for each byte.
/// Source: draft-eastlake-fnv.
std::uint64_t fnv1a(std::span<const std::byte> bytes);
std::uint64_t fnv1a(std::string_view text);

/// The 32-bit variant, for where 64 bits do not fit.
std::uint32_t fnv1a_32(std::string_view text);

/// fnv1a as 16 hexadecimal digits.
std::string text_hash(std::string_view text);

}  // namespace doetune
