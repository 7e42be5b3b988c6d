// Requests of the user to stop.
#pragma once

#include <signal.h>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// Counts requests to stop: the first lets the runs in progress finish, the second stops them.
class Interrupts {
 public:
  virtual ~Interrupts() = default;

  /// Number of requests so far.
  virtual int count() = 0;

  /// Readable if there are requests not yet counted by count(); -1 if not available.
  virtual int descriptor() const = 0;
};

/// Handles SIGINT, SIGTERM and SIGHUP of this process during its lifetime; they are blocked
/// meanwhile, so that none interrupts a write. SIGPIPE is ignored, since a closed terminal must not
/// end a study. Construct it before starting any other thread.
class SignalInterrupts : public Interrupts {
 public:
  SignalInterrupts();
  ~SignalInterrupts() override;
  SignalInterrupts(const SignalInterrupts&) = delete;
  SignalInterrupts& operator=(const SignalInterrupts&) = delete;

  int count() override;
  int descriptor() const override { return signals_.get(); }

 private:
  FileDescriptor signals_;
  sigset_t blocked_before_;
  struct sigaction pipe_before_;
  int count_ = 0;
};

}  // namespace doetune::runner
