// One function a network; network_types() lists them.
#pragma once

#include "workloads/network.h"

namespace doetune::workloads::networks {

Network tiny_yolov2(int input_size);
Network yolov2(int input_size);

}  // namespace doetune::workloads::networks
