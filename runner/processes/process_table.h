// What /proc says of processes: who is whose child, and which attempt it belongs to.
#pragma once

#include <sys/types.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// Set in the environment of every attempt's program: the path of its result, and with it the
/// mark by which its descendants are known, wherever they went.
inline constexpr const char* kResultVariable = "DOETUNE_RESULT";

/// The children of a process (this one), dead ones that nobody waited for included.
std::vector<pid_t> children(pid_t parent = ::getpid());

/// Value of DOETUNE_RESULT in a process' environment; empty where it cannot be read or has none.
std::optional<std::string> result_of(pid_t pid);

/// Every process of this machine that belongs to the attempt with this result path.
std::vector<pid_t> processes_of(const std::filesystem::path& result);

/// A pidfd: readable once the process is dead. Not open where there is no such process.
FileDescriptor open_process(pid_t pid);

/// Sends SIGKILL and waits until the process is dead, at most `timeout_s`.
void kill_and_wait(pid_t pid, double timeout_s);

}  // namespace doetune::runner
