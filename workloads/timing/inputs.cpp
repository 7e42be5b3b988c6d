#include "workloads/timing/inputs.h"

#include "workloads/ceilings/ceilings.h"
#include "workloads/stream/executor_pool.h"

namespace doetune::workloads {
namespace {

constexpr double kTera = 1e12;
constexpr double kGiga = 1e9;

std::vector<std::string> device_names() {
  std::vector<std::string> names{"auto"};
  for (const EngineType& type : engine_types()) names.emplace_back(type.device);
  return names;
}

}  // namespace

Input categories(std::string name, std::vector<std::string> levels, std::string description) {
  std::string first = levels.front();
  return {
      std::move(name),  InputKind::categorical, std::move(first), std::move(description), "", 0, 0,
      std::move(levels)};
}

Input precision_input() {
  return categories("precision", {"fp32", "tf32", "bf16", "fp16"}, "of the numbers; sums are fp32");
}

std::vector<Input> with_timing_inputs(std::vector<Input> own) {
  using enum InputKind;
  for (Input& input : std::vector<Input>{
           categories("device", device_names(), "where it runs"),
           {"threads", integer, nullptr, "CPU threads; default: one a core", "", 1, 1024},
           {"warmup", continuous, 0.5, "least time before the measurement", "s", 0, 3600},
           {"duration", continuous, 2.0, "least time to measure", "s", 0, 86400},
           categories("roofline", {"cached", "measure", "off"},
                      "the device's ceilings: measured once and kept, measured now, or none")})
    own.push_back(std::move(input));
  return own;
}

int threads_of(const Request& request) {
  return request.inputs.has("threads") ? request.inputs.integer("threads")
                                       : static_cast<int>(usable_cpus(request.cpus).size());
}

std::optional<Ceilings> ceilings_for(const Request& request, Precision precision) {
  const Inputs& in = request.inputs;
  if (in.text("roofline") == "off") return std::nullopt;
  return ceilings_of(in.text("device"), precision, threads_of(request), cache_directory(),
                     in.text("roofline") == "measure" ? Renewal::always : Renewal::if_needed);
}

void add_roofline(const std::optional<Ceilings>& ceilings, double least_s,
                  std::vector<Derived>& responses) {
  if (ceilings)
    responses.push_back({"roofline_fraction", [=](double seconds) { return least_s / seconds; }});
}

void add_ceiling_notes(const std::optional<Ceilings>& ceilings, Result& result) {
  if (!ceilings) {
    result.notes["roofline_fraction"] = "roofline is off";
    return;
  }
  result.notes["ceiling_tflop_per_s"] = ceilings->operations_per_s / kTera;
  result.notes["ceiling_gb_per_s"] = ceilings->bytes_per_s / kGiga;
}

}  // namespace doetune::workloads
