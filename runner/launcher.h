// Where attempts are placed: this machine, a scheduler, another host.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/attempt.h"

namespace doetune::runner {

/// A launcher's word that an attempt may be over. The attempt directory has the last word: with an
/// `exit` file it is; without one the attempt is lost, and the remark says what is known of it.
/// Only where `exit` could not be written is the end told here, and this word is the last.
struct Hint {
  std::string attempt;
  std::string remark;
  std::optional<AttemptEnd> end = {};
};

/// Starts attempts and says when to look for their ends. It never tries again: retries belong to
/// the run loop, each one a new attempt with a directory of its own.
class Launcher {
 public:
  virtual ~Launcher() = default;

  /// Starts an attempt, once: a name that was submitted or claimed before is not started again.
  /// An attempt that cannot be started ends with an `exit` file that says why.
  virtual void submit(const Attempt& attempt) = 0;

  /// Takes up an attempt of an earlier runner that has no `exit` file. True: it goes on and is
  /// watched as if submitted here. False: nothing of it runs, and nothing ever will.
  virtual bool resume(const Attempt& attempt) = 0;

  /// Waits until an attempt may be over, `wake` is readable, or `timeout_s` have passed. Empty
  /// optional: no answer, nothing is known of any attempt.
  virtual std::optional<std::vector<Hint>> wait(double timeout_s, int wake) = 0;

  /// Stops an attempt; its end is reported by wait as any other.
  virtual void cancel(const std::string& attempt) = 0;
};

/// One kind of launcher. A new one is a source file and a line in launcher.cpp.
struct LauncherType {
  std::string_view name;     ///< as written in the study file
  std::string_view summary;  ///< what it is for
  std::unique_ptr<Launcher> (*make)();
};

std::span<const LauncherType> launcher_types();

/// Throws RunError for an unknown name, with the nearest.
std::unique_ptr<Launcher> make_launcher(std::string_view name);

}  // namespace doetune::runner
