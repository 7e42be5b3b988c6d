#include "workloads/engines/cudnn/cudnn_engine.h"

#include <fmt/format.h>

#include "workloads/engines/cudnn/cudnn_network.h"
#include "workloads/engines/cudnn/cudnn_training.h"

namespace doetune::workloads {
namespace {

using namespace cudnn;

constexpr int kMinMajor =
    8;  // minimum compute capability: what the kernels are compiled for, as bf16 requires

class CudnnEngine final : public Engine {
 public:
  explicit CudnnEngine(const EngineOptions& options) {
    const Preparation alone;
    std::string why_none;
    const int gpus = visible_gpus(&why_none);
    if (gpus == 0) throw NoDevice(why_none);
    if (options.gpu < 0 || options.gpu >= gpus)
      throw NoDevice(fmt::format("there is no GPU {}; this process sees {}, numbered from 0",
                                 options.gpu, gpus));
    check(cudaSetDevice(options.gpu), "choosing the GPU");
    cudaDeviceProp properties{};
    check(cudaGetDeviceProperties(&properties, options.gpu), "asking for the GPU's properties");
    if (properties.major < kMinMajor)
      throw NoDevice(
          fmt::format("{} has compute capability {}.{}, but this build needs {}.0 or more",
                      properties.name, properties.major, properties.minor, kMinMajor));
    check(cudaFree(nullptr), "starting CUDA");  // creates the context that other libraries then use
    all_ = properties.multiProcessorCount;
    gpu_ = {options.gpu, properties.name,
            std::make_shared<const Multiprocessors>(options.gpu, options.parts, options.part)};
  }

  std::unique_ptr<CompiledNetwork> compile(const Network& network, std::span<const float> weights,
                                           const CompileOptions& options) override {
    const Preparation alone;
    gpu_.multiprocessors->enter();
    return std::make_unique<CudnnNetwork>(gpu_, network, weights, options);
  }

  std::unique_ptr<TrainableNetwork> train(const Network& network, std::span<const float> parameters,
                                          std::span<const float> statistics,
                                          const TrainingOptions& options) override {
    const Preparation alone;
    gpu_.multiprocessors->enter();
    return std::make_unique<CudnnTrainable>(gpu_, network, parameters, statistics, options);
  }

  std::string description() const override {
    const auto version = static_cast<int>(cudnnGetVersion());
    const int part = gpu_.multiprocessors->count();
    return fmt::format("cuDNN {}.{}.{} on {} ({} multiprocessors{})", version / 10000,
                       version / 100 % 100, version % 100, gpu_.name, part == 0 ? all_ : part,
                       part == 0 ? "" : fmt::format(" of {}", all_));
  }

 private:
  Gpu gpu_;
  int all_ = 0;
};

}  // namespace

std::unique_ptr<Engine> make_cudnn_engine(const EngineOptions& options) {
  return std::make_unique<CudnnEngine>(options);
}

int cudnn_devices(std::string* why_none) { return visible_gpus(why_none); }

}  // namespace doetune::workloads
