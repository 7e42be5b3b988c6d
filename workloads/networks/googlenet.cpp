#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {
namespace {

/// A convolution with bias and ReLU that preserves the size (at stride 1).
Convolution same(int filters, int kernel, int stride = 1) {
  return {filters, {kernel, kernel}, stride, {kernel / 2, kernel / 2}, Activation::relu, false};
}

/// 3 x 3 pooling with stride 2 that rounds sizes up.
constexpr MaxPool kHalve{3, 2, 0, 1};

struct Module {  // columns of the paper's table 1
  int one, reduce3, three, reduce5, five, pool;
};

void add(NetworkBuilder& net, const Module& module) {
  const int in = net.last();
  const int one = net.conv(same(module.one, 1)).last();
  const int three = net.from(in).conv(same(module.reduce3, 1)).conv(same(module.three, 3)).last();
  const int five = net.from(in).conv(same(module.reduce5, 1)).conv(same(module.five, 5)).last();
  const int pool = net.from(in).max_pool({3, 1, 1, 1}).conv(same(module.pool, 1)).last();
  net.route({one, three, five, pool});
}

}  // namespace

// Convolutions with biases and no batch normalisation, as published; 1000 classes of ImageNet.
Network googlenet(int input_size) {
  NetworkBuilder net("googlenet", {3, input_size, input_size});
  net.conv(same(64, 7, 2)).max_pool(kHalve).local_response_norm({});
  net.conv(same(64, 1)).conv(same(192, 3)).local_response_norm({}).max_pool(kHalve);
  add(net, {64, 96, 128, 16, 32, 32});
  add(net, {128, 128, 192, 32, 96, 64});
  net.max_pool(kHalve);
  add(net, {192, 96, 208, 16, 48, 64});
  add(net, {160, 112, 224, 24, 64, 64});
  add(net, {128, 128, 256, 24, 64, 64});
  add(net, {112, 144, 288, 32, 64, 64});
  add(net, {256, 160, 320, 32, 128, 128});
  net.max_pool(kHalve);
  add(net, {256, 160, 320, 32, 128, 128});
  add(net, {384, 192, 384, 48, 128, 128});
  net.global_average_pool().dense(1000, Activation::linear, 0.4F);
  return net.build(ClassificationHead{1000});
}

}  // namespace doetune::workloads::networks
