#include <string>
#include <vector>

#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {
namespace {

Convolution same(int filters, int kernel, int stride, Activation activation) {
  return {filters, {kernel, kernel}, stride, {kernel / 2, kernel / 2}, activation, true};
}

/// 1 x 1, 3 x 3 (strided), 1 x 1 with four times the filters; a projection where the shape changes.
void bottleneck(NetworkBuilder& net, int filters, int stride, bool project) {
  using enum Activation;
  const int in = net.last();
  const int shortcut = project ? net.conv(same(4 * filters, 1, stride, linear)).last() : in;
  net.from(in).conv(same(filters, 1, 1, relu)).conv(same(filters, 3, stride, relu));
  net.conv(same(4 * filters, 1, 1, linear));
  net.sum(shortcut, net.last());
}

/// Two 3 x 3 convolutions, the first strided; a projection where the shape changes.
void basic_block(NetworkBuilder& net, int filters, int stride, bool project) {
  using enum Activation;
  const int in = net.last();
  const int shortcut = project ? net.conv(same(filters, 1, stride, linear)).last() : in;
  net.from(in).conv(same(filters, 3, stride, relu)).conv(same(filters, 3, 1, linear));
  net.sum(shortcut, net.last());
}

/// 100 classes of CIFAR-100: a 3 x 3 stem without pooling, then stages that double the filters.
Network small_resnet(std::string name, int input_size, int filters,
                     const std::vector<int>& blocks) {
  NetworkBuilder net(std::move(name), {3, input_size, input_size});
  net.conv(same(filters, 3, 1, Activation::relu));
  for (std::size_t stage = 0; stage < blocks.size(); ++stage, filters *= 2)
    for (int block = 0; block < blocks[stage]; ++block) {
      const bool halves = stage > 0 && block == 0;
      basic_block(net, filters, halves ? 2 : 1, halves);
    }
  net.global_average_pool().dense(100, Activation::linear);
  return net.build(ClassificationHead{100});
}

/// 1000 classes of ImageNet; `blocks` in the stages of 64, 128, 256 and 512 filters.
Network resnet(std::string name, int input_size, const std::vector<int>& blocks) {
  NetworkBuilder net(std::move(name), {3, input_size, input_size});
  net.conv(same(64, 7, 2, Activation::relu)).max_pool({3, 2, 1, 1});
  int filters = 64;
  for (const int count : blocks) {
    for (int block = 0; block < count; ++block)
      bottleneck(net, filters, block == 0 && filters > 64 ? 2 : 1, block == 0);
    filters *= 2;
  }
  net.global_average_pool().dense(1000, Activation::linear);
  return net.build(ClassificationHead{1000});
}

}  // namespace

Network resnet_18(int input_size) {
  return small_resnet("resnet-18", input_size, 64, {2, 2, 2, 2});
}
Network resnet_20(int input_size) { return small_resnet("resnet-20", input_size, 16, {3, 3, 3}); }
Network resnet_50(int input_size) { return resnet("resnet-50", input_size, {3, 4, 6, 3}); }
Network resnet_152(int input_size) { return resnet("resnet-152", input_size, {3, 8, 36, 3}); }

}  // namespace doetune::workloads::networks
