#include "workloads/timing/measured.h"

#include <fmt/format.h>

namespace doetune::workloads {
namespace {

/// Steady if all measurements are, not steady if one is not, else unknown.
std::optional<bool> steady(const std::vector<Conclusion>& measured) {
  std::optional<bool> all = true;
  for (const Conclusion& one : measured) {
    if (one.steady == false) return false;
    if (!one.steady) all.reset();
  }
  return all;
}

}  // namespace

Conclusion conclusion_of(const measurement::Measurement& times, const std::string& name,
                         std::size_t values) {
  Conclusion conclusion{{times.begin_s(), times.end_s()}, times.steady(), {}, *times.stopped_by()};
  if (conclusion.steady == false)
    conclusion.unsteady = measurement::unsteady_sentence(name, *times.steadiness(), values);
  return conclusion;
}

void note_repeats(std::size_t measured, int wanted, Result& result) {
  if (static_cast<int>(measured) < wanted)
    result.notes["repeats"] =
        fmt::format("{} of {} measurements fit into the time limit", measured, wanted);
}

void add_conclusions(const std::vector<Conclusion>& measured, int wanted, Result& result) {
  for (const Conclusion& one : measured) {
    if (one.stopped_by == measurement::StoppedBy::kTimeLimit)
      result.notes["time_limit"] = "the measurement was ended early to meet the time limit";
    if (!one.unsteady.empty()) result.notes["steady"] = one.unsteady;
  }
  note_repeats(measured.size(), wanted, result);
  result.steady = steady(measured);
  result.window = {measured.front().window.first, measured.back().window.second};
}

}  // namespace doetune::workloads
