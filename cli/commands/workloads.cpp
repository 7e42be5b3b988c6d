#include <fmt/format.h>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
#include "runner/attempts/workload.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kWorkloadIndent = 26;  // column of descriptions

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

using Workloads = std::vector<runner::WorkloadDescription>;

json::Format<Workloads> workloads_format() {
  using runner::WorkloadDescription, runner::WorkloadFactor, runner::WorkloadResponse;
  const auto factor = json::object<WorkloadFactor>({{"name", &WorkloadFactor::name},
                                                    {"kind", &WorkloadFactor::kind},
                                                    {"settings", range_text},
                                                    {"unit", &WorkloadFactor::unit},
                                                    {"default", &WorkloadFactor::default_text},
                                                    {"description", &WorkloadFactor::description}});
  const auto response =
      json::object<WorkloadResponse>({{"name", &WorkloadResponse::name},
                                      {"unit", &WorkloadResponse::unit},
                                      {"description", &WorkloadResponse::description}});
  const auto workload =
      json::object<WorkloadDescription>({{"name", &WorkloadDescription::name},
                                         {"summary", &WorkloadDescription::summary},
                                         {"factors", &WorkloadDescription::factors, factor},
                                         {"responses", &WorkloadDescription::responses, response}});
  return json::document<Workloads>({{"workloads", std::identity(), workload}});
}

}  // namespace

json::Schema workloads_schema() { return workloads_format().schema; }

int command_workloads(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  Workloads workloads;
  for (const std::string& name : runner::workload_names()) {
    workloads.push_back(runner::describe_workload(runner::find_workload(name)));
    if (!options.json()) print_workload(workloads.back());
  }
  if (options.json()) fmt::print("{}", workloads_format().text(workloads));
  return kDone;
}

}  // namespace doetune::cli
