#include "workloads/language/cuda/gpu_model.h"

#include <fmt/format.h>

#include "workloads/language/cuda/gpu_decoder.h"
#include "workloads/language/cuda/gpu_weights.h"

namespace doetune::workloads {
namespace {

class GpuModel final : public LanguageModel {
 public:
  GpuModel(const DecoderShape& shape, std::uint64_t seed, Precision precision)
      : shape_(shape),
        precision_(precision),
        stream_(cudnn::Multiprocessors(0)),
        weights_(shape, seed, precision, stream_) {}

  std::unique_ptr<Decoder> decoder(const DecoderOptions& options) const override {
    const cudnn::Preparation alone;
    return std::make_unique<language::GpuDecoder>(shape_, weights_, precision_, options, choices_);
  }

  std::int64_t weight_bytes() const override { return weights_.bytes(); }

  std::string description() const override {
    cudaDeviceProp properties{};
    cudnn::check(cudaGetDeviceProperties(&properties, 0), "asking for the GPU's properties");
    const std::size_t version = cublasLtGetVersion();
    return fmt::format("cublasLt {}.{}.{} on {}", version / 10000, version / 100 % 100,
                       version % 100, properties.name);
  }

 private:
  DecoderShape shape_;
  Precision precision_;
  cudnn::Stream stream_;
  language::GpuWeights weights_;
  mutable language::ProductChoices choices_;  // of the decoders that were made
};

}  // namespace

std::unique_ptr<LanguageModel> make_gpu_language_model(const DecoderShape& shape,
                                                       std::uint64_t seed, Precision precision) {
  std::string why_none;
  if (cudnn::visible_gpus(&why_none) == 0) throw NoDevice(why_none);
  if (precision != Precision::fp32 && precision != Precision::bf16)
    throw CannotRun(fmt::format("weights on a GPU are fp32 or bf16, not {}", name_of(precision)));
  const cudnn::Preparation alone;
  cudnn::Multiprocessors(0).enter();
  return std::make_unique<GpuModel>(shape, seed, precision);
}

}  // namespace doetune::workloads
