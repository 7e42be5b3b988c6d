#include "runner/telemetry/nvml_library.h"

#include <fmt/format.h>

namespace doetune::runner::nvml {

Functions::Functions(const std::string& file)
    : file_(::dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL)) {
  if (file_ != nullptr) return;
  const char* why = ::dlerror();
  problem = fmt::format("NVML cannot be opened: {}", why == nullptr ? file : why);
}

Functions::~Functions() {
  if (file_ != nullptr) ::dlclose(file_);
}

std::string Functions::explain(Return status) const {
  using ErrorString = const char* (*)(Return);
  const auto text =
      file_ == nullptr ? nullptr : reinterpret_cast<ErrorString>(::dlsym(file_, "nvmlErrorString"));
  return text == nullptr ? fmt::format("NVML error {}", status) : text(status);
}

}  // namespace doetune::runner::nvml
