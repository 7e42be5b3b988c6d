// What the directory of an attempt says while the attempt runs on another machine.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>

#include "runner/attempts/attempt.h"

namespace doetune::runner {

/// Watches one attempt's directory. Clocks of two machines are never compared: a heartbeat is fresh
/// while the time of `alive`, whatever it says, goes on changing by this machine's clock.
class AttemptWatch {
 public:
  /// A heartbeat that has not been seen yet has its first intervals from `now_s` to be seen.
  AttemptWatch(std::filesystem::path directory, double heartbeat_s, double now_s);

  /// Whether `exit` is there, complete. Opens the directory afresh each time, for a network file
  /// system answers from memory otherwise.
  bool ended() const;

  /// Whether somebody has made claim/, the runner that gave it up included.
  bool claimed() const;

  /// Whether the heartbeat changed in the last few intervals, or the attempt has not begun.
  bool beating(double now_s);

  /// Gives the attempt up. True: it had not begun and never will, for its claim is made here.
  /// False: it runs, or ran; it is told to stop in case that it still can read.
  bool fence() const;

  /// Whether fence() was called by an earlier runner and returned true.
  bool fenced() const;

  /// Asks doetune-attempt to stop it.
  void ask_to_stop() const;

  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
  double stale_after_s_;
  double changed_s_;
  std::optional<std::filesystem::file_time_type> beat_;
};

/// Whether a request to stop ended the attempt: by way of doetune-attempt, or, where a scheduler
/// sends a signal to all processes, straight.
bool was_stopped(const AttemptEnd& end);

/// What such an end means: cancelled where this runner asked for it, else lost.
AttemptEnd end_of_stopped(const AttemptEnd& end, bool asked);

}  // namespace doetune::runner
