// Observes the directory of an attempt that runs on another machine.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

/// Watches one attempt's directory. The clocks of two machines are never compared: a heartbeat
/// counts as fresh if the modification time of `alive`, whatever its value, has changed recently by
/// this machine's clock.
class AttemptWatch {
 public:
  /// The first heartbeat is expected within a few intervals of `now_s`.
  AttemptWatch(std::filesystem::path directory, double heartbeat_s, double now_s);

  /// Whether a complete `exit` exists. Reopens the directory each time, since a network file system
  /// may otherwise answer from its cache.
  bool ended() const;

  /// Whether claim/ exists, including one created by a runner that gave the attempt up.
  bool claimed() const;

  /// Whether the heartbeat changed within the last few intervals, or the attempt has not begun.
  bool beating(double now_s);

  /// Gives the attempt up. True: it had not begun and never will, since its claim is created here.
  /// False: it runs or has run; a request to stop is left for it.
  bool fence() const;

  /// Whether fence() was called by an earlier runner and returned true.
  bool fenced() const;

  /// Asks doetune-attempt to stop the attempt.
  void ask_to_stop() const;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
  double stale_after_s_;
  double changed_s_;
  std::optional<std::filesystem::file_time_type> beat_;
};

/// Whether the attempt was ended by a request to stop, through doetune-attempt or directly by a
/// scheduler that signals all processes.
bool was_stopped(const AttemptEnd& end);

/// The end to record for such an attempt: cancelled if this runner asked for it, otherwise lost.
AttemptEnd end_of_stopped(const AttemptEnd& end, bool asked);

}  // namespace doetune::runner
