// The arithmetic of the training kernels, on the host.
#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/random.h"
#include "reference_tensor.h"
#include "workloads/engines/cudnn/convolution.h"
#include "workloads/engines/cudnn/packed_weights.h"
#include "workloads/engines/cudnn/parameter_blocks.h"
#include "workloads/engines/cudnn/training_kernels.h"
#include "workloads/engines/dropout.h"
#include "workloads/engines/onednn/cross_entropy.h"

using namespace doetune;
using namespace doetune::workloads;
namespace gpu = doetune::workloads::cudnn;

namespace {

std::vector<float> numbers(std::size_t count, std::uint64_t seed, float mean = 0) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = mean + 2 * random_unit(seed, i) - 1;
  return values;
}

struct Line {
  int kernel, stride, pad, outputs;
};

/// Windows over `size` elements, of all forms.
template <class Visit>
void for_lines(int size, Visit visit) {
  for (int kernel = 1; kernel <= 5; ++kernel)
    for (int stride = 1; stride <= 4; ++stride)
      for (int pad = 0; pad < kernel; ++pad)
        for (int after = 0; after < kernel; ++after)
          if (size + pad + after >= kernel)
            visit(Line{kernel, stride, pad, (size + pad + after - kernel) / stride + 1});
}

}  // namespace

// -- pooling --------------------------------------------------------------------------------------

TEST_CASE("an element's windows are those that hold it", "[cuda]") {
  for (int size = 1; size < 8; ++size)
    for_lines(size, [&](const Line& line) {
      for (int at = 0; at < size; ++at) {
        std::set<int> holding;
        for (int out = 0; out < line.outputs; ++out) {
          const gpu::Range inside = gpu::window(out, line.kernel, line.stride, line.pad, size);
          if (at >= inside.begin && at < inside.end) holding.insert(out);
        }
        const gpu::Range found =
            gpu::windows_over(at, line.kernel, line.stride, line.pad, line.outputs);
        std::set<int> listed;
        for (int out = found.begin; out < found.end; ++out) listed.insert(out);
        REQUIRE(listed == holding);
      }
    });
}

TEST_CASE("places in a window are counted row by row", "[cuda]") {
  const MaxPool pool{3, 2, 1, 1};
  std::set<int> positions;
  for (int y = 3; y < 6; ++y)
    for (int x = 5; x < 8; ++x) {
      const int position = gpu::position_in_window(pool, y, x, 2, 3);
      CHECK(position == (y - 3) * 3 + (x - 5));
      positions.insert(position);
    }
  CHECK(positions.size() == 9);
  CHECK(gpu::kMaxKeptWindow * gpu::kMaxKeptWindow < 255);  // 255 stands for none
}

// -- normalisation --------------------------------------------------------------------------------

TEST_CASE("mean and variance keep their digits where the mean is far from zero", "[cuda]") {
  const auto values = numbers(5000, 3, 1000);
  double mean = 0;
  for (const float x : values) mean += double{x} / 5000;
  double variance = 0;
  for (const float x : values) variance += (double{x} - mean) * (double{x} - mean) / 5000;
  // As in the kernel: partial sums in fp32, their totals in double.
  double first = 0;
  double second = 0;
  for (int part = 0; part < 50; ++part) {
    gpu::ShiftedSums sums;
    for (int i = 0; i < 100; ++i) gpu::add_value(sums, values[100 * part + i], values[0]);
    first += double{sums.first};
    second += double{sums.second};
  }
  const gpu::MeanVariance found = gpu::moments(first, second, values[0], 5000);
  CHECK(found.mean == Approx(mean).epsilon(1e-6));
  CHECK(found.variance == Approx(variance).epsilon(1e-5));
  CHECK(gpu::unbiased(0.5F, 5) == Approx(0.625));
  CHECK(gpu::unbiased(0.0F, 1) == 0.0F);
  CHECK(gpu::running_statistic(1.0F, 3.0F, 0.1F) == Approx(1.2));
}

TEST_CASE("normalisation and its gradients are the reference's", "[cuda]") {
  constexpr int kImages = 5;
  const Shape shape{1, 4, 3};
  const auto values = numbers(60, 5, 2);
  const auto back = numbers(60, 6);
  Tensor x(kImages, shape);
  std::ranges::copy(values, x.values.begin());
  doetune::workloads::Normalisation expected(x);
  expected.take_batch_statistics();
  expected.normalise();
  const float scale = 1.5F;
  const float shift = -0.25F;
  const gpu::MeanVariance of{static_cast<float>(expected.mean[0]),
                             static_cast<float>(expected.variance[0])};
  const auto by = gpu::normalisation(of, kBatchNormEpsilon, scale, shift);
  Tensor d(kImages, shape);
  std::ranges::copy(back, d.values.begin());
  std::vector<double> scale_gradient(1);
  std::vector<double> shift_gradient(1);
  const std::vector<double> scales{double{scale}};
  expected.back(d, scales, {{}, scale_gradient, shift_gradient});
  gpu::NormGradients sums;
  for (std::size_t i = 0; i < values.size(); ++i) gpu::add_gradient(sums, by, values[i], back[i]);
  CHECK(sums.scale * by.inverse == Approx(scale_gradient[0]).epsilon(1e-4));
  CHECK(sums.shift == Approx(shift_gradient[0]).epsilon(1e-4));
  const auto means = gpu::gradient_means(by, sums.shift, sums.scale, 60);
  for (std::size_t i = 0; i < values.size(); ++i) {
    CHECK(gpu::normalised(by, values[i]) ==
          Approx(expected.normal.values[i] * double{scale} + double{shift}).margin(1e-5));
    CHECK(gpu::input_gradient(by, means, values[i], back[i]) == Approx(d.values[i]).margin(1e-5));
  }
}

TEST_CASE("channels that only fill up pass nothing", "[cuda]") {
  const gpu::Normalisation none;
  CHECK(gpu::normalised(none, 0.0F) == 0.0F);
  CHECK(gpu::input_gradient(none, {}, 0.0F, 0.0F) == 0.0F);
}

TEST_CASE("an activation passes back what its sign says", "[cuda]") {
  CHECK(gpu::activation_slope(2.0F, 0.0F) == 1.0F);
  CHECK(gpu::activation_slope(0.0F, 0.0F) == 0.0F);
  CHECK(gpu::activation_slope(-0.1F, kLeakySlope) == kLeakySlope);
  CHECK(gpu::activation_slope(-0.1F, negative_slope(Activation::linear)) == 1.0F);
}

TEST_CASE("local response normalisation's gradient is that of finite differences", "[cuda]") {
  const LocalResponseNorm norm{5, 0.5F, 0.75F, 1.0F};
  constexpr int kChannels = 9;
  const auto back = numbers(kChannels, 8);
  const auto start = numbers(kChannels, 7);
  std::vector<double> x(start.begin(), start.end());
  const auto loss = [&] {
    double sum = 0;
    for (int c = 0; c < kChannels; ++c) {
      double squares = 0;
      for (int k = std::max(c - 2, 0); k <= std::min(c + 2, kChannels - 1); ++k)
        squares += x[k] * x[k];
      sum += double{back[c]} * x[c] * std::pow(1 + 0.5 / 5 * squares, -0.75);
    }
    return sum;
  };
  for (int c = 0; c < kChannels; ++c) {
    constexpr double kStep = 1e-5;
    x[c] += kStep;
    const double above = loss();
    x[c] -= 2 * kStep;
    const double below = loss();
    x[c] += kStep;
    const float found = gpu::response_gradient(
        norm, c, kChannels, [&](int k) { return start[k]; }, [&](int k) { return back[k]; });
    CHECK(found == Approx((above - below) / (2 * kStep)).margin(1e-5));
  }
}

// -- the loss -------------------------------------------------------------------------------------

TEST_CASE("the first of the largest logits is found in any order", "[cuda]") {
  const std::vector<float> logits{1, 3, -2, 3, 0, 3, 2};
  std::vector<int> order(logits.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    gpu::Largest largest{-INFINITY, 7};
    for (const int i : order) largest = gpu::larger(largest, {logits[i], i});
    REQUIRE(largest.index == 1);
    REQUIRE(largest.value == 3.0F);
  } while (std::ranges::next_permutation(order).found);
}

TEST_CASE("the gradient by a logit is the CPU engine's", "[cuda]") {
  constexpr int kClasses = 7;
  const auto logits = numbers(2 * kClasses, 9);
  const std::vector<std::int32_t> labels{4, 0};
  std::vector<float> expected(logits.size());
  softmax_cross_entropy(logits, labels, expected);
  for (int image = 0; image < 2; ++image) {
    const float* of_image = &logits[image * kClasses];
    const float largest = *std::max_element(of_image, of_image + kClasses);
    double sum = 0;
    for (int c = 0; c < kClasses; ++c) sum += double{std::exp(of_image[c] - largest)};
    for (int c = 0; c < kClasses; ++c)
      CHECK(gpu::logit_gradient(of_image[c], largest, sum, c == labels[image], 2) ==
            Approx(expected[image * kClasses + c]).margin(1e-7));
  }
}

// -- dropout --------------------------------------------------------------------------------------

TEST_CASE("dropout counts elements as dropout.h does, over all processes", "[cuda]") {
  const Shape input{5, 3, 2};
  std::uint64_t expected = 4 * 5 * 3 * 2;  // the elements of the four images of others
  for (int image = 0; image < 2; ++image)
    for (int y = 0; y < 3; ++y)
      for (int x = 0; x < 2; ++x)
        for (int c = 0; c < 5; ++c)
          REQUIRE(gpu::dropout_index(4, input, {image, y, x, c}) == expected++);
}

// -- parameters -----------------------------------------------------------------------------------

TEST_CASE("trained tensors lie as in parameters.h and as convolutions have them", "[cuda]") {
  for (const char* name : {"resnet-20", "alexnet", "googlenet"})
    for (const Precision precision : {Precision::bf16, Precision::fp32}) {
      const Network network = make_network(name, network_type(name).default_height);
      const TensorPlan plan = plan_tensors(network, gpu::channel_multiple(precision));
      const gpu::ParameterLayout layout(network, plan, precision);
      INFO(name << ", " << name_of(precision));
      CHECK(layout.count() == parameters(network));
      CHECK(layout.statistics() == statistics_count(network));
      std::int64_t packed_end = 0;
      for (const gpu::TrainedTensor& tensor : layout.tensors()) {
        if (tensor.packed < 0) continue;
        CHECK(tensor.packed >= packed_end);
        CHECK(tensor.packed * bytes_of(precision) % 256 == 0);
        packed_end = gpu::packed_index(tensor, tensor.count - 1) + 1;
      }
      CHECK(layout.packed_elements() >= packed_end);
      std::int64_t chunked = 0;
      for (const gpu::Chunk& chunk : layout.chunks())
        chunked +=
            std::min(gpu::kChunkElements, layout.tensors()[chunk.tensor].count - chunk.first);
      CHECK(chunked == layout.count());
      CHECK(layout.first_chunk(0) == 0);
      CHECK(layout.first_chunk(layout.count()) == std::ssize(layout.chunks()));
      const gpu::TrainedTensor& last = layout.tensors().back();
      CHECK(layout.chunks()[layout.first_chunk(last.offset)].tensor ==
            static_cast<int>(layout.tensors().size()) - 1);
    }
}

TEST_CASE("weights are packed as inference packs them", "[cuda]") {
  const gpu::FilterSizes sizes{5, 8, 3, 4, {2, 3}};
  const auto weights = numbers(5 * 3 * 2 * 3, 4);
  const auto expected = gpu::channels_last(weights, sizes);
  const gpu::TrainedTensor tensor{0, 5 * 3 * 6, 0, 3, 4, 6, true};
  std::vector<float> block(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i)
    block[gpu::channels_last_index(tensor, static_cast<std::int64_t>(i))] = weights[i];
  std::vector<float> packed(expected.size(), 0.0F);
  for (std::size_t i = 0; i < block.size(); ++i)
    packed[gpu::packed_index(tensor, static_cast<std::int64_t>(i))] = block[i];
  CHECK(packed == expected);
  const gpu::TrainedTensor bias{0, 5, 16, 5, 8, 1, false};
  for (std::int64_t i = 0; i < 5; ++i) {
    CHECK(gpu::channels_last_index(bias, i) == i);
    CHECK(gpu::packed_index(bias, i) == 16 + i);
  }
}

TEST_CASE("a step of descent is Sutskever's", "[cuda]") {
  float momentum = 0.5F;
  float parameter = 2.0F;
  gpu::sgd_step({0.1F, 0.9F, 0.01F}, /*decays=*/true, 1.0F, momentum, parameter);
  CHECK(momentum == Approx(0.9 * 0.5 + 1.0 + 0.01 * 2.0));
  CHECK(parameter == Approx(2.0 - 0.1 * 1.47));
  gpu::sgd_step({0.1F, 0.9F, 0.01F}, /*decays=*/false, 0.0F, momentum, parameter);
  CHECK(momentum == Approx(0.9 * 1.47));
}
