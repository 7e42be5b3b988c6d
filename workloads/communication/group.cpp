#include "workloads/communication/group.h"
#include "base/clock.h"
#include "base/file_descriptor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace doetune::workloads {
namespace {

using std::chrono::milliseconds;

constexpr auto kHelloTime = std::chrono::seconds(5);  // for a new connection to identify itself
constexpr auto kLeaveTime = std::chrono::seconds(10);
constexpr auto kReasonTime = milliseconds(1000);
constexpr auto kRefusalTime = std::chrono::seconds(2);  // for ranks that arrive later to be told

[[noreturn]] void throw_as(int code, const std::string& why) {
  if (code == kExitUsage) throw UsageError(why);
  if (code == kExitInfeasible) throw Infeasible(why);
  throw std::runtime_error(why);
}

/// Containers on one machine see each other's processes only in the same PID namespace.
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

/// A list of ranks, shortened where it is long.
std::string listed(const std::vector<int>& ranks) {
  constexpr std::size_t kShown = 8;
  if (ranks.size() <= kShown) return fmt::format("{}", fmt::join(ranks, ", "));
  return fmt::format("{} and {} others", fmt::join(ranks.begin(), ranks.begin() + kShown, ", "),
                     ranks.size() - kShown);
}

/// Why ranks may not find each other, where the rendezvous is a loopback address; empty where
/// 127.0.0.1 was given deliberately.
std::string hint(const RankContext& context) {
  const std::string loopback = loopback_of(context.rendezvous);
  const std::string& host = context.rendezvous.host;
  if (loopback.empty() || (host == loopback && !context.several_machines)) return "";
  return fmt::format(
      ": no other machine reaches {}{}; for ranks on several, DOETUNE_RENDEZVOUS=host:port must "
      "give an address of rank 0's machine that all of them reach",
      host, host == loopback ? "" : fmt::format(", which is {} here", loopback));
}

void report(const FileDescriptor& socket, const Json& message) {
  try {
    send_text(socket.get(), message.dump());
  } catch (const Closed&) {
  }
}

/// The first message of a rank; empty for a connection that is not from doetune.
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

Group::Group(const RankContext& context, const Json& settings,
             std::chrono::duration<double> arrival_timeout)
    : rank_context_(context), host_(machine()), peers_(context.ranks), gone_(context.ranks, false) {
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

/// Why an arriving rank is refused; empty where it is not.
std::string Group::objection(const Json& hello, const Json& settings) const {
  const auto theirs = hello["rank"].get<std::int64_t>();
  if (hello["ranks"] != size())
    return fmt::format("a rank of {} tried to join a group of {}", hello["ranks"].dump(), size());
  if (theirs < 1 || theirs >= size() || peers_[theirs])
    return fmt::format("two processes claim to be rank {} of {}", theirs, size());
  const Json given = hello.value("settings", Json());
  const auto name = difference(settings, given);
  if (!name) return "";
  return fmt::format("rank {} was started with other settings than rank 0: {} is {}, not {}",
                     theirs, *name, shown(given, *name), shown(settings, *name));
}

/// Admits the ranks one by one. A refusal is reported to all ranks present and to those that arrive
/// soon after.
std::optional<Group::Failure> Group::take_in_all(int listener, const Json& settings,
                                                 Deadline deadline) {
  std::optional<Failure> failure;
  try {
    while (!missing().empty()) {
      FileDescriptor socket = accept_at(listener, deadline);
      const auto hello = read_hello(socket.get());
      if (!hello) continue;
      const std::string wrong = objection(*hello, settings);
      if (!wrong.empty() && !failure) {
        failure = Failure{wrong, kExitUsage};
        answer_all(failure->json());
        deadline = std::min(deadline, Clock::now() + kRefusalTime);
      }
      if (failure) report(socket, failure->json());
      const auto rank = (*hello)["rank"].get<std::int64_t>();
      if (rank >= 1 && rank < size() && !peers_[rank]) peers_[rank] = std::move(socket);
    }
  } catch (const TimedOut&) {
    if (failure) return failure;
    failure =
        Failure{fmt::format("rank {} of {} did not connect to {} in time{}", listed(missing()),
                            size(), to_text(rank_context_.rendezvous), hint(rank_context_)),
                kExitFailed};
    answer_all(failure->json());
  }
  return failure;
}

void Group::meet_as_root(const Json& settings, Deadline deadline) {
  token_ = std::random_device()();
  if (size() == 1) return;
  if (rank_context_.several_machines && !hint(rank_context_).empty())
    throw UsageError("the ranks cannot connect" + hint(rank_context_));
  allow_connections(size());
  const FileDescriptor listener = rank_context_.listener >= 0
                                      ? FileDescriptor(rank_context_.listener)
                                      : listen_at(rank_context_.rendezvous);
  if (const auto failure = take_in_all(listener.get(), settings, deadline))
    throw_as(failure->code, failure->why);
  answer_all({{"token", token_}});
}

void Group::meet_root(const Json& settings, Deadline deadline) {
  const Json hello{{"doetune", 1}, {"rank", rank()}, {"ranks", size()}, {"settings", settings}};
  try {
    peers_[0] = connect_to(rank_context_.rendezvous, deadline);
    send_text(peers_[0].get(), hello.dump());
    token_ = hear_of(0, "token", deadline + kHelloTime).get<std::uint64_t>();
  } catch (const TimedOut&) {
    throw std::runtime_error(fmt::format("rank {} did not find all of {} ranks at {} in time{}",
                                         rank(), size(), to_text(rank_context_.rendezvous),
                                         hint(rank_context_)));
  } catch (const Closed&) {
    throw std::runtime_error("rank 0 ended before all ranks had connected");
  } catch (const Json::exception&) {
    throw std::runtime_error(to_text(rank_context_.rendezvous) +
                             " does not answer like doetune; is it the right port?");
  }
}

Json Group::hear_of(int from, const char* what, Deadline deadline, std::size_t longest) {
  const Json message = Json::parse(receive_text(peers_[from].get(), deadline, longest));
  if (message.contains("error"))
    throw_as(message.value("code", kExitFailed), message.value("error", ""));
  return message.at(what);
}

std::vector<std::string> Group::gather(const std::string& mine) {
  int from = 0;
  try {
    if (rank() != 0) {
      send_text(peers_[0].get(), Json{{"text", mine}}.dump());
      return hear_of(0, "texts", deadline_ + kHelloTime, kLongestText * peers_.size())
          .get<std::vector<std::string>>();
    }
    std::vector<std::string> all{mine};
    for (from = 1; from < size(); ++from) all.push_back(hear_of(from, "text", deadline_));
    answer_all({{"texts", all}});
    return all;
  } catch (const Closed&) {
    set_failure({rank_name(from, size()) + " died while the ranks connected", kExitFailed});
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
  if (peers_[to]) report(peers_[to], message);  // the watch notices a rank that has ended
}

void Group::set_failure(Failure failure) {
  {
    const std::lock_guard lock(mutex_);
    if (failure_) return;
    failure_ = failure;
    failed_ = true;
  }
  changed_.notify_all();
  if (rank() == 0) answer_all(failure.json());
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
    set_failure(
        {"a message from " + rank_name(from, size()) + " that doetune did not send", kExitFailed});
  }
} catch (const std::exception&) {  // closed, cut short, or malformed
  bool all_leave = false;
  {
    const std::lock_guard lock(mutex_);
    all_leave = gone_[from] && (rank() != 0 || gone_[0]);
  }
  if (all_leave) {
    stop_ = true;  // all ranks have said goodbye
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
  const Failure failure{why, code};
  set_failure(failure);
  if (rank() != 0) send_to(0, failure.json());
}

/// Rank 0 waits for the goodbyes of all others before it sends its own.
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
