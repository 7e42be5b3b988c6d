#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// Darknet-19 without its classifier, then the detector with a pass-through from the 26 x 26 layer
// (at 416 pixels). 80 classes of COCO.
Network yolov2(int input_size) {
  NetworkBuilder net("yolov2", {3, input_size, input_size});
  net.conv(32, 3).max_pool(2, 2);
  net.conv(64, 3).max_pool(2, 2);
  net.conv(128, 3).conv(64, 1).conv(128, 3).max_pool(2, 2);
  net.conv(256, 3).conv(128, 1).conv(256, 3).max_pool(2, 2);
  net.conv(512, 3).conv(256, 1).conv(512, 3).conv(256, 1).conv(512, 3);
  const int fine = net.last();
  net.max_pool(2, 2);
  net.conv(1024, 3).conv(512, 1).conv(1024, 3).conv(512, 1).conv(1024, 3);
  net.conv(1024, 3).conv(1024, 3);
  const int coarse = net.last();
  net.route({fine}).conv(64, 1).reorg(2);
  net.route({net.last(), coarse}).conv(1024, 3).linear_conv(5 * (5 + 80), 1);
  return net.build(DetectionHead{{{0.57273F, 0.677385F},
                                  {1.87446F, 2.06253F},
                                  {3.33843F, 5.47434F},
                                  {7.88282F, 3.52778F},
                                  {9.77052F, 9.16828F}},
                                 80});
}

}  // namespace doetune::workloads::networks
