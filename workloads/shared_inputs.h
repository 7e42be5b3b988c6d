// Inputs common to several workloads, and the objects made from them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/memory_mapping.h"
#include "workloads/networks/network.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// A categorical input; the first level is the default.
Input categories(std::string name, std::vector<std::string> levels, std::string description);

Input model_input(std::vector<std::string> models);
Input device_input(std::string description = "device to run on");
Input precision_input(std::string description = "number format; sums are fp32");
Input threads_input();
Input weights_input();

/// The workload's own inputs, followed by `device`, `threads`, `warmup`, `duration` and `roofline`.
std::vector<Input> with_timing_inputs(std::vector<Input> own);

/// Names of all networks.
std::vector<std::string> model_names();

/// The input `threads`; by default the number of CPUs of the request.
int threads_of(const Request& request);

/// The inputs `model` and `input_size` (default: the network's own). Throws UsageError.
Network network_of(const Inputs& inputs);

/// Loads the weights from the input `weights`, or draws them from the seed. Throws WeightsError.
void fill_weights(const Request& request, const Network& network, std::span<float> block);

/// The same in a memory file that other processes can map.
FileDescriptor shared_weights(const Request& request, const Network& network);

}  // namespace doetune::workloads
