// The user's wish to stop.
#pragma once

#include <signal.h>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// Counts requests to stop. The first lets the runs under way finish, the second stops them.
class Interrupts {
 public:
  virtual ~Interrupts() = default;

  /// How many there have been so far.
  virtual int count() = 0;

  /// Readable when there is one that count() has not told of; -1: none.
  virtual int descriptor() const = 0;
};

/// SIGINT, SIGTERM and SIGHUP of this process while the object lives; they are then blocked, so
/// that one never comes in the middle of a write. SIGPIPE is ignored meanwhile: a closed terminal
/// must not end a study. Make it before any other thread.
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
