// One function per network; network_types() lists them.
#pragma once

#include "workloads/networks/network.h"

namespace doetune::workloads::networks {

Network tiny_yolov2(int input_size);
Network yolov2(int input_size);
Network darknet_19(int input_size);
Network alexnet(int input_size);
Network googlenet(int input_size);
Network inception_v3(int input_size);
Network resnet_18(int input_size);
Network resnet_20(int input_size);
Network resnet_50(int input_size);
Network resnet_152(int input_size);
Network small_cnn(int input_size);
Network tracknet(int input_height);

}  // namespace doetune::workloads::networks
