#include "runner/loop/whole_plots.h"

#include <algorithm>

#include "base/clock.h"

namespace doetune::runner {
namespace {

constexpr double kServerEnd_s = 0.2;         ///< for the end of a server that made its run fail
constexpr double kServerEndElsewhere_s = 1;  ///< for that of one on another host

}  // namespace

bool WholePlots::may_set_up(std::size_t index) const {
  const int plot = plot_at(index);
  const auto retried = set_up_again_.find(plot);
  return !servers_.has(plot) && (retried == set_up_again_.end() || retried->second == index);
}

std::optional<double> WholePlots::began(int plot) {
  in_use_.insert(plot);
  const auto found = set_up_s_.find(plot);
  if (found == set_up_s_.end()) return std::nullopt;
  const double seconds = found->second;
  set_up_s_.erase(found);
  return seconds;
}

void WholePlots::await_end(std::vector<LauncherEvent>& events) {
  const double pause_s = launcher_.is_local() ? kServerEnd_s : kServerEndElsewhere_s;
  const double until_s = monotonic_s() + pause_s;
  const auto is_of_server = [&](const LauncherEvent& event) { return servers_.has(event.attempt); };
  while (monotonic_s() < until_s && std::none_of(events.begin(), events.end(), is_of_server)) {
    const auto more = launcher_.wait(std::max(0.0, until_s - monotonic_s()), -1);
    if (more) events.insert(events.end(), more->begin(), more->end());
  }
}

std::size_t WholePlots::left(const Schedule& schedule) const {
  std::set<int> plots;
  for (const std::size_t index : schedule.indices()) plots.insert(plot_at(index));
  for (const int plot : servers_.plots()) plots.erase(plot);
  return plots.size();
}

void WholePlots::ready(const ServerEvent& event) {
  set_up_s_[event.plot] = event.set_up_s;
  set_up_again_.erase(event.plot);
}

std::optional<std::size_t> WholePlots::waiting_for(int plot, const Schedule& schedule) const {
  const auto retried = set_up_again_.find(plot);
  return schedule.first([&](std::size_t index) {
    return plot_at(index) == plot && (retried == set_up_again_.end() || retried->second == index);
  });
}

void WholePlots::not_set_up(std::size_t index, study::RunStatus status, bool again) {
  const study::PlannedRun& run = directory_.plan.runs[index];
  if (again) {
    set_up_again_[plot_of(run)] = index;
    return;
  }
  set_up_again_.erase(plot_of(run));
  if (status != study::RunStatus::kInfeasible) without_server_[plot_of(run)] = run.run;
}

void WholePlots::not_executed(std::size_t index) {
  const auto retried = set_up_again_.find(plot_at(index));
  if (retried != set_up_again_.end() && retried->second == index) set_up_again_.erase(retried);
}

std::optional<int> WholePlots::without_server(const study::PlannedRun& run) const {
  const auto found = without_server_.find(plot_of(run));
  return found == without_server_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace doetune::runner
