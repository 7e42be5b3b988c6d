// Sums of gradients over ranks that overlap with the backward pass.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/communication/communicator.h"

namespace doetune::workloads {

/// A part of the gradient block, in floats.
struct Bucket {
  std::int64_t begin;
  std::int64_t end;
  bool operator==(const Bucket&) const = default;
};

/// Splits the block from its back, which the backward pass finishes first, to its front: a first
/// bucket of `first` floats, so that sums start early, then buckets of `size`, and the remainder.
/// Each starts at a multiple of 16 bytes, for wide loads, and so may be up to 3 floats longer.
std::vector<Bucket> make_buckets(std::int64_t count, std::int64_t size, std::int64_t first);

/// Floats of the first bucket: 1 MiB, as in PyTorch (Li et al. 2020, Proc. VLDB 13, 3005).
inline constexpr std::int64_t kFirstBucket = (1 << 20) / 4;

class GradientSum {
 public:
  /// `gradients` is the block, at the same address in every step.
  GradientSum(Communicator& communicator, std::span<float> gradients, std::int64_t bucket,
              CommunicationType type);
  /// Waits until no sum in flight uses the block.
  ~GradientSum();
  GradientSum(const GradientSum&) = delete;
  GradientSum& operator=(const GradientSum&) = delete;

  /// Starts a step, in which this rank's gradients are multiplied by `weight`.
  void begin(float weight);
  /// The block is final from `offset` on (TrainableNetwork::GradientsReady).
  void ready(std::int64_t offset);
  /// Call after ready(0). Returns when the whole block holds the weighted sum, with the seconds
  /// spent waiting.
  double wait();

 private:
  Communicator& communicator_;
  std::span<float> gradients_;
  CommunicationType type_;
  std::vector<Bucket> buckets_;
  std::size_t started_ = 0;
  Communicator::Ticket last_ = 0;
  float weight_ = 1;
};

}  // namespace doetune::workloads
