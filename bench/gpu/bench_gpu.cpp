// Images per second of one network on one device, as JSON on standard output.
//
//   bench_gpu DEVICE NETWORK PRECISION BATCH SECONDS OPERATIONS_PER_S BYTES_PER_S
//
// resident: computation only, with the input already on the device; floats: each batch is copied
// from the host as floats; images: each image is a 1280 x 720 image that the engine scales;
// images_in_turn: the same, but each batch completes before the next is loaded. The ratio of the
// last two is the gain from overlapping copies and computation. The roofline is that of the given
// peak rates.
#include <chrono>
#include <cstdio>
#include <exception>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/roofline.h"
#include "workloads/networks/weights.h"
#include "workloads/video/ycbcr_image.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;

constexpr int kThreads = 4;  // that copy images

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

YcbcrImage noise(int width, int height) {
  YcbcrImage source(width, height);
  std::uint64_t next = 0;
  const auto fill = [&](std::uint8_t* row, int count) {
    for (int x = 0; x < count; ++x) row[x] = static_cast<std::uint8_t>(random_bits(1, next++));
  };
  for (int y = 0; y < height; ++y) fill(source.luma_row(y), width);
  for (int y = 0; y < height / 2; ++y) {
    fill(source.blue_row(y), width / 2);
    fill(source.red_row(y), width / 2);
  }
  return source;
}

/// Submits batches for about `seconds`, each after `fill`, with at most `lanes` in flight; returns
/// images per second.
template <class Fill>
double images_per_s(CompiledNetwork& network, int batch, int lanes, double seconds, Fill fill) {
  const auto run = [&](int batches, double at_least) {
    int done = 0;
    int under_way = 0;
    const auto start = Clock::now();
    while (done < batches || seconds_since(start) < at_least) {
      fill();
      if (under_way == lanes) network.wait(), --under_way;
      network.submit(batch);
      ++under_way, ++done;
    }
    for (; under_way > 0; --under_way) network.wait();
    return done * batch / seconds_since(start);
  };
  run(network.lanes() + 1, 0.2 * seconds);  // warm-up
  return run(3, seconds);
}

void fill_every_lane(CompiledNetwork& network, int batch) {
  for (int i = 0; i <= network.lanes(); ++i) {
    const auto input = network.input();
    for (std::size_t at = 0; at < input.size(); ++at) input[at] = random_unit(2, at);
    network.infer(batch);
  }
}

nlohmann::json measured(const std::vector<std::string>& arguments) {
  const std::string& device = arguments.at(0);
  const NetworkType& type = network_type(arguments.at(1));
  const Precision precision = precision_named(arguments.at(2));
  const int batch = std::stoi(arguments.at(3));
  const double seconds = std::stod(arguments.at(4));
  const PeakRates peak_rates{std::stod(arguments.at(5)), std::stod(arguments.at(6))};

  const Network network = make_network(type.name, type.default_height);
  std::vector<float> weights(static_cast<std::size_t>(weight_count(network)));
  random_weights(network, 1, weights);
  const auto engine = make_engine(device);
  const auto start = Clock::now();
  const auto compiled = engine->compile(network, weights, {batch, precision, kThreads});
  const double prepared_s = seconds_since(start);
  const int lanes = compiled->lanes();
  fill_every_lane(*compiled, batch);

  const auto source = std::make_shared<const YcbcrImage>(noise(1280, 720));
  const auto load = [&] {
    for (int image = 0; image < batch; ++image)
      for (int frame = 0; frame < network.images(); ++frame)
        compiled->load(image, {source->view(), source}, frame);
  };
  const double resident = images_per_s(*compiled, batch, lanes, seconds, [] {});
  const double roofline = 1 / roofline_seconds(network, batch, bytes_of(precision), peak_rates);
  return {{"device", engine->description()},
          {"network", type.name},
          {"precision", name_of(precision)},
          {"batch", batch},
          {"prepared_s", prepared_s},
          {"device_bytes", compiled->device_bytes()},
          {"resident_images_per_s", resident},
          {"floats_images_per_s",
           images_per_s(*compiled, batch, lanes, seconds, [&] { compiled->input(); })},
          {"pictures_images_per_s", images_per_s(*compiled, batch, lanes, seconds, load)},
          {"pictures_in_turn_images_per_s",
           images_per_s(*compiled, batch, 1, seconds, [&] { load(); })},
          {"roofline_images_per_s", roofline},
          {"roofline_fraction", resident / roofline}};
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 8) {
    std::fprintf(stderr,
                 "usage: bench_gpu DEVICE NETWORK PRECISION BATCH SECONDS OPERATIONS_PER_S "
                 "BYTES_PER_S\n");
    return 2;
  }
  try {
    std::cout << measured({argv + 1, argv + argc}) << std::endl;
  } catch (const CannotRun& error) {
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 77;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_gpu: %s\n", error.what());
    return 1;
  }
}
