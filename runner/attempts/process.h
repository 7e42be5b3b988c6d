// Starts a program in its own process group.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "runner/attempts/attempt.h"
#include "runner/processes/process_table.h"

namespace doetune::runner {

/// A started program. Its standard input is empty; its output comes through pipes that are
/// nonblocking on this side. It inherits no other descriptor, and no blocked or ignored signal.
struct Process {
  pid_t pid = 0;          ///< also its process group
  FileDescriptor handle;  ///< a pidfd: readable once the program has ended
  FileDescriptor output;
  FileDescriptor errors;
};

struct StartResult {
  std::optional<Process> process;
  std::string error;  ///< why there is no process
};

/// Starts the attempt's program, which gets `end_signal` when the calling thread ends, however it
/// ends. The program and its descendants carry the mark, if one is given. Returns an error message
/// if it cannot be started.
StartResult start_process(const Attempt& attempt, std::optional<ProcessMark> mark = {},
                          int end_signal = SIGKILL);

}  // namespace doetune::runner
