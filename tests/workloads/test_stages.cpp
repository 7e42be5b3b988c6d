// Possible cuts of a network, and the balance of stages.
#include <catch2/catch.hpp>

#include <algorithm>
#include <numeric>

#include "workloads/networks/parameters.h"
#include "workloads/networks/stages.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// Layers 0: stem, 1 and 2: a block's convolutions, 3: its sum, 4: pool, 5: dense.
Network residual() {
  NetworkBuilder net("residual", {3, 8, 8});
  const Convolution conv{4, {3, 3}, 1, {1, 1}, Activation::linear, false};
  net.conv(conv);
  net.conv(conv).conv(conv).sum(0, 2).global_average_pool();
  return net.dense(5, Activation::linear).build(ClassificationHead{5});
}

std::int64_t largest(const std::vector<NetworkStage>& stages) {
  std::int64_t heaviest = 0;
  for (const NetworkStage& stage : stages)
    heaviest = std::max(heaviest, multiply_accumulates(stage.network));
  return heaviest;
}

}  // namespace

TEST_CASE("a network is cut only where one result crosses", "[stages]") {
  CHECK(cuts(residual()) == std::vector<int>{0, 3, 4});  // not in the block: its shortcut crosses
  NetworkBuilder net("twice the image", {3, 4, 4});
  const Convolution conv{3, {3, 3}, 1, {1, 1}, Activation::linear, false};
  net.conv(conv).conv(conv).sum(kNetworkInput, 1).dense(2, Activation::linear);
  CHECK(cuts(net.build(ClassificationHead{2})) == std::vector<int>{2});
}

TEST_CASE("stages are the network's layers, parameters and work, in order", "[stages]") {
  for (const char* name : {"small-cnn", "resnet-20", "alexnet", "inception-v3"}) {
    const Network network = make_network(name, network_type(name).default_height);
    for (const int count : {1, 2, 4}) {
      CAPTURE(name, count);
      const auto stages = network_stages(network, count);
      REQUIRE(std::ssize(stages) == count);
      std::int64_t parameter = 0, statistic = 0, work = 0;
      for (const NetworkStage& stage : stages) {
        CHECK(stage.first_parameter == parameter);
        CHECK(stage.first_statistic == statistic);
        CHECK(multiply_accumulates(stage.network) > 0);
        parameter += parameters(stage.network);
        statistic += statistics_count(stage.network);
        work += multiply_accumulates(stage.network);
        const bool ends = &stage == &stages.back();
        CHECK(std::holds_alternative<NoHead>(stage.network.head) == !ends);
        if (!ends) CHECK((&stage)[1].network.input == stage.network.output());
      }
      CHECK(parameter == parameters(network));
      CHECK(statistic == statistics_count(network));
      CHECK(work == multiply_accumulates(network));
    }
  }
}

TEST_CASE("no other cuts give a smaller largest stage", "[stages]") {
  const Network network = make_network("resnet-20", 32);
  const auto where = cuts(network);
  const auto work_up_to = [&](int cut) {
    Network front = network;
    front.layers.resize(static_cast<std::size_t>(cut) + 1);
    return multiply_accumulates(front);
  };
  const std::int64_t all = multiply_accumulates(network);
  std::int64_t best_of_two = all, best_of_three = all;
  for (const int a : where) {
    best_of_two = std::min(best_of_two, std::max(work_up_to(a), all - work_up_to(a)));
    for (const int b : where)
      if (b > a)
        best_of_three =
            std::min(best_of_three,
                     std::max({work_up_to(a), work_up_to(b) - work_up_to(a), all - work_up_to(b)}));
  }
  CHECK(largest(network_stages(network, 2)) == best_of_two);
  CHECK(largest(network_stages(network, 3)) == best_of_three);
}

TEST_CASE("of cuts that share the work alike, the one that sends least is taken", "[stages]") {
  const auto stages = network_stages(residual(), 3);  // the pool's result is sent, not the sum's
  CHECK(stages[1].network.output() == Shape{4, 1, 1});
}

TEST_CASE("more stages than cuts allow are refused with what there can be", "[stages]") {
  CHECK_THROWS_WITH(network_stages(residual(), 4), "residual has 3 stages at most, not 4");
}
