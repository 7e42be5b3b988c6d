// A network with random weights and images, and the reference's results for them.
#pragma once

#include <cstdint>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/networks/network.h"

namespace doetune::workloads {

/// A new seed for each run of the tests; DOETUNE_TEST_SEED=N repeats a run.
std::uint64_t test_seed();

/// The first layers of a network, up to and including `last`.
Network cut_after(const Network& network, int last);

class EvaluatedNetwork {
 public:
  EvaluatedNetwork(Network network, int images, std::uint64_t seed);

  const Network& network() const { return network_; }
  const std::vector<float>& weights() const { return weights_; }

  /// The largest difference over all images from the reference after layer `last`, relative to that
  /// layer's largest output. After a ChannelArgMax: by how much the chosen channel's value falls
  /// short of the largest, relative to the largest, since rounding may decide between near ties.
  double difference(Engine& engine, const CompileOptions& options, int last) const;
  double difference(Engine& engine, const CompileOptions& options) const;

 private:
  Network network_;
  int images_;
  std::vector<float> weights_;
  std::vector<float> input_;
  std::vector<std::vector<std::vector<double>>> expected_;  // image, layer, element
};

}  // namespace doetune::workloads
