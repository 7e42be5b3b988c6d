// The inputs and responses of stream-inference.
#pragma once

#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

inline constexpr int kMaxChannels = 100'000;

std::vector<Input> stream_inputs();
std::vector<Response> stream_responses();

}  // namespace doetune::workloads
