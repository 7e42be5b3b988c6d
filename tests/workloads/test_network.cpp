#include <catch2/catch.hpp>

#include <set>

#include "workloads/network.h"

using namespace doetune::workloads;

namespace {

double giga_macs(const char* name, int size) {
  return static_cast<double>(multiply_accumulates(make_network(name, size))) / 1e9;
}

}  // namespace

TEST_CASE("tiny-yolov2 has its published size", "[network]") {
  const Network net = make_network("tiny-yolov2", 416);
  CHECK(net.output() == Shape{125, 13, 13});
  // Summed by hand from the Darknet configuration: 15,855,536 weights, 2 x 3,056 batch-norm
  // numbers, 125 biases.
  CHECK(parameters(net) == 15'861'773);
  CHECK(giga_macs("tiny-yolov2", 416) == Approx(3.486).margin(0.0005));
}

TEST_CASE("yolov2 has its published size", "[network]") {
  CHECK(make_network("yolov2", 416).output() == Shape{425, 13, 13});
  CHECK(static_cast<double>(parameters(make_network("yolov2", 416))) / 1e6 ==
        Approx(50.96).margin(0.005));
  CHECK(giga_macs("yolov2", 416) == Approx(14.73).margin(0.005));
  CHECK(giga_macs("yolov2", 608) == Approx(31.47).margin(0.005));
}

TEST_CASE("every network builds at every 32 pixels and ends in its detection head", "[network]") {
  for (const NetworkType& type : network_types())
    for (const int size : {32, 96, 416, 608}) {
      const Network net = make_network(type.name, size);
      CHECK(net.name == type.name);
      CHECK(net.output().height == size / 32);
      CHECK(net.output().width == size / 32);
      CHECK(net.output().channels ==
            static_cast<int>(net.head.anchors.size()) * (5 + net.head.classes));
    }
}

TEST_CASE("a network is refused by name or size with the reason", "[network]") {
  CHECK_THROWS_WITH(make_network("yolov9", 416), Catch::Contains("yolov9"));
  CHECK_THROWS_WITH(make_network("yolov2", 400), Catch::Contains("multiple of 32"));
}

TEST_CASE("the builder refuses shapes that do not fit", "[network]") {
  NetworkBuilder odd("odd", {4, 5, 5});
  CHECK_THROWS_WITH(odd.reorg(2), Catch::Contains("reorg"));
  NetworkBuilder uneven("uneven", {4, 8, 8});
  uneven.conv(8, 3).max_pool(2, 2);
  CHECK_THROWS_WITH(uneven.route({0, 1}), Catch::Contains("route"));
  CHECK_THROWS_WITH(uneven.build({{{1.0F, 1.0F}}, 80}), Catch::Contains("detection head"));
}

TEST_CASE("pooling rounds sizes up", "[network]") {
  // Darknet: (in + kernel - 1 - kernel) / stride + 1, here (13 - 1) / stride + 1.
  NetworkBuilder net("pool", {8, 13, 13});
  net.max_pool(2, 2).max_pool(2, 1);
  CHECK(net.last() == 1);
  const Network built = net.build({{{1.0F, 1.0F}}, 3});
  CHECK(built.layers[0].output == Shape{8, 7, 7});
  CHECK(built.layers[1].output == Shape{8, 7, 7});
}

TEST_CASE("reorg is a permutation in Darknet's order", "[network]") {
  // Darknet's loops for 4 channels, 2 x 2, stride 2, written out: the one view channel is a 4 x 4
  // picture, and output channel k takes every second pixel from offset (k % 2, k / 2).
  const Shape in{4, 2, 2};
  const std::vector<std::int64_t> expected{0, 2, 8, 10, 1, 3, 9, 11, 4, 6, 12, 14, 5, 7, 13, 15};
  for (std::size_t i = 0; i < expected.size(); ++i) CHECK(reorg_source(in, 2, i) == expected[i]);

  std::set<std::int64_t> sources;
  const Shape big{64, 26, 26};
  for (std::int64_t i = 0; i < big.elements(); ++i) sources.insert(reorg_source(big, 2, i));
  CHECK(sources.size() == static_cast<std::size_t>(big.elements()));
  CHECK(*sources.begin() == 0);
  CHECK(*sources.rbegin() == big.elements() - 1);
}
