#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// No batch normalisation, so that learning rate, batch size and their interaction matter.
Network small_cnn(int input_size) {
  NetworkBuilder net("small-cnn", {3, input_size, input_size});
  const auto convolution = [&](int filters) {
    net.conv({filters, {3, 3}, 1, {1, 1}, Activation::relu, false});
  };
  convolution(32);
  net.max_pool(2, 2);
  convolution(64);
  net.max_pool(2, 2);
  convolution(128);
  net.global_average_pool().dense(100, Activation::linear);
  return net.build(ClassificationHead{100});
}

}  // namespace doetune::workloads::networks
