#include "workloads/language/decoder.h"

#include "workloads/cuda/cuda_library.h"
#include "workloads/language/cpu/cpu_model.h"

namespace doetune::workloads {

std::vector<std::string> language_devices() { return {"cpu", "cuda"}; }

std::unique_ptr<LanguageModel> make_language_model(std::string_view device,
                                                   const DecoderShape& shape, std::uint64_t seed,
                                                   Precision precision, int threads) {
  if (device == "cpu") return make_cpu_language_model(shape, seed, precision, threads);
  if (device == "cuda") return cuda_library().make_language_model(shape, seed, precision);
  throw NoDevice("there is no engine for language models on the device '" + std::string(device) +
                 "'; there are cpu and cuda");
}

}  // namespace doetune::workloads
