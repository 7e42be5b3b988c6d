// A group of processes: how they meet, agree, and notice each other's end.
//
// All ranks connect to rank 0. Each sends {"doetune", "rank", "ranks", "settings"}; once all are
// there, rank 0 compares and answers {"token"} or {"error", "code"}. The connections stay open for
// the lifetime of the group: one that closes without a goodbye means that its rank died, and rank 0
// informs the others.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/file_descriptor.h"
#include "workloads/communication/rank.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

/// "rank 1 of 4".
std::string rank_name(int rank, int ranks);

class Group {
 public:
  /// Returns when all ranks are there. `settings` (an object) must be the same on all. Throws
  /// UsageError where they differ, naming the first difference, where two processes claim one rank,
  /// and where rank 0 would listen at an address that ranks on other machines cannot reach: at
  /// once, on all ranks present or arriving within about two seconds. Throws std::runtime_error,
  /// naming the ranks that did not arrive in time or the port that is in use.
  Group(const RankContext& context, const Json& settings,
        std::chrono::duration<double> arrival_timeout);

  /// Waits until all others leave. An exception in flight is reported to them as the reason.
  ~Group();
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;

  int rank() const { return rank_context_.rank; }
  int size() const { return rank_context_.ranks; }
  int local_rank() const { return rank_context_.local_rank; }
  /// Identifies the host: equal for ranks that share a machine's memory and processes.
  const std::string& host() const { return host_; }
  std::uint64_t token() const { return token_; }
  /// The address by which other ranks reach this one.
  std::string local_host() const;

  /// Every rank's text (at most kLongestText bytes as JSON), in order of rank. All ranks call it,
  /// before watch().
  std::vector<std::string> gather(const std::string& mine);

  /// Starts to watch for the end of other ranks.
  void watch();

  /// If the group has failed, throws the reason, naming the rank: Infeasible or UsageError where
  /// that rank threw one, std::runtime_error otherwise. Waiting loops call it several times a
  /// second.
  void check() const;

  /// Likewise, but waits briefly for the reason: for callers that see a connection close.
  [[noreturn]] void report_closed(int rank) const;

  /// Reports to the other ranks why this one ends.
  void fail(const std::string& why, int code);

 private:
  struct Failure {
    std::string why;
    int code;
    Json json() const { return {{"error", why}, {"code", code}}; }
  };

  void meet_as_root(const Json& settings, Deadline deadline);
  void meet_root(const Json& settings, Deadline deadline);
  std::optional<Failure> take_in_all(int listener, const Json& settings, Deadline deadline);
  std::string objection(const Json& hello, const Json& settings) const;
  void answer_all(const Json& answer);
  Json hear_of(int from, const char* what, Deadline deadline, std::size_t longest = kLongestText);
  std::vector<int> missing() const;
  void listen();
  void hear(int from);
  void set_failure(Failure failure);
  void send_to(int rank, const Json& message);
  void leave();

  RankContext rank_context_;
  std::string host_;
  std::uint64_t token_ = 0;
  Deadline deadline_;
  std::vector<FileDescriptor> peers_;  // rank 0: one per rank (its own empty); others: only [0]

  std::mutex sending_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::optional<Failure> failure_;
  std::vector<bool> gone_;  // has said goodbye
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stop_ = false;
  int exceptions_ = std::uncaught_exceptions();
  std::thread watcher_;
};

}  // namespace doetune::workloads
