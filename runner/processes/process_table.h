// What /proc says of processes: who is whose child, and which attempt it belongs to.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// The children of a process (this one), dead ones that nobody waited for included.
std::vector<pid_t> children(pid_t parent = ::getpid());

/// A number by which the processes of one attempt are known, wherever they and its directory went.
/// They inherit it twice: as a soft limit of RLIMIT_RTTIME so high that it limits nothing (over
/// 100,000 years), which survives an empty environment, and in the environment, for a program
/// whose hard limit forbids the former.
using ProcessMark = std::uint64_t;

inline constexpr const char* kMarkVariable = "DOETUNE_MARK";

/// A mark that no process has had before.
ProcessMark new_mark();

/// Makes it this process' own limit, as far as the hard limit allows. Async-signal-safe.
void set_mark(ProcessMark mark);

/// As in the environment; empty for a text that is no mark.
std::string mark_text(ProcessMark mark);
std::optional<ProcessMark> parse_mark(std::string_view text);

/// Empty for a process without one, or that is not there.
std::optional<ProcessMark> mark_of(pid_t pid);

/// Every process of this machine with this mark, but this one.
std::vector<pid_t> processes_with(ProcessMark mark);

/// "PID.START.BOOT": one process of one machine, for ever. Empty where there is none.
std::string process_identity(pid_t pid = ::getpid());

/// Whether the process of this identity runs on this machine.
bool is_running(const std::string& identity);

/// A pidfd: readable once the process is dead. Not open where there is no such process.
FileDescriptor open_process(pid_t pid);

/// Sends SIGKILL and waits until the process is dead, at most `timeout_s`.
void kill_and_wait(pid_t pid, double timeout_s);

}  // namespace doetune::runner
