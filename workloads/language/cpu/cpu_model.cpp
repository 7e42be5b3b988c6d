#include "workloads/language/cpu/cpu_model.h"

#include <fmt/format.h>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/language/cpu/cpu_decoder.h"
#include "workloads/language/cpu/cpu_weights.h"

namespace doetune::workloads {
namespace {

class CpuModel final : public LanguageModel {
 public:
  CpuModel(const DecoderShape& shape, std::uint64_t seed, Precision precision, int threads)
      : shape_(shape), weights_(shape, seed, precision, threads) {}

  std::unique_ptr<Decoder> decoder(const DecoderOptions& options) const override {
    return onednn::translated(
        [&] { return std::make_unique<language::CpuDecoder>(shape_, weights_, options); });
  }

  std::int64_t weight_bytes() const override { return weights_.bytes(); }

  std::string description() const override {
    const dnnl_version_t* version = dnnl_version();
    return fmt::format("oneDNN {}.{}.{}", version->major, version->minor, version->patch);
  }

 private:
  DecoderShape shape_;
  language::CpuWeights weights_;
};

}  // namespace

std::unique_ptr<LanguageModel> make_cpu_language_model(const DecoderShape& shape,
                                                       std::uint64_t seed, Precision precision,
                                                       int threads) {
  if (precision != Precision::fp32 && precision != Precision::bf16)
    throw CannotRun(fmt::format("weights on the CPU are fp32 or bf16, not {}", name_of(precision)));
  return onednn::translated(
      [&] { return std::make_unique<CpuModel>(shape, seed, precision, threads); });
}

}  // namespace doetune::workloads
