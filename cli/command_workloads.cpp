#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/terminal.h"
#include "runner/workload.h"

namespace doetune::cli {
namespace {

std::string range_text(const runner::WorkloadFactor& factor) {
  if (!factor.levels.empty()) return fmt::format("{}", fmt::join(factor.levels, " | "));
  if (factor.low && factor.high) return fmt::format("{} to {}", *factor.low, *factor.high);
  return "";
}

void print_workload(const runner::WorkloadDescription& workload) {
  fmt::print("{}: {}\n", coloured(workload.name, Colour::kStrong), workload.summary);
  TextTable factors({"factor or setting", "settings", "unit", "default", "what it is"});
  for (const runner::WorkloadFactor& factor : workload.factors) {
    factors.add(
        {factor.name, range_text(factor), factor.unit, factor.default_text, factor.description});
  }
  TextTable responses({"response", "unit", "what it is"});
  for (const runner::WorkloadResponse& response : workload.responses) {
    responses.add({response.name, response.unit, response.description});
  }
  fmt::print("{}\n{}\n", factors.str(), responses.str());
}

nlohmann::ordered_json workload_json(const runner::WorkloadDescription& workload) {
  nlohmann::ordered_json factors = nlohmann::ordered_json::array();
  for (const runner::WorkloadFactor& factor : workload.factors) {
    factors.push_back({{"name", factor.name},
                       {"kind", factor.kind},
                       {"settings", range_text(factor)},
                       {"unit", factor.unit},
                       {"default", factor.default_text},
                       {"description", factor.description}});
  }
  nlohmann::ordered_json responses = nlohmann::ordered_json::array();
  for (const runner::WorkloadResponse& response : workload.responses) {
    responses.push_back(
        {{"name", response.name}, {"unit", response.unit}, {"description", response.description}});
  }
  return {{"name", workload.name},
          {"summary", workload.summary},
          {"factors", factors},
          {"responses", responses}};
}

}  // namespace

int command_workloads(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const std::string& name : runner::workload_names()) {
    const runner::WorkloadDescription workload =
        runner::describe_workload(runner::find_workload(name));
    if (options.json()) {
      list.push_back(workload_json(workload));
    } else {
      print_workload(workload);
    }
  }
  if (options.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema_version", 1}, {"workloads", list}}.dump(2));
  }
  return kDone;
}

}  // namespace doetune::cli
