// cuDNN's part: plain loops in double precision in the place of its convolutions. Of the graphs
// only the handles exist; whether cuDNN accepts them is tested with cuDNN itself
// (test_cudnn_graphs.cpp).
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cudnn.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <map>

#include "host_gpu.h"
#include "machine.h"
#include "workloads/engines/cudnn/engines.h"

struct cudnnContext {
  cudaStream_t stream = nullptr;
  const void* context = nullptr;
};

namespace doetune::host_gpu {
namespace {

using namespace workloads;
using namespace workloads::cudnn;

constexpr std::int64_t kPrecompiled = 10;      // engines, as many as cuDNN proposes for most cases
constexpr std::int64_t kWorkspaceBytes = 256;  // times the index of the engine

std::map<std::int64_t, double>& engine_seconds() {
  static std::map<std::int64_t, double> seconds;
  return seconds;
}

/// A tensor of numbers of a precision, in memory of the device.
struct Numbers {
  Precision precision;
  void* data;

  double at(std::int64_t i) const {
    if (precision == Precision::bf16) return __bfloat162float(static_cast<__nv_bfloat16*>(data)[i]);
    if (precision == Precision::fp16) return __half2float(static_cast<__half*>(data)[i]);
    return static_cast<float*>(data)[i];
  }
  void set(std::int64_t i, double value) const {
    const auto number = static_cast<float>(value);
    if (precision == Precision::bf16)
      static_cast<__nv_bfloat16*>(data)[i] = __float2bfloat16_rn(number);
    else if (precision == Precision::fp16)
      static_cast<__half*>(data)[i] = __float2half_rn(number);
    else
      static_cast<float*>(data)[i] = number;
  }
};

std::int64_t pixels_of(const ConvolutionCase& c, const Shape& shape) {
  return std::int64_t{c.images} * shape.height * shape.width;
}

/// Pixels of a tensor, without what lies between them.
std::vector<double> pixels(const ConvolutionCase& c, const Shape& shape, int pitch, void* data) {
  const Numbers numbers{c.precision, data};
  std::vector<double> values(static_cast<std::size_t>(pixels_of(c, shape) * shape.channels));
  double* to = values.data();
  for (std::int64_t pixel = 0; pixel < pixels_of(c, shape); ++pixel)
    for (int channel = 0; channel < shape.channels; ++channel)
      *to++ = numbers.at(pixel * pitch + channel);
  return values;
}

void write_pixels(const ConvolutionCase& c, const Shape& shape, int pitch,
                  const std::vector<double>& values, void* data) {
  const Numbers numbers{c.precision, data};
  const double* from = values.data();
  for (std::int64_t pixel = 0; pixel < pixels_of(c, shape); ++pixel)
    for (int channel = 0; channel < shape.channels; ++channel)
      numbers.set(pixel * pitch + channel, *from++);
}

/// Calls work(output pixel, input pixel, position in the window) for all pairs that meet.
template <class Work>
void for_pairs(const ConvolutionCase& c, Work work) {
  std::int64_t out = 0;
  for (int image = 0; image < c.images; ++image)
    for (int y = 0; y < c.output.height; ++y)
      for (int x = 0; x < c.output.width; ++x, ++out)
        for (int ky = 0; ky < c.kernel.height; ++ky)
          for (int kx = 0; kx < c.kernel.width; ++kx) {
            const int from_y = y * c.stride - c.pad.height + ky;
            const int from_x = x * c.stride - c.pad.width + kx;
            if (from_y < 0 || from_y >= c.input.height || from_x < 0 || from_x >= c.input.width)
              continue;
            const std::int64_t in =
                (std::int64_t{image} * c.input.height + from_y) * c.input.width + from_x;
            work(out, in, ky * c.kernel.width + kx);
          }
}

/// filters x window x inputs, and the same with filters and inputs exchanged.
struct Filters {
  std::vector<double> values, transposed;
};

Filters filters_of(const ConvolutionCase& c, void* data) {
  const int window = c.kernel.height * c.kernel.width;
  const auto inputs = static_cast<std::int64_t>(c.input.channels);
  const auto filters = static_cast<std::int64_t>(c.output.channels);
  const Numbers numbers{c.precision, data};
  Filters all;
  all.values.resize(static_cast<std::size_t>(filters * window * inputs));
  all.transposed.resize(all.values.size());
  for (std::int64_t f = 0; f < filters; ++f)
    for (std::int64_t at = 0; at < window; ++at)
      for (std::int64_t i = 0; i < inputs; ++i) {
        const double value = numbers.at((f * window + at) * inputs + i);
        all.values[static_cast<std::size_t>((f * window + at) * inputs + i)] = value;
        all.transposed[static_cast<std::size_t>((i * window + at) * filters + f)] = value;
      }
  return all;
}

void add_scaled(double factor, const double* from, int count, double* to) {
  for (int i = 0; i < count; ++i) to[i] += factor * from[i];
}

double activated(Activation activation, double value) {
  return value < 0 ? value * static_cast<double>(negative_slope(activation)) : value;
}

void forward(const ConvolutionCase& c, const Plan::Pointers& at) {
  const std::vector<double> in = pixels(c, c.input, c.input_pitch, at.input);
  const Filters filters = filters_of(c, at.weights);
  const int inputs = c.input.channels;
  const int outputs = c.output.channels;
  const std::int64_t window = std::int64_t{c.kernel.height} * c.kernel.width;
  std::vector<double> out(static_cast<std::size_t>(pixels_of(c, c.output) * outputs), 0.0);
  for_pairs(c, [&](std::int64_t to, std::int64_t from, int position) {
    for (int i = 0; i < inputs; ++i)
      add_scaled(in[static_cast<std::size_t>(from * inputs + i)],
                 &filters.transposed[static_cast<std::size_t>((i * window + position) * outputs)],
                 outputs, &out[static_cast<std::size_t>(to * outputs)]);
  });
  if (c.pass == Pass::forward) {
    const bool adds = c.residual_pitch > 0;
    const auto residual =
        adds ? pixels(c, c.output, c.residual_pitch, at.residual) : std::vector<double>();
    const Numbers bias{c.precision, at.bias};
    for (std::size_t i = 0; i < out.size(); ++i)
      out[i] = activated(c.activation, out[i] + (adds ? residual[i] : 0.0) +
                                           bias.at(static_cast<std::int64_t>(i) % outputs));
  }
  write_pixels(c, c.output, c.output_pitch, out, at.output);
}

void backward_data(const ConvolutionCase& c, const Plan::Pointers& at) {
  const std::vector<double> back = pixels(c, c.output, c.output_pitch, at.output);
  const Filters filters = filters_of(c, at.weights);
  const int inputs = c.input.channels;
  const int outputs = c.output.channels;
  const std::int64_t window = std::int64_t{c.kernel.height} * c.kernel.width;
  std::vector<double> to(static_cast<std::size_t>(pixels_of(c, c.input) * inputs), 0.0);
  for_pairs(c, [&](std::int64_t out, std::int64_t in, int position) {
    for (int f = 0; f < outputs; ++f)
      add_scaled(back[static_cast<std::size_t>(out * outputs + f)],
                 &filters.values[static_cast<std::size_t>((f * window + position) * inputs)],
                 inputs, &to[static_cast<std::size_t>(in * inputs)]);
  });
  write_pixels(c, c.input, c.input_pitch, to, at.input);
}

void backward_filter(const ConvolutionCase& c, const Plan::Pointers& at) {
  const std::vector<double> in = pixels(c, c.input, c.input_pitch, at.input);
  const std::vector<double> back = pixels(c, c.output, c.output_pitch, at.output);
  const int inputs = c.input.channels;
  const int outputs = c.output.channels;
  const std::int64_t window = std::int64_t{c.kernel.height} * c.kernel.width;
  std::vector<double> to(static_cast<std::size_t>(outputs * window * inputs), 0.0);
  for_pairs(c, [&](std::int64_t out, std::int64_t from, int position) {
    for (int f = 0; f < outputs; ++f)
      add_scaled(back[static_cast<std::size_t>(out * outputs + f)],
                 &in[static_cast<std::size_t>(from * inputs)], inputs,
                 &to[static_cast<std::size_t>((f * window + position) * inputs)]);
  });
  const Numbers weights{c.precision, at.weights};
  for (std::size_t i = 0; i < to.size(); ++i) weights.set(static_cast<std::int64_t>(i), to[i]);
}

void run_convolution(const ConvolutionCase& c, const Plan::Pointers& at, std::int64_t workspace) {
  const auto seconds = engine_seconds().find(workspace / kWorkspaceBytes);
  if (seconds != engine_seconds().end()) pass(seconds->second);
  // What a workspace overlaps is lost.
  if (workspace > 0) std::memset(at.workspace, 0xFF, static_cast<std::size_t>(workspace));
  if (c.pass == Pass::backward_data) return backward_data(c, at);
  if (c.pass == Pass::backward_filter) return backward_filter(c, at);
  forward(c, at);
}

}  // namespace

void set_engine_seconds(std::int64_t engine, double seconds) {
  const std::lock_guard lock(machine());
  engine_seconds()[engine] = seconds;
}

}  // namespace doetune::host_gpu

namespace doetune::workloads::cudnn {

using namespace doetune::host_gpu;

Descriptor device_properties(std::string_view) { throw std::logic_error("there is no cuDNN"); }

/// As cuDNN for an H200: no precompiled engine applies leaky ReLU, and one that is compiled at run
/// time can do everything.
std::vector<Candidate> candidates(const ConvolutionCase& problem, const Target&) {
  std::vector<Candidate> found;
  const bool leaky = problem.activation == Activation::leaky;
  for (std::int64_t engine = 0; engine < kPrecompiled && !leaky; ++engine)
    found.push_back({{engine, {}}, false});
  if (problem.pass == Pass::forward && has_more_than_bias(problem))
    found.push_back({{kCompiledAtRunTime, {}}, true});
  return found;
}

Plan::Plan(const ConvolutionCase& problem, const EngineConfiguration& configuration, const Target&)
    : problem_(problem),
      graph_(problem, nullptr),
      engine_(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
      configuration_(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
      plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR),
      workspace_bytes_(configuration.engine * kWorkspaceBytes) {}

void Plan::run(cudnnHandle_t handle, const Pointers& pointers) const {
  submit(handle->stream, [problem = problem_, pointers, workspace = workspace_bytes_] {
    run_convolution(problem, pointers, workspace);
  });
}

}  // namespace doetune::workloads::cudnn

// -- cuDNN's handles and descriptors --------------------------------------------------------------

using namespace doetune::host_gpu;

cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  if (!can_create()) return CUDNN_STATUS_NOT_INITIALIZED;
  *handle = new cudnnContext{nullptr, current_context()};
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  delete handle;
  return CUDNN_STATUS_SUCCESS;
}

/// "Mismatch between the user stream and the cuDNN handle context."
cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  if (context_of(stream) != handle->context) return CUDNN_STATUS_MAPPING_ERROR;
  handle->stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

std::size_t cudnnGetVersion() { return 91900; }
const char* cudnnGetErrorString(cudnnStatus_t) { return "an error of the host GPU"; }
void cudnnGetLastErrorString(char* text, std::size_t size) {
  if (size > 0) *text = '\0';
}

cudnnStatus_t cudnnBackendCreateDescriptor(cudnnBackendDescriptorType_t,
                                           cudnnBackendDescriptor_t* made) {
  *made = new char;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendDestroyDescriptor(cudnnBackendDescriptor_t descriptor) {
  delete static_cast<char*>(descriptor);
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendSetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, std::int64_t, const void*) {
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendGetAttribute(cudnnBackendDescriptor_t, cudnnBackendAttributeName_t,
                                       cudnnBackendAttributeType_t, std::int64_t,
                                       std::int64_t* count, void*) {
  *count = 0;
  return CUDNN_STATUS_SUCCESS;
}
cudnnStatus_t cudnnBackendFinalize(cudnnBackendDescriptor_t) { return CUDNN_STATUS_SUCCESS; }
