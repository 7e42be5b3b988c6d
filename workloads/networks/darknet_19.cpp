#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// 1000 classes of ImageNet; the classifier is a 1 x 1 convolution before the global average.
Network darknet_19(int input_size) {
  NetworkBuilder net("darknet-19", {3, input_size, input_size});
  net.conv(32, 3).max_pool(2, 2);
  net.conv(64, 3).max_pool(2, 2);
  net.conv(128, 3).conv(64, 1).conv(128, 3).max_pool(2, 2);
  net.conv(256, 3).conv(128, 1).conv(256, 3).max_pool(2, 2);
  net.conv(512, 3).conv(256, 1).conv(512, 3).conv(256, 1).conv(512, 3).max_pool(2, 2);
  net.conv(1024, 3).conv(512, 1).conv(1024, 3).conv(512, 1).conv(1024, 3);
  net.linear_conv(1000, 1).global_average_pool();
  return net.build(ClassificationHead{1000});
}

}  // namespace doetune::workloads::networks
