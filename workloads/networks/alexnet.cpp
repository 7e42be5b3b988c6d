#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// One tower of 64, 192, 384, 256 and 256 filters, without local response normalisation. As in
// torchvision, the inputs of the two hidden fully connected layers have a dropout of 0.5.
Network alexnet(int input_size) {
  constexpr auto relu = Activation::relu;
  NetworkBuilder net("alexnet", {3, input_size, input_size});
  net.conv({64, {11, 11}, 4, {2, 2}, relu, false}).max_pool(MaxPool{3, 2});
  net.conv({192, {5, 5}, 1, {2, 2}, relu, false}).max_pool(MaxPool{3, 2});
  for (const int filters : {384, 256, 256}) net.conv({filters, {3, 3}, 1, {1, 1}, relu, false});
  net.max_pool(MaxPool{3, 2});
  net.dense(4096, relu, 0.5F).dense(4096, relu, 0.5F).dense(1000, Activation::linear);
  return net.build(ClassificationHead{1000});
}

}  // namespace doetune::workloads::networks
