// The all-reduce of a ring: each rank sends to the next and receives from the one before.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// What goes before each frame, so that ranks out of step are noticed.
struct FrameHeader {
  std::uint32_t number = 0;  // of the frames so far
  std::uint32_t bytes = 0;
  bool operator==(const FrameHeader&) const = default;
};

/// A header and its bytes, in part sent or received.
class Frame {
 public:
  Frame(std::uint32_t number, std::span<std::byte> payload)
      : header_{number, static_cast<std::uint32_t>(payload.size())}, payload_(payload) {}

  bool done() const { return moved_ == sizeof header_ + payload_.size(); }

  /// What is left of the part under way.
  std::span<std::byte> rest();
  /// What is left of both.
  std::array<iovec, 2> parts();
  void advance(std::size_t bytes) { moved_ += bytes; }

  /// Whether the header, as received, is that of the frame expected.
  bool fits(const FrameHeader& expected) const {
    return moved_ < sizeof header_ || header_ == expected;
  }
  const FrameHeader& header() const { return header_; }

 private:
  FrameHeader header_;
  std::span<std::byte> payload_;
  std::size_t moved_ = 0;
};

/// A rank's connections to the next rank and from the one before it.
class RingLink {
 public:
  explicit RingLink(const Group& group) : group_(group) {}
  virtual ~RingLink() = default;

  /// Sends a frame and receives one of in.size() bytes, both at once. Throws what Group::check
  /// does, or std::runtime_error where the rank before sends a frame other than expected.
  void exchange(std::span<const std::byte> out, std::span<std::byte> in);

 protected:
  virtual void move(Frame& out, Frame& in, const FrameHeader& expected) = 0;
  void check(const Frame& in, const FrameHeader& expected) const;
  int next() const { return (group_.rank() + 1) % group_.size(); }
  int previous() const { return (group_.rank() + group_.size() - 1) % group_.size(); }

  const Group& group_;

 private:
  std::uint32_t number_ = 0;
};

/// A ring; sums are made by a thread of its own.
///
/// The values are cut into one chunk a rank. In n - 1 steps each chunk goes once round, every rank
/// adding its own values, so that each rank has the sum of one chunk; in n - 1 more the sums go
/// round. Each rank sends 2 (n - 1) / n of the bytes. Source: Patarasuk & Yuan (2009), J. Parallel
/// Distrib. Comput. 69, 117.
std::unique_ptr<Communicator> make_ring(Group& group, std::unique_ptr<RingLink> link,
                                        std::string_view name);

/// The two kinds of link. All ranks call it at the same time.
std::unique_ptr<RingLink> shared_memory_link(Group& group);
std::unique_ptr<RingLink> tcp_link(Group& group);

}  // namespace doetune::workloads
