#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// Nine convolutions; the sixth pooling keeps the grid (stride 1). 20 classes of Pascal VOC.
Network tiny_yolov2(int input_size) {
  NetworkBuilder net("tiny-yolov2", {3, input_size, input_size});
  for (const int filters : {16, 32, 64, 128, 256}) net.conv(filters, 3).max_pool(2, 2);
  net.conv(512, 3).max_pool(2, 1);
  net.conv(1024, 3).conv(1024, 3).linear_conv(5 * (5 + 20), 1);
  return net.build(DetectionHead{
      {{1.08F, 1.19F}, {3.42F, 4.41F}, {6.63F, 11.38F}, {9.42F, 5.11F}, {16.62F, 10.52F}}, 20});
}

}  // namespace doetune::workloads::networks
