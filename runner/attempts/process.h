// Starting a program in a process group of its own.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "runner/attempts/attempt.h"
#include "runner/processes/process_table.h"

namespace doetune::runner {

/// A started program. Its standard input is empty; its output comes through the pipes, which do
/// not block on this side. No other descriptor of the runner is open in it, no signal blocked or
/// ignored.
struct Process {
  pid_t pid = 0;          ///< of its process group too
  FileDescriptor handle;  ///< a pidfd: readable once the program has ended
  FileDescriptor output;
  FileDescriptor errors;
};

/// Starts the attempt's program; it is killed if the calling thread ends, however it ends. It and
/// all that it starts have the mark, if one is given.
/// Returns a message instead where it cannot be started.
struct StartResult {
  std::optional<Process> process;
  std::string error;
};
StartResult start_process(const Attempt& attempt, std::optional<ProcessMark> mark = {});

}  // namespace doetune::runner
