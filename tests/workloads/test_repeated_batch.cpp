#include "workloads/timing/repeated_batch.h"

#include <catch2/catch.hpp>

#include <array>

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// A network whose input buffers take turns, as those of an engine with several batches in flight.
/// Its output is the input of the batch; one whose buffer was not asked for is not uploaded.
struct TurningBuffers final : CompiledNetwork {
  static constexpr std::size_t kBuffers = 3;
  std::array<std::vector<float>, kBuffers> buffers;
  std::vector<float> result;
  std::size_t next = 0;
  bool asked = false;
  int uploads = 0;

  TurningBuffers() { buffers.fill(std::vector<float>(4, 0.0F)); }
  int lanes() const override { return kBuffers - 1; }
  std::span<float> input() override {
    asked = true;
    return buffers[next];
  }
  void load(int, const DecodedImage&, int) override {}
  void submit(int) override {
    result = asked ? buffers[next] : std::vector<float>(4, -1.0F);
    uploads += asked ? 1 : 0;
    asked = false;
    next = (next + 1) % kBuffers;
  }
  void wait() override {}
  std::span<const float> output() override { return result; }
  std::vector<Detection> detections(int) override { return {}; }
  std::int64_t device_bytes() const override { return 0; }
};

}  // namespace

TEST_CASE("a repeated batch is uploaded each time, from every input buffer", "[timing]") {
  TurningBuffers network;
  const std::vector<float> batch{0.25F, 0.5F, 0.75F, 1.0F};
  RepeatedBatch repeated(network, batch, 1);
  const int before = network.uploads;
  for (int run = 1; run <= 7; ++run) {
    repeated.run();
    CHECK(network.result == batch);
    CHECK(network.uploads == before + run);
  }
  CHECK(repeated.input() == batch);
}
