// Ring all-reduce: each rank sends to the next rank and receives from the previous one.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// Precedes each frame, so that ranks that are out of step are detected.
struct FrameHeader {
  std::uint32_t number = 0;  // frames sent before this one
  std::uint32_t bytes = 0;
  bool operator==(const FrameHeader&) const = default;
};

/// A header and its payload, partly transferred.
class Frame {
 public:
  Frame(std::uint32_t number, std::span<std::byte> payload)
      : header_{number, static_cast<std::uint32_t>(payload.size())}, payload_(payload) {}
  /// A frame to send; its payload is only read.
  static Frame of(std::uint32_t number, std::span<const std::byte> payload) {
    return {number, {const_cast<std::byte*>(payload.data()), payload.size()}};
  }
  static Frame finished() {
    Frame frame(0, {});
    frame.advance(sizeof frame.header_);
    return frame;
  }

  bool done() const { return moved_ == sizeof header_ + payload_.size(); }

  /// The untransferred rest of the header, or of the payload once the header is done.
  std::span<std::byte> rest();
  /// The untransferred rests of header and payload.
  std::array<iovec, 2> parts();
  void advance(std::size_t bytes) { moved_ += bytes; }

  /// False if the header has been received and is not the expected one.
  bool fits(const FrameHeader& expected) const {
    return moved_ < sizeof header_ || header_ == expected;
  }
  const FrameHeader& header() const { return header_; }

 private:
  FrameHeader header_;
  std::span<std::byte> payload_;
  std::size_t moved_ = 0;
};

/// A rank's connections to its next and from its previous rank in the ring or, with `step` -1, the
/// other way round. One thread exchanges, or one sends and another receives.
class RingLink {
 public:
  RingLink(const Group& group, int step) : group_(group), step_(step) {}
  virtual ~RingLink() = default;

  /// Sends a frame and receives one of in.size() bytes at the same time. Throws what Group::check
  /// does, or std::runtime_error where the frame received is not the expected one.
  void exchange(std::span<const std::byte> out, std::span<std::byte> in);
  void send(std::span<const std::byte> out);
  void receive(std::span<std::byte> in);

  /// The ranks that this one sends to and receives from.
  int to() const { return neighbour(step_); }
  int from() const { return neighbour(-step_); }

 protected:
  virtual void move(Frame& out, Frame& in, const FrameHeader& expected) = 0;
  void check(const Frame& in, const FrameHeader& expected) const;

  const Group& group_;

 private:
  int neighbour(int step) const { return (group_.rank() + step + group_.size()) % group_.size(); }

  int step_;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
};

/// A link for sums, and one each for messages to the rank above and to the rank below.
struct RingLinks {
  std::unique_ptr<RingLink> sums;
  std::unique_ptr<RingLink> up;
  std::unique_ptr<RingLink> down;
};

/// A ring communicator, which forms sums on a thread of its own.
///
/// The values are cut into one chunk per rank. In n - 1 steps each chunk passes round the ring,
/// every rank adding its own values, until each rank has the sum of one chunk; in n - 1 more steps
/// the sums pass round. Each rank sends 2 (n - 1) / n of the bytes. Source: Patarasuk & Yuan
/// (2009), J. Parallel Distrib. Comput. 69, 117.
std::unique_ptr<Communicator> make_ring(Group& group, RingLinks links, std::string_view name);

/// The two kinds of link. All ranks call these at the same time.
RingLinks shared_memory_links(Group& group);
RingLinks tcp_links(Group& group);

}  // namespace doetune::workloads
