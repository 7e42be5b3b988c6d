// The table of networks.
#include <fmt/format.h>

#include <stdexcept>

#include "workloads/networks/network.h"
#include "workloads/networks/networks.h"

namespace doetune::workloads {
namespace {

constexpr int kLargest = 1216;

}  // namespace

std::span<const NetworkType> network_types() {
  using namespace networks;
  static constexpr NetworkType kTypes[] = {
      {"tiny-yolov2", "Redmon & Farhadi (2017), Darknet yolov2-tiny-voc", tiny_yolov2, 416, 32, 32,
       kLargest},
      {"yolov2", "Redmon & Farhadi (2017), Darknet yolov2 (COCO)", yolov2, 416, 32, 32, kLargest},
      {"darknet-19", "Redmon & Farhadi (2017), Darknet darknet19 (ImageNet)", darknet_19, 224, 32,
       32, kLargest},
      {"alexnet", "Krizhevsky (2014), one tower, as in torchvision", alexnet, 224, 224, 224, 224},
      {"googlenet", "Szegedy et al. (2014), without auxiliary classifiers", googlenet, 224, 32, 32,
       kLargest},
      {"inception-v3", "Szegedy et al. (2015), without the auxiliary classifier", inception_v3, 299,
       1, 75, kLargest},
      {"resnet-18", "He et al. (2015), 3 x 3 stem without pooling, for CIFAR-100", resnet_18, 32, 8,
       8, 224},
      {"resnet-20", "He et al. (2015), section 4.2, projections (B), for CIFAR-100", resnet_20, 32,
       4, 4, 224},
      {"resnet-50", "He et al. (2015), stride in the 3 x 3 convolutions (v1.5)", resnet_50, 224, 32,
       32, kLargest},
      {"resnet-152", "He et al. (2015), stride in the 3 x 3 convolutions (v1.5)", resnet_152, 224,
       32, 32, kLargest},
      {"small-cnn", "three convolutions of 32, 64 and 128 filters, for CIFAR-100", small_cnn, 32, 4,
       4, 224},
      {"tracknet", "Huang et al. (2019), three frames to a heat map", tracknet, 360, 72, 72, 1080},
  };
  return kTypes;
}

const NetworkType& network_type(std::string_view name) {
  std::string known;
  for (const NetworkType& type : network_types()) {
    if (type.name == name) return type;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", type.name);
  }
  throw std::invalid_argument(fmt::format("there is no network '{}'; there are {}", name, known));
}

Network make_network(std::string_view name, int input_height) {
  const NetworkType& type = network_type(name);
  if (type.min_height == type.max_height && input_height != type.min_height)
    throw std::invalid_argument(fmt::format("the input of {} must be {} pixels, not {}", name,
                                            type.min_height, input_height));
  if (input_height < type.min_height || input_height > type.max_height ||
      input_height % type.multiple_of != 0)
    throw std::invalid_argument(
        fmt::format("the input of {} must be a multiple of {} from {} to {} pixels, not {}", name,
                    type.multiple_of, type.min_height, type.max_height, input_height));
  return type.build(input_height);
}

}  // namespace doetune::workloads
