#include <algorithm>
#include <array>
#include <cmath>

#include "workloads/engines/onednn/normalisation_kernels.h"
#include "workloads/engines/onednn/onednn_plan.h"
#include "workloads/engines/onednn/onednn_training_plan.h"

namespace doetune::workloads::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using Type = memory::data_type;

constexpr int kMaxLanes = 16;
using Sums = std::array<double, kMaxLanes>;

/// A batch's tensor as strips: each image's channels in groups of `lanes`.
struct Strips {
  int images;
  int groups;
  int lanes = 0;  // 0: the layout is not supported
  Strip strip;
  std::int64_t image_stride;
  std::int64_t group_stride;
  std::int64_t bytes;  // per number

  int channels() const { return groups * lanes; }
  std::int64_t at(int image, int group) const {
    return bytes * (image * image_stride + group * group_stride);
  }
  double values() const { return static_cast<double>(images * strip.pixels); }
};

/// Supports plain and channel-blocked layouts.
Strips strips_of(const memory::desc& desc) {
  const auto& blocking = desc.data.format_desc.blocking;
  const std::int64_t channels = desc.data.padded_dims[1];
  const std::int64_t pixels = desc.data.dims[2] * desc.data.dims[3];
  const auto in_row = [&](int dimension, std::int64_t stride) {
    return desc.data.dims[dimension] == 1 || blocking.strides[dimension] == stride;
  };
  const auto widest = [](std::int64_t width) {
    return width % 16 == 0 ? 16 : width % 8 == 0 ? 8 : 1;
  };
  Strips strips{static_cast<int>(desc.data.dims[0]),
                0,
                0,
                {pixels, 0},
                blocking.strides[0],
                0,
                static_cast<std::int64_t>(memory::data_type_size(desc.data_type()))};
  const bool blocked = blocking.inner_nblks == 1 && blocking.inner_idxs[0] == 1;
  if (blocked) {
    strips.lanes = static_cast<int>(blocking.inner_blks[0]);
    strips.strip.stride = strips.lanes;
    strips.group_stride = blocking.strides[1];
  } else if (blocking.inner_nblks == 0 && (blocking.strides[1] == 1 || channels == 1)) {
    strips.lanes = widest(channels);
    strips.strip.stride = channels;
    strips.group_stride = strips.lanes;
  } else if (blocking.inner_nblks == 0) {
    strips.lanes = 1;
    strips.strip.stride = 1;
    strips.group_stride = blocking.strides[1];
  }
  const bool known = (strips.lanes == 16 || strips.lanes == 8 || strips.lanes == 1) &&
                     in_row(3, strips.strip.stride) &&
                     in_row(2, strips.strip.stride * desc.data.dims[3]);
  if (!known) return {};
  strips.groups = static_cast<int>(channels / strips.lanes);
  return strips;
}

/// Calls work(image, group) for every strip, on all threads of the region.
template <class Work>
void for_strips(const Strips& strips, Work work) {
#pragma omp for collapse(2) schedule(static)
  for (int image = 0; image < strips.images; ++image)
    for (int group = 0; group < strips.groups; ++group) work(image, group);
}

/// Per-image sums of each channel, then the derived factors: rows of all channels.
struct Rows {
  float* first;
  int channels;
  float* of_image(int image, int which, int group_start) const {
    return first + std::int64_t{2 * image + which} * channels + group_start;
  }
  float* factor(int images, int which, int group_start) const {
    return first + std::int64_t{2 * images + which} * channels + group_start;
  }
};
constexpr int kFactorRows = 3;

char* bytes_of(const memory& object) { return static_cast<char*>(object.get_data_handle()); }

}  // namespace

TrainingPlan::Normalisation TrainingPlan::add_normalisation(const Convolution& conv, int layer,
                                                            const Tensor& product) {
  Normalisation made;
  made.x = product;
  if (strips_of(product.desc).lanes == 0)
    made.x = in_layout(product, {product.desc.dims(), type_, Tag::nhwc});
  const Strips strips = strips_of(made.x.desc);
  const int sum = fused_sums_[layer];
  Activation activation = conv.activation;
  Tensor residual;
  if (sum >= 0) {
    const auto& inputs = network_.layers[sum].inputs;
    made.other_input = inputs[0] == layer ? inputs[1] : inputs[0];
    residual = in_layout(typed(*made.other_input), made.x.desc);
    activation = std::get<Sum>(network_.layers[sum].op).activation;
  }
  made.slope = negative_slope(activation);
  made.moments = new_tensor({{2 * strips.channels()}, Type::f32, Tag::x});
  made.result = new_tensor(made.x.desc);
  const Tensor work =
      new_tensor({{(2 * images_ + kFactorRows) * strips.channels()}, Type::f32, Tag::x});
  const float* parameters = buffers_.parameters + parameters_[layer].others;
  float* running = buffers_.statistics + parameters_[layer].statistics;
  const auto values = strips.values();
  const auto unbiased = values / std::max(values - 1, 1.0);

  const auto finish_group = [=, filters = conv.filters, momentum = options_.statistics_momentum](
                                int group, const Rows& rows, float* moments) {
    const int begin = group * strips.lanes;
    Sums means{};
    Sums squares{};
    for (int image = 0; image < strips.images; ++image)
      for (int lane = 0; lane < strips.lanes; ++lane)
        means[lane] += double{rows.of_image(image, 0, begin)[lane]} / strips.images;
    for (int image = 0; image < strips.images; ++image)
      for (int lane = 0; lane < strips.lanes; ++lane) {
        const double apart = double{rows.of_image(image, 0, begin)[lane]} - means[lane];
        squares[lane] += double{rows.of_image(image, 1, begin)[lane]} +
                         static_cast<double>(strips.strip.pixels) * apart * apart;
      }
    for (int lane = 0; lane < strips.lanes; ++lane) {
      const int f = begin + lane;
      const double variance = squares[lane] / values;
      const auto mean = static_cast<float>(means[lane]);
      const auto inverse = static_cast<float>(1 / std::sqrt(variance + double{kBatchNormEpsilon}));
      const bool real = f < filters;  // the rest is padding of a channel block
      moments[f] = mean;
      moments[strips.channels() + f] = inverse;
      rows.factor(strips.images, 0, 0)[f] = real ? inverse * parameters[f] : 0;
      rows.factor(strips.images, 1, 0)[f] = real ? parameters[filters + f] : 0;
      if (!real) continue;
      running[f] += momentum * (mean - running[f]);
      running[filters + f] +=
          momentum * (static_cast<float>(unbiased * variance) - running[filters + f]);
    }
  };
  steps_.push_back([=, slope = made.slope,
                    kernels = normalisation_kernels(type_ == Type::bf16, strips.lanes),
                    x = memory_of(made.x), y = memory_of(made.result),
                    moments_memory = memory_of(made.moments), work_memory = memory_of(work),
                    other = sum >= 0 ? memory_of(residual) : memory()](dnnl::stream& stream) {
    stream.wait();
    const char* from = bytes_of(x);
    const char* added = other ? bytes_of(other) : nullptr;
    char* to = bytes_of(y);
    auto* moments = static_cast<float*>(moments_memory.get_data_handle());
    const Rows rows{static_cast<float*>(work_memory.get_data_handle()), strips.channels()};
#pragma omp parallel
    {
      for_strips(strips, [&](int image, int group) {
        const int begin = group * strips.lanes;
        kernels.moments(from + strips.at(image, group), strips.strip,
                        rows.of_image(image, 0, begin), rows.of_image(image, 1, begin));
      });
#pragma omp for schedule(static)
      for (int group = 0; group < strips.groups; ++group) finish_group(group, rows, moments);
      for_strips(strips, [&](int image, int group) {
        const int begin = group * strips.lanes;
        const std::int64_t at = strips.at(image, group);
        kernels.normalise(from + at, added != nullptr ? added + at : nullptr, to + at, strips.strip,
                          {moments + begin, rows.factor(strips.images, 0, begin),
                           rows.factor(strips.images, 1, begin), slope});
      });
    }
  });
  return made;
}

TrainingPlan::Tensor TrainingPlan::normalisation_back(const Convolution& conv, int layer,
                                                      const Normalisation& normalisation,
                                                      const Tensor& gradient) {
  const Strips strips = strips_of(normalisation.x.desc);
  const Tensor result = new_tensor(normalisation.x.desc);
  const Tensor work =
      new_tensor({{(2 * images_ + kFactorRows) * strips.channels()}, Type::f32, Tag::x});
  // The other input of a fused sum gets the gradient with respect to the activation's input.
  const bool keeps = normalisation.other_input && normalisation.slope != 1.0F;
  Tensor kept = gradient;
  if (keeps) kept = new_tensor(normalisation.x.desc);
  const float* parameters = buffers_.parameters + parameters_[layer].others;
  float* gradients = buffers_.gradients + parameters_[layer].others;

  const auto finish_group = [=, filters = conv.filters](int group, const Rows& rows,
                                                        const float* moments) {
    const int begin = group * strips.lanes;
    Sums sums{};
    Sums products{};
    for (int image = 0; image < strips.images; ++image)
      for (int lane = 0; lane < strips.lanes; ++lane) {
        sums[lane] += double{rows.of_image(image, 0, begin)[lane]};
        products[lane] += double{rows.of_image(image, 1, begin)[lane]};
      }
    for (int lane = 0; lane < strips.lanes; ++lane) {
      const int f = begin + lane;
      const double inverse = double{moments[strips.channels() + f]};
      const double factor = f < filters ? double{parameters[f]} * inverse : 0;
      rows.factor(strips.images, 0, 0)[f] = static_cast<float>(factor);
      rows.factor(strips.images, 1, 0)[f] =
          static_cast<float>(-factor * inverse * inverse * products[lane] / strips.values());
      rows.factor(strips.images, 2, 0)[f] =
          static_cast<float>(-factor * sums[lane] / strips.values());
      if (f >= filters) continue;
      gradients[f] = static_cast<float>(products[lane] * inverse);
      gradients[filters + f] = static_cast<float>(sums[lane]);
    }
  };
  steps_.push_back([=, slope = normalisation.slope,
                    kernels = normalisation_kernels(type_ == Type::bf16, strips.lanes),
                    x_memory = memory_of(normalisation.x),
                    y_memory = memory_of(normalisation.result), g_memory = memory_of(gradient),
                    kept_memory = memory_of(kept), dx_memory = memory_of(result),
                    moments_memory = memory_of(normalisation.moments),
                    work_memory = memory_of(work)](dnnl::stream& stream) {
    stream.wait();
    const char* x = bytes_of(x_memory);
    const char* y = bytes_of(y_memory);
    const char* g = bytes_of(g_memory);
    char* keep = bytes_of(kept_memory);
    char* dx = bytes_of(dx_memory);
    const auto* moments = static_cast<const float*>(moments_memory.get_data_handle());
    const Rows rows{static_cast<float*>(work_memory.get_data_handle()), strips.channels()};
#pragma omp parallel
    {
      for_strips(strips, [&](int image, int group) {
        const int begin = group * strips.lanes;
        const std::int64_t at = strips.at(image, group);
        kernels.gradient_sums(x + at, y + at, g + at, keeps ? keep + at : nullptr, strips.strip,
                              moments + begin, slope, rows.of_image(image, 0, begin),
                              rows.of_image(image, 1, begin));
      });
#pragma omp for schedule(static)
      for (int group = 0; group < strips.groups; ++group) finish_group(group, rows, moments);
      for_strips(strips, [&](int image, int group) {
        const int begin = group * strips.lanes;
        const std::int64_t at = strips.at(image, group);
        kernels.gradient(x + at, y + at, keep + at, dx + at, strips.strip,
                         {moments + begin, rows.factor(strips.images, 0, begin),
                          rows.factor(strips.images, 1, begin),
                          rows.factor(strips.images, 2, begin), keeps ? 1.0F : slope});
      });
    }
  });
  if (normalisation.other_input) contribute(*normalisation.other_input, kept);
  return result;
}

}  // namespace doetune::workloads::onednn
