#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {
namespace {

Convolution valid(int filters, int kernel, int stride = 1) {
  return {filters, {kernel, kernel}, stride, {0, 0}, Activation::relu, true};
}

/// A convolution that preserves the size.
Convolution same_size(int filters, int height, int width) {
  return {filters, {height, width}, 1, {height / 2, width / 2}, Activation::relu, true};
}

constexpr MaxPool kHalveUnpadded{3, 2};
constexpr AveragePool kSmooth{{3, 3}, 1, 1};

// The modules, as in the figures of the paper.

void figure5(NetworkBuilder& net, int pool_filters) {
  const int in = net.last();
  const int one = net.conv(same_size(64, 1, 1)).last();
  const int five = net.from(in).conv(same_size(48, 1, 1)).conv(same_size(64, 5, 5)).last();
  const int twice = net.from(in)
                        .conv(same_size(64, 1, 1))
                        .conv(same_size(96, 3, 3))
                        .conv(same_size(96, 3, 3))
                        .last();
  const int pool = net.from(in).average_pool(kSmooth).conv(same_size(pool_filters, 1, 1)).last();
  net.route({one, five, twice, pool});
}

void reduce_to_17(NetworkBuilder& net) {
  const int in = net.last();
  const int three = net.conv(valid(384, 3, 2)).last();
  const int twice =
      net.from(in).conv(same_size(64, 1, 1)).conv(same_size(96, 3, 3)).conv(valid(96, 3, 2)).last();
  const int pool = net.from(in).max_pool(kHalveUnpadded).last();
  net.route({three, twice, pool});
}

void figure6(NetworkBuilder& net, int filters) {
  const int in = net.last();
  const int one = net.conv(same_size(192, 1, 1)).last();
  const int seven = net.from(in)
                        .conv(same_size(filters, 1, 1))
                        .conv(same_size(filters, 1, 7))
                        .conv(same_size(192, 7, 1))
                        .last();
  net.from(in)
      .conv(same_size(filters, 1, 1))
      .conv(same_size(filters, 7, 1))
      .conv(same_size(filters, 1, 7));
  const int twice = net.conv(same_size(filters, 7, 1)).conv(same_size(192, 1, 7)).last();
  const int pool = net.from(in).average_pool(kSmooth).conv(same_size(192, 1, 1)).last();
  net.route({one, seven, twice, pool});
}

void reduce_to_8(NetworkBuilder& net) {
  const int in = net.last();
  const int three = net.conv(same_size(192, 1, 1)).conv(valid(320, 3, 2)).last();
  net.from(in).conv(same_size(192, 1, 1)).conv(same_size(192, 1, 7)).conv(same_size(192, 7, 1));
  const int seven = net.conv(valid(192, 3, 2)).last();
  const int pool = net.from(in).max_pool(kHalveUnpadded).last();
  net.route({three, seven, pool});
}

void figure7(NetworkBuilder& net) {
  const int in = net.last();
  const int one = net.conv(same_size(320, 1, 1)).last();
  const int split = net.from(in).conv(same_size(384, 1, 1)).last();
  const int row = net.conv(same_size(384, 1, 3)).last();
  const int column = net.from(split).conv(same_size(384, 3, 1)).last();
  const int split_twice = net.from(in).conv(same_size(448, 1, 1)).conv(same_size(384, 3, 3)).last();
  const int row_twice = net.conv(same_size(384, 1, 3)).last();
  const int column_twice = net.from(split_twice).conv(same_size(384, 3, 1)).last();
  const int pool = net.from(in).average_pool(kSmooth).conv(same_size(192, 1, 1)).last();
  net.route({one, row, column, row_twice, column_twice, pool});
}

}  // namespace

// As in torchvision, without the auxiliary head: 1000 classes of ImageNet.
Network inception_v3(int input_size) {
  NetworkBuilder net("inception-v3", {3, input_size, input_size});
  net.conv(valid(32, 3, 2)).conv(valid(32, 3)).conv(same_size(64, 3, 3)).max_pool(kHalveUnpadded);
  net.conv(valid(80, 1)).conv(valid(192, 3)).max_pool(kHalveUnpadded);
  for (const int pool_filters : {32, 64, 64}) figure5(net, pool_filters);
  reduce_to_17(net);
  for (const int filters : {128, 160, 160, 192}) figure6(net, filters);
  reduce_to_8(net);
  figure7(net);
  figure7(net);
  net.global_average_pool().dense(1000, Activation::linear, 0.5F);
  return net.build(ClassificationHead{1000});
}

}  // namespace doetune::workloads::networks
