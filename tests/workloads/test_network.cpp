#include <catch2/catch.hpp>

#include <algorithm>
#include <set>

#include "workloads/networks/network.h"
#include "workloads/networks/roofline.h"

using namespace doetune;
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
  // parameters, 125 biases.
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

TEST_CASE("networks have the sizes of their publications", "[network]") {
  struct Published {
    const char* name;
    int size;
    double million_parameters;
    double giga_macs;
  };
  // Computed from the published definitions by an independent script. For AlexNet, ResNet-50 and
  // ResNet-152 torchvision documents the parameters: 61,100,840, 25,557,032 and 60,192,808.
  constexpr Published kPublished[] = {
      {"darknet-19", 224, 20.84, 2.791}, {"alexnet", 224, 61.10, 0.714},
      {"googlenet", 224, 7.00, 1.583},   {"inception-v3", 299, 23.83, 5.713},
      {"resnet-50", 224, 25.56, 4.089},  {"resnet-152", 224, 60.19, 11.51},
      {"resnet-20", 32, 0.278, 0.041},   {"resnet-18", 32, 11.22, 0.555},
  };
  for (const Published& each : kPublished) {
    INFO(each.name);
    CHECK(static_cast<double>(parameters(make_network(each.name, each.size))) / 1e6 ==
          Approx(each.million_parameters).margin(0.005));
    CHECK(giga_macs(each.name, each.size) == Approx(each.giga_macs).margin(0.005));
  }
  CHECK(parameters(make_network("alexnet", 224)) == 61'100'840);
  CHECK(parameters(make_network("resnet-50", 224)) == 25'557'032);
  CHECK(parameters(make_network("resnet-152", 224)) == 60'192'808);
}

TEST_CASE("a classifier can have another number of classes", "[network]") {
  // Darknet-19's last convolution precedes the global average.
  const Network pooled = with_classes(make_network("darknet-19", 64), 10);
  CHECK(pooled.output() == Shape{10, 1, 1});
  CHECK(parameters(make_network("darknet-19", 64)) - parameters(pooled) == 990 * (1024 + 1));
  // He et al. (2015), table 6, give 0.27 million for 10 classes. Each class has 64 weights and a
  // bias.
  const Network ten = with_classes(make_network("resnet-20", 32), 10);
  CHECK(ten.output() == Shape{10, 1, 1});
  CHECK(std::get<ClassificationHead>(ten.head).classes == 10);
  CHECK(parameters(ten) == parameters(make_network("resnet-20", 32)) - 90 * 65);
  CHECK(parameters(ten) == 272'474);
  CHECK_THROWS_WITH(with_classes(make_network("yolov2", 32), 10),
                    Catch::Contains("not a classifier"));
  CHECK_THROWS_WITH(with_classes(make_network("resnet-20", 32), 1), Catch::Contains("2 classes"));
}

TEST_CASE("tracknet maps three frames to a heat map of their size", "[network]") {
  const Network net = make_network("tracknet", 360);
  CHECK(net.input == Shape{9, 360, 640});
  CHECK(net.output() == Shape{1, 360, 640});
  CHECK(net.images() == 3);
  // By hand: 10,695,744 weights of the 18 convolutions, and 2 parameters for each of 4096 filters.
  CHECK(parameters(net) == 10'703'936);
}

TEST_CASE("every network builds at its least and default size and fits its head", "[network]") {
  for (const NetworkType& type : network_types())
    for (const int size : {type.min_height, type.default_height}) {
      const Network net = make_network(type.name, size);
      CHECK(net.name == type.name);
      CHECK(net.input.height == size);
    }
}

TEST_CASE("a network is refused by name or size with the reason", "[network]") {
  CHECK_THROWS_WITH(make_network("yolov9", 416), Catch::Contains("yolov9"));
  CHECK_THROWS_WITH(make_network("yolov2", 400), Catch::Contains("multiple of 32"));
  CHECK_THROWS_WITH(make_network("alexnet", 256), Catch::Contains("must be 224"));
  CHECK_THROWS_WITH(make_network("inception-v3", 74), Catch::Contains("75"));
}

TEST_CASE("a convolution takes over the sum that alone reads it", "[network]") {
  NetworkBuilder net("block", {8, 6, 6});
  const int in = net.conv(8, 3).last();
  const int shortcut = net.linear_conv(8, 1).last();
  const int branch = net.from(in).linear_conv(8, 3).last();
  const int sum = net.sum(shortcut, branch).last();
  const Network built = net.build(DetectionHead{{{1.0F, 1.0F}}, 3});
  CHECK(fused_sums(built)[branch] == sum);
  CHECK(fused_sums(built)[shortcut] == -1);
  for (const char* name : {"resnet-50", "resnet-152"}) {
    const Network resnet = make_network(name, 64);
    const auto fused = fused_sums(resnet);
    const auto sums = std::ranges::count_if(
        resnet.layers, [](const Layer& layer) { return std::holds_alternative<Sum>(layer.op); });
    CHECK(std::ranges::count_if(fused, [](int layer) { return layer >= 0; }) == sums);
  }
}

TEST_CASE("the roofline of a network is that of its layers", "[network]") {
  struct Known {
    const char* name;
    int size;
    double megabytes;          // traffic for one image in bf16, without weights
    double images_per_second;  // at 790 TFLOP/s and 4.3 TB/s
  };
  // Computed by an independent script for the measured peak rates of an H200.
  constexpr Known kKnown[] = {{"tiny-yolov2", 416, 30, 72e3},  {"yolov2", 416, 78, 21.1e3},
                              {"darknet-19", 224, 22, 101e3},  {"alexnet", 224, 2.6, 494e3},
                              {"inception-v3", 299, 62, 47e3}, {"resnet-50", 224, 57, 59e3},
                              {"resnet-152", 224, 118, 25.2e3}};
  for (const Known& each : kKnown) {
    INFO(each.name);
    const Network net = make_network(each.name, each.size);
    double bytes = 0;
    for (const LayerWork& work : layer_work(net, 1'000'000'000, 2)) bytes += work.bytes;
    CHECK(bytes / 1e6 == Approx(each.megabytes).epsilon(0.03));
    CHECK(1 / roofline_seconds(net, 1'000'000'000, 2, {790e12, 4.3e12}) ==
          Approx(each.images_per_second).epsilon(0.03));
  }
}

TEST_CASE("the builder refuses shapes that do not fit", "[network]") {
  NetworkBuilder odd("odd", {4, 5, 5});
  CHECK_THROWS_WITH(odd.reorg(2), Catch::Contains("reorg"));
  NetworkBuilder uneven("uneven", {4, 8, 8});
  uneven.conv(8, 3).max_pool(2, 2);
  CHECK_THROWS_WITH(uneven.route({0, 1}), Catch::Contains("route"));
  CHECK_THROWS_WITH(uneven.build(DetectionHead{{{1.0F, 1.0F}}, 80}),
                    Catch::Contains("does not fit the head"));
}

TEST_CASE("pooling rounds sizes up", "[network]") {
  // Darknet: (in + kernel - 1 - kernel) / stride + 1, here (13 - 1) / stride + 1.
  NetworkBuilder net("pool", {8, 13, 13});
  net.max_pool(2, 2).max_pool(2, 1);
  CHECK(net.last() == 1);
  const Network built = net.build(DetectionHead{{{1.0F, 1.0F}}, 3});
  CHECK(built.layers[0].output == Shape{8, 7, 7});
  CHECK(built.layers[1].output == Shape{8, 7, 7});
}

TEST_CASE("reorg is a permutation in Darknet's order", "[network]") {
  // Darknet's loops for 4 channels, 2 x 2, stride 2, written out: the single channel of the view is
  // a 4 x 4 image, and output channel k takes every second pixel from offset (k % 2, k / 2).
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
