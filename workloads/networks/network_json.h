// A network as JSON, for programs that run it with other libraries.
#pragma once

#include <nlohmann/json.hpp>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// {"name", "input": [channels, height, width], "head", "parameters", "multiply_accumulates",
/// "layers": [{"op", the fields of its struct in network.h, "inputs": [index, -1 for the image],
/// "output": [channels, height, width]}]}. Extents are [height, width]. Weights belong to
/// convolutions in order, as in weights.h; an activation is its slope below zero.
nlohmann::ordered_json to_json(const Network& network);

}  // namespace doetune::workloads
