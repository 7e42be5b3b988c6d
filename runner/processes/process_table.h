// Reads the process table in /proc: parents, and the attempt to which a process belongs.
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

/// The children of a process (by default this one), including zombies.
std::vector<pid_t> children(pid_t parent = ::getpid());

/// A number that identifies the processes of one attempt, wherever they and its directory have
/// moved. They inherit it in two ways: as a soft limit of RLIMIT_RTTIME so high that it has no
/// effect (over 100,000 years), which survives an empty environment; and in the environment, for a
/// program whose hard limit forbids the former.
using ProcessMark = std::uint64_t;

inline constexpr const char* kMarkVariable = "DOETUNE_MARK";

/// A new random mark.
ProcessMark new_mark();

/// Sets the mark as this process' soft limit, if the hard limit allows it. Async-signal-safe.
void set_mark(ProcessMark mark);

/// The text form used in the environment; empty if the text is not a mark.
std::string mark_text(ProcessMark mark);
std::optional<ProcessMark> parse_mark(std::string_view text);

/// Empty for a process without a mark or that does not exist.
std::optional<ProcessMark> mark_of(pid_t pid);

/// All other processes of this machine with this mark.
std::vector<pid_t> processes_with(ProcessMark mark);

/// "PID.START.BOOT": identifies a process uniquely across reboots. Empty if it does not exist.
std::string process_identity(pid_t pid = ::getpid());

/// Whether a process with this identity is running on this machine.
bool is_running(const std::string& identity);

/// A pidfd: readable once the process has ended. Not open if there is no such process.
FileDescriptor open_process(pid_t pid);

/// Sends SIGKILL and waits for the end of the process, at most `timeout_s`.
void kill_and_wait(pid_t pid, double timeout_s);

}  // namespace doetune::runner
