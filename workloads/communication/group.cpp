#include "workloads/communication/group.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace doetune::workloads {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr auto kHelloTime = std::chrono::seconds(5);  // of a connection, to say who it is
constexpr auto kLeaveTime = std::chrono::seconds(10);
constexpr auto kReasonTime = milliseconds(1000);

[[noreturn]] void throw_as(int code, const std::string& why) {
  if (code == kExitUsage) throw UsageError(why);
  if (code == kExitInfeasible) throw Infeasible(why);
  throw std::runtime_error(why);
}

/// Containers of one machine see each other's processes only in the same space of process ids.
std::string machine() {
  std::string boot, space(256, '\0');
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot;
  const ssize_t length = readlink("/proc/self/ns/pid", space.data(), space.size());
  return boot + space.substr(0, length > 0 ? static_cast<std::size_t>(length) : 0);
}

std::optional<std::string> difference(const Json& ours, const Json& theirs) {
  if (!theirs.is_object()) return "settings";
  for (const auto& [name, value] : ours.items())
    if (!theirs.contains(name) || theirs[name] != value) return name;
  for (const auto& [name, value] : theirs.items())
    if (!ours.contains(name)) return name;
  return std::nullopt;
}

std::string shown(const Json& settings, const std::string& name) {
  return settings.is_object() && settings.contains(name) ? settings[name].dump() : "nothing";
}

/// What a rank says first; empty for a connection that is none of ours.
std::optional<Json> read_hello(int socket) {
  try {
    Json hello = Json::parse(receive_text(socket, Clock::now() + kHelloTime), nullptr, false);
    if (hello.is_object() && hello.value("doetune", Json()) == 1 &&
        hello.value("rank", Json()).is_number_integer() &&
        hello.value("ranks", Json()).is_number_integer())
      return hello;
  } catch (const std::runtime_error&) {
  }
  return std::nullopt;
}

}  // namespace

std::string rank_name(int rank, int ranks) { return fmt::format("rank {} of {}", rank, ranks); }

Group::Group(const Place& place, const Json& settings,
             std::chrono::duration<double> arrival_timeout)
    : place_(place), host_(machine()), peers_(place.ranks), gone_(place.ranks, false) {
  deadline_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(arrival_timeout);
  if (rank() == 0)
    meet_as_root(settings, deadline_);
  else
    meet_root(settings, deadline_);
}

Group::~Group() {
  if (std::uncaught_exceptions() > exceptions_)
    fail(rank_name(rank(), size()) + " ended with an error", kExitFailed);
  else
    leave();
  stop_ = true;
  if (watcher_.joinable()) watcher_.join();
}

std::vector<int> Group::missing() const {
  std::vector<int> ranks;
  for (int r = 1; r < size(); ++r)
    if (!peers_[r]) ranks.push_back(r);
  return ranks;
}

void Group::answer_all(const Json& answer) {
  for (int r = 1; r < size(); ++r) send_to(r, answer);
}

std::string Group::local_host() const {
  for (const FileDescriptor& peer : peers_)
    if (peer) return local_address(peer.get()).host;
  return "127.0.0.1";
}

/// Takes one rank in; returns what is wrong with it, if anything.
std::string Group::admit(FileDescriptor socket, const Json& hello, const Json& settings) {
  const auto theirs = hello["rank"].get<std::int64_t>();
  std::string wrong;
  if (hello["ranks"] != size())
    wrong = fmt::format("a rank of {} came to a group of {}", hello["ranks"].dump(), size());
  else if (theirs < 1 || theirs >= size() || peers_[theirs])
    wrong = fmt::format("two processes say that they are rank {} of {}", theirs, size());
  const Json given = hello.value("settings", Json());
  if (const auto name = difference(settings, given); name && wrong.empty())
    wrong = fmt::format("rank {} was started with other settings than rank 0: {} is {}, not {}",
                        theirs, *name, shown(given, *name), shown(settings, *name));
  if (theirs >= 1 && theirs < size() && !peers_[theirs])
    peers_[theirs] = std::move(socket);
  else
    send_text(socket.get(), Json{{"error", wrong}, {"code", kExitUsage}}.dump());
  return wrong;
}

void Group::meet_as_root(const Json& settings, Deadline deadline) {
  token_ = std::random_device()();
  if (size() == 1) return;
  const FileDescriptor listener =
      place_.listener >= 0 ? FileDescriptor(place_.listener) : listen_at(place_.rendezvous);
  std::string wrong;
  int code = kExitUsage;
  try {
    while (!missing().empty()) {
      FileDescriptor socket = accept_at(listener.get(), deadline);
      const auto hello = read_hello(socket.get());
      if (!hello) continue;
      const std::string reason = admit(std::move(socket), *hello, settings);
      if (wrong.empty()) wrong = reason;
    }
  } catch (const TimedOut&) {
    if (wrong.empty()) {
      wrong = fmt::format("rank {} of {} did not come to {} in time", fmt::join(missing(), ", "),
                          size(), to_text(place_.rendezvous));
      code = kExitFailed;
    }
  }
  if (wrong.empty()) return answer_all({{"token", token_}});
  answer_all({{"error", wrong}, {"code", code}});
  throw_as(code, wrong);
}

void Group::meet_root(const Json& settings, Deadline deadline) {
  const Json hello{{"doetune", 1}, {"rank", rank()}, {"ranks", size()}, {"settings", settings}};
  try {
    peers_[0] = connect_to(place_.rendezvous, deadline);
    send_text(peers_[0].get(), hello.dump());
    token_ = hear_of(0, "token", deadline + kHelloTime).get<std::uint64_t>();
  } catch (const TimedOut&) {
    throw std::runtime_error(fmt::format("rank {} did not find all of {} ranks at {} in time",
                                         rank(), size(), to_text(place_.rendezvous)));
  } catch (const Closed&) {
    throw std::runtime_error("rank 0 ended before all ranks had come");
  } catch (const Json::exception&) {
    throw std::runtime_error(to_text(place_.rendezvous) +
                             " does not answer as doetune does: another port, maybe");
  }
}

Json Group::hear_of(int from, const char* what, Deadline deadline) {
  const Json message = Json::parse(receive_text(peers_[from].get(), deadline));
  if (message.contains("error"))
    throw_as(message.value("code", kExitFailed), message.value("error", ""));
  return message.at(what);
}

std::vector<std::string> Group::gather(const std::string& mine) {
  int from = 0;
  try {
    if (rank() != 0) {
      send_text(peers_[0].get(), Json{{"text", mine}}.dump());
      return hear_of(0, "texts", deadline_ + kHelloTime).get<std::vector<std::string>>();
    }
    std::vector<std::string> all{mine};
    for (from = 1; from < size(); ++from) all.push_back(hear_of(from, "text", deadline_));
    answer_all({{"texts", all}});
    return all;
  } catch (const Closed&) {
    set_failure({rank_name(from, size()) + " died while the ranks met", kExitFailed});
  } catch (const UsageError& error) {
    set_failure({error.what(), kExitUsage});
  } catch (const Infeasible& error) {
    set_failure({error.what(), kExitInfeasible});
  } catch (const std::exception& error) {
    set_failure({error.what(), kExitFailed});
  }
  check();
  throw std::logic_error("gather: no failure");
}

void Group::send_to(int to, const Json& message) {
  const std::lock_guard lock(sending_);
  try {
    if (peers_[to]) send_text(peers_[to].get(), message.dump());
  } catch (const Closed&) {  // the watch notices
  }
}

void Group::set_failure(Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = failure;
    failed_ = true;
  }
  changed_.notify_all();
  if (rank() == 0) answer_all({{"error", failure.why}, {"code", failure.code}});
}

void Group::watch() {
  if (!watcher_.joinable()) watcher_ = std::thread([this] { listen(); });
}

void Group::listen() {
  std::vector<pollfd> waiting;
  for (const FileDescriptor& peer : peers_) waiting.push_back({peer.get(), POLLIN, 0});
  while (!stop_ && !failed_) {
    if (poll(waiting.data(), waiting.size(), 50) <= 0) continue;
    for (int r = 0; r < size() && !failed_ && !stop_; ++r)
      if (waiting[r].revents != 0) hear(r);
  }
}

void Group::hear(int from) try {
  const Json message =
      Json::parse(receive_text(peers_[from].get(), Clock::now() + kHelloTime), nullptr, false);
  if (message.is_object() && message.contains("goodbye")) {
    const std::lock_guard lock(mutex_);
    gone_[from] = true;
    changed_.notify_all();
  } else if (message.is_object() && message.contains("error")) {
    set_failure({message.value("error", ""), message.value("code", kExitFailed)});
  } else {
    set_failure({"words from " + rank_name(from, size()) + " that are not doetune's", kExitFailed});
  }
} catch (const std::exception&) {  // closed, cut short, or not as it should be
  bool all_leave = false;
  {
    const std::lock_guard lock(mutex_);
    all_leave = gone_[from] && (rank() != 0 || gone_[0]);
  }
  if (all_leave) {
    stop_ = true;  // it saw everybody's goodbye
    changed_.notify_all();
    return;
  }
  set_failure({rank_name(from, size()) + " died: its connection is closed", kExitFailed});
}

void Group::check() const {
  if (!failed_) return;
  const std::lock_guard lock(mutex_);
  throw_as(failure_->code, failure_->why);
}

void Group::report_closed(int closed) const {
  {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, kReasonTime, [&] { return failure_.has_value(); });
  }
  check();
  throw std::runtime_error(rank_name(closed, size()) + " closed its connection");
}

void Group::fail(const std::string& why, int code) {
  if (failed_ || size() == 1) return;
  set_failure({why, code});
  if (rank() != 0) send_to(0, {{"error", why}, {"code", code}});
}

/// Rank 0 has everybody's goodbye before it says its own.
void Group::leave() {
  if (size() == 1 || !watcher_.joinable() || failed_) return;
  if (rank() != 0) send_to(0, {{"goodbye", true}});
  {
    std::unique_lock lock(mutex_);
    gone_[rank()] = true;
    changed_.wait_for(lock, kLeaveTime, [&] {
      return failed_ || stop_ ||
             (rank() == 0 ? std::ranges::find(gone_, false) == gone_.end() : bool{gone_[0]});
    });
  }
  if (rank() == 0) answer_all({{"goodbye", true}});
}

}  // namespace doetune::workloads
