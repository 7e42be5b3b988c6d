#include "runner/launchers/served_launcher.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "runner/attempts/placement.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr double kServedHeartbeat_s = 2;
constexpr double kServedLook_s = 0.05;  ///< between looks at the directories of runs

AttemptEnd end_by(EndCause cause, const std::string& detail) {
  AttemptEnd end;
  end.cause = cause;
  end.detail = detail;
  return end;
}

}  // namespace

void ServedLauncher::submit(const Attempt& given) {
  if (given.server.empty()) return servers_->submit(given);
  Attempt attempt = given;
  attempt.heartbeat_s = std::min(attempt.heartbeat_s, kServedHeartbeat_s);
  try {
    write_attempt(attempt);
    place_run(attempt.server, attempt.directory);
    runs_.emplace(attempt.name, Placed{{attempt.directory, attempt.heartbeat_s, monotonic_s()}});
  } catch (const study::DirectoryError& error) {
    events_.push_back({attempt.name, "", end_by(EndCause::kNotStarted, error.what())});
  }
}

bool ServedLauncher::resume(const Attempt& attempt) {
  if (attempt.server.empty()) return servers_->resume(attempt);
  const AttemptWatch watch(attempt.directory, attempt.heartbeat_s, monotonic_s());
  if (watch.fenced() || (!watch.claimed() && watch.fence())) return false;
  runs_.emplace(attempt.name, Placed{watch});
  return true;
}

std::optional<std::vector<LauncherEvent>> ServedLauncher::wait(double timeout_s, int wake) {
  if (!runs_.empty()) timeout_s = std::min(timeout_s, kServedLook_s);
  auto events = servers_->wait(events_.empty() ? timeout_s : 0, wake);
  look();
  if (!events && events_.empty()) return std::nullopt;
  std::vector<LauncherEvent> all = std::exchange(events_, {});
  if (events) std::move(events->begin(), events->end(), std::back_inserter(all));
  return all;
}

void ServedLauncher::cancel(const std::string& attempt) {
  const auto found = runs_.find(attempt);
  if (found == runs_.end()) return servers_->cancel(attempt);
  if (std::exchange(found->second.cancelled, true) || !found->second.watch.fence()) return;
  events_.push_back({attempt, "", end_by(EndCause::kCancelled, "")});
  runs_.erase(found);
}

void ServedLauncher::look() {
  for (auto entry = runs_.begin(); entry != runs_.end();) {
    auto& [name, run] = *entry;
    if (run.watch.ended()) {
      const AttemptEnd reported = *read_end(run.watch.directory());
      std::optional<AttemptEnd> meant;
      if (was_stopped(reported)) meant = end_of_stopped(reported, run.cancelled);
      events_.push_back({name, "", std::move(meant)});
    } else if (!run.watch.beating(monotonic_s())) {
      run.watch.ask_to_stop();
      events_.push_back({name, "",
                         run.cancelled ? end_by(EndCause::kCancelled, "")
                                       : end_by(EndCause::kLost, "its heartbeat has stopped")});
    } else {
      ++entry;
      continue;
    }
    entry = runs_.erase(entry);
  }
}

}  // namespace doetune::runner
