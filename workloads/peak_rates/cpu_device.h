// Matrix products by oneDNN and copies by threads, on the CPU.
#pragma once

#include <memory>

#include "workloads/peak_rates/operation.h"

namespace doetune::workloads {

std::unique_ptr<Device> open_cpu_device(int threads);

}  // namespace doetune::workloads
