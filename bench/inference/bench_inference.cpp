// Times inference of one network on the CPU engine; started by compare.py.
//
//   bench_inference MODEL INPUT_HEIGHT BATCH PRECISION THREADS DUMP_DIR
//
// Writes network.json (its layers), weights.f32, input.f32 and output.f32 (raw floats) to DUMP_DIR,
// so that another framework can run the same network on the same data, then answers each line "N"
// on standard input with the seconds that N batches took. An INPUT_HEIGHT of 0 is the network's
// default.
#include <chrono>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "base/random.h"
#include "workloads/engines/engine.h"
#include "workloads/networks/network_json.h"
#include "workloads/networks/weights.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;

void write_floats(const std::string& path, std::span<const float> values) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size_bytes()));
  if (!out) throw std::runtime_error("cannot write " + path);
}

double seconds_for(CompiledNetwork& network, int batch, int repetitions) {
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repetitions; ++i) network.infer(batch);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void serve(const std::vector<std::string>& arguments) {
  const int height = std::stoi(arguments.at(1));
  const Network network = make_network(
      arguments.at(0), height != 0 ? height : network_type(arguments.at(0)).default_height);
  const int batch = std::stoi(arguments.at(2));
  const Precision precision = precision_named(arguments.at(3));
  const int threads = std::stoi(arguments.at(4));
  const std::string& dump = arguments.at(5);

  std::vector<float> weights(weight_count(network));
  random_weights(network, 1, weights);
  const auto compiled = make_engine("cpu")->compile(network, weights, {batch, precision, threads});
  const auto input = compiled->input();
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = random_unit(2, i);
  compiled->infer(batch);
  std::ofstream(dump + "/network.json") << to_json(network).dump(1) << "\n";
  write_floats(dump + "/weights.f32", weights);
  write_floats(dump + "/input.f32", input);
  write_floats(dump + "/output.f32", compiled->output());

  std::cout << "ready" << std::endl;
  for (int repetitions = 0; std::cin >> repetitions;)
    std::cout << seconds_for(*compiled, batch, repetitions) << std::endl;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 7) {
    std::fprintf(stderr,
                 "usage: bench_inference MODEL INPUT_HEIGHT BATCH fp32|bf16 THREADS DUMP_DIR\n");
    return 2;
  }
  try {
    serve({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_inference: %s\n", error.what());
    return 1;
  }
}
