#include "runner/loop/interrupts.h"
#include "base/file_descriptor.h"

#include <sys/signalfd.h>

#include <cerrno>
#include <system_error>

namespace doetune::runner {

SignalInterrupts::SignalInterrupts() {
  sigset_t signals;
  ::sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, &blocked_before_);
  signals_ = FileDescriptor(::signalfd(-1, &signals, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!signals_.is_open()) throw std::system_error(errno, std::generic_category(), "signalfd");
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &pipe_before_);
}

SignalInterrupts::~SignalInterrupts() {
  count();  // consumes late signals, which must not end the process now
  ::sigaction(SIGPIPE, &pipe_before_, nullptr);
  ::pthread_sigmask(SIG_SETMASK, &blocked_before_, nullptr);
}

int SignalInterrupts::count() {
  signalfd_siginfo signal;
  while (::read(signals_.get(), &signal, sizeof signal) == sizeof signal) ++count_;
  return count_;
}

}  // namespace doetune::runner
