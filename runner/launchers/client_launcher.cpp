#include "runner/launchers/client_launcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "base/clock.h"
#include "runner/attempts/attempt_file.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

constexpr double kHeartbeat_s = 2;  ///< also the delay until a `cancel` file is noticed
constexpr double kLook_s = 1;

}  // namespace

bool ClientLauncher::prepare(Attempt& attempt) {
  attempt.heartbeat_s = std::min(attempt.heartbeat_s, kHeartbeat_s);
  try {
    write_attempt(attempt);
    return true;
  } catch (const study::DirectoryError& error) {
    AttemptEnd failed;
    failed.cause = EndCause::kNotStarted;
    failed.detail = error.what();
    events_.push_back({attempt.name, "", failed});
    return false;
  }
}

void ClientLauncher::submit(const Attempt& given) {
  Attempt attempt = given;
  if (going_.count(attempt.name) == 0 && prepare(attempt)) begin(attempt);
}

void ClientLauncher::begin(const Attempt& attempt) {
  const auto [entry, added] = going_.emplace(
      attempt.name, Going{attempt, {attempt.directory, attempt.heartbeat_s, monotonic_s()}});
  if (added) entry->second.client = start_client(attempt);
}

std::optional<int> ClientLauncher::start_client(const Attempt& attempt) {
  const std::string name = attempt.name;
  return commands_.start(client(attempt), std::numeric_limits<double>::infinity(),
                         [this, name](const ClientAnswer& answer) { client_ended(name, answer); });
}

bool ClientLauncher::resume(const Attempt& attempt) {
  const AttemptWatch watch(attempt.directory, attempt.heartbeat_s, monotonic_s());
  if (watch.fenced()) return false;
  if (!watch.claimed() && watch.fence()) return false;  // its client died with the earlier doetune
  going_.emplace(attempt.name, Going{attempt, watch});
  return true;
}

std::optional<std::vector<LauncherEvent>> ClientLauncher::wait(double timeout_s, int wake) {
  double until_s = monotonic_s() + timeout_s;
  if (!going_.empty()) until_s = std::min(until_s, look_due_s_);
  commands_.wait(events_.empty() ? until_s : 0, wake);
  if (monotonic_s() >= look_due_s_) look();
  return std::exchange(events_, {});
}

void ClientLauncher::cancel(const std::string& attempt) {
  const auto found = going_.find(attempt);
  if (found == going_.end() || found->second.cancelled) return;
  found->second.cancelled = true;
  if (!found->second.watch.fence()) return;  // it has begun, and was asked to stop
  AttemptEnd cancelled;
  cancelled.cause = EndCause::kCancelled;
  end(attempt, cancelled);
  erase(attempt);
}

void ClientLauncher::client_ended(const std::string& attempt, const ClientAnswer& answer) {
  const auto found = going_.find(attempt);
  if (found == going_.end()) return;
  Going& going = found->second;
  going.client.reset();
  going.words = answer.words();
  if (report_if_ended(attempt) || going.watch.claimed()) return;
  if (!going.cancelled && take_back(going.attempt, answer, going.stopped)) {
    erase(attempt);
    return;
  }
  if (!going.watch.fence()) return;
  end(attempt, not_begun(going.attempt, answer));
  erase(attempt);
}

/// Returns whether `exit` exists.
bool ClientLauncher::report_if_ended(const std::string& attempt) {
  const Going& going = going_.at(attempt);
  if (!going.watch.ended()) return false;
  had_begun(going.attempt.host);
  const AttemptEnd reported = *read_end(going.watch.directory());
  std::optional<AttemptEnd> meant;
  if (was_stopped(reported)) meant = end_of_stopped(reported, going.cancelled);
  events_.push_back({attempt, "", std::move(meant)});
  erase(attempt);
  return true;
}

/// Checks the attempts without news from their clients: `exit` files, and heartbeats that stopped.
void ClientLauncher::look() {
  std::vector<std::string> names;
  for (const auto& [name, going] : going_) names.push_back(name);
  for (const std::string& name : names) {
    Going& going = going_.at(name);
    if (report_if_ended(name)) continue;
    std::optional<AttemptEnd> known;
    if (going.watch.claimed()) known = known_end(going.attempt);
    if (!known && going.watch.beating(monotonic_s())) continue;
    going.watch.ask_to_stop();
    AttemptEnd over = known.value_or(silent_end(going));
    if (going.cancelled) over.cause = EndCause::kCancelled;
    end(name, over);
    erase(name);
  }
  look_due_s_ = monotonic_s() + kLook_s;
}

AttemptEnd ClientLauncher::silent_end(const Going& going) {
  AttemptEnd lost;
  lost.host = going.attempt.host;
  lost.detail =
      fmt::format("its heartbeat has stopped{}{}", going.words.empty() ? "" : "; ", going.words);
  return lost;
}

void ClientLauncher::end(const std::string& attempt, AttemptEnd end) {
  events_.push_back({attempt, "", std::move(end)});
}

bool ClientLauncher::has_begun(const std::string& attempt) const {
  const auto found = going_.find(attempt);
  return found != going_.end() && found->second.watch.claimed();
}

bool ClientLauncher::any_begun() const {
  return std::any_of(going_.begin(), going_.end(),
                     [](const auto& entry) { return entry.second.watch.claimed(); });
}

bool ClientLauncher::has_client(const std::string& attempt) const {
  const auto found = going_.find(attempt);
  return found != going_.end() && found->second.client;
}

bool ClientLauncher::any_client() const {
  return std::any_of(going_.begin(), going_.end(),
                     [](const auto& entry) { return entry.second.client.has_value(); });
}

std::vector<Attempt> ClientLauncher::not_claimed() const {
  std::vector<Attempt> attempts;
  for (const auto& [name, going] : going_) {
    if (!going.watch.claimed()) attempts.push_back(going.attempt);
  }
  return attempts;
}

void ClientLauncher::stop_clients() {
  for (auto& [name, going] : going_) {
    if (!going.client) continue;
    commands_.stop(*going.client);
    going.stopped = true;
  }
}

void ClientLauncher::erase(const std::string& attempt) {
  const auto found = going_.find(attempt);
  if (found->second.client) commands_.stop(*found->second.client);
  const Attempt dismissed = std::move(found->second.attempt);
  going_.erase(found);
  dismiss(dismissed);
}

}  // namespace doetune::runner
