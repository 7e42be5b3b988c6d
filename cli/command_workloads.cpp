#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/terminal.h"
#include "runner/attempts/workload.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kWorkloadIndent = 26;  // of what is said of a name

std::string range_text(const runner::WorkloadFactor& factor) {
  if (!factor.levels.empty()) return fmt::format("{}", fmt::join(factor.levels, " | "));
  if (factor.low && factor.high) return fmt::format("{} to {}", *factor.low, *factor.high);
  return "";
}

/// "1 to 16 Hz, default 5".
std::string facts_of(const runner::WorkloadFactor& factor) {
  std::string facts = range_text(factor);
  if (!factor.unit.empty()) facts += (facts.empty() ? "" : " ") + factor.unit;
  if (!factor.default_text.empty() && factor.default_text != "null")
    facts += (facts.empty() ? "default " : ", default ") + factor.default_text;
  return facts;
}

void print_entry(const std::string& name, const std::string& facts, const std::string& what) {
  fmt::print("  {:<{}} {}\n", name, kWorkloadIndent - 3,
             wrapped(facts.empty() ? what : facts, kWorkloadIndent, kColumns));
  if (!facts.empty())
    fmt::print("{:{}}{}\n", "", kWorkloadIndent, wrapped(what, kWorkloadIndent, kColumns));
}

void print_workload(const runner::WorkloadDescription& workload) {
  fmt::print("{}: {}\n\n  Factors or settings:\n", coloured(workload.name, Colour::kStrong),
             wrapped(workload.summary, 2, kColumns - workload.name.size()));
  for (const runner::WorkloadFactor& factor : workload.factors) {
    print_entry(factor.name, facts_of(factor), factor.description);
  }
  fmt::print("\n  Responses:\n");
  for (const runner::WorkloadResponse& response : workload.responses) {
    print_entry(response.name, response.unit == "1" ? "" : response.unit, response.description);
  }
  fmt::print("\n");
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
