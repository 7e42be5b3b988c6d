#include "workloads/engines/options_json.h"

namespace doetune::workloads {

nlohmann::ordered_json to_json(const CompileOptions& options) {
  return {{"batch", options.batch},
          {"precision", name_of(options.precision)},
          {"threads", options.threads},
          {"confidence_threshold", options.confidence_threshold},
          {"overlap_threshold", options.overlap_threshold}};
}

CompileOptions compile_options_from(const nlohmann::ordered_json& json) {
  return {json.at("batch"), precision_named(json.at("precision").get<std::string>()),
          json.at("threads"), json.at("confidence_threshold"), json.at("overlap_threshold")};
}

}  // namespace doetune::workloads
