#include "workloads/networks/networks.h"

namespace doetune::workloads::networks {

// An encoder like VGG-16's first ten convolutions and a decoder that mirrors it. Input: three
// frames; output: the grey level 0..255 of the most probable of 256 channels. Batch normalisation
// precedes the ReLU, so that it can be folded.
Network tracknet(int input_height) {
  NetworkBuilder net("tracknet", {9, input_height, input_height / 9 * 16});
  const auto convolutions = [&](int count, int filters) {
    for (int i = 0; i < count; ++i) net.conv(filters, 3, Activation::relu);
  };
  convolutions(2, 64);
  net.max_pool(2, 2);
  convolutions(2, 128);
  net.max_pool(2, 2);
  convolutions(3, 256);
  net.max_pool(2, 2);
  convolutions(3, 512);
  net.upsample(2);
  convolutions(3, 256);
  net.upsample(2);
  convolutions(2, 128);
  net.upsample(2);
  convolutions(2, 64);
  convolutions(1, 256);
  net.channel_arg_max();
  return net.build(HeatMapHead{256});
}

}  // namespace doetune::workloads::networks
