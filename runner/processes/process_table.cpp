#include "runner/processes/process_table.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/file_descriptor.h"
#include "runner/processes/proc_files.h"

namespace doetune::runner {
namespace {

std::optional<pid_t> number(std::string_view text) {
  pid_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<pid_t> numbers_in(std::string_view text) {
  std::vector<pid_t> numbers;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size() - 1);
    if (const auto value = number(text.substr(0, space))) numbers.push_back(*value);
    text.remove_prefix(space + 1);
  }
  return numbers;
}

/// For kernels without /proc/PID/task/TID/children.
std::vector<pid_t> children_by_parent(pid_t parent) {
  std::vector<pid_t> found;
  for (const pid_t pid : numbered_entries("/proc")) {
    const auto stat = parse_process_stat(read_proc_file(fmt::format("/proc/{}/stat", pid)));
    if (stat && stat->parent == parent) found.push_back(pid);
  }
  return found;
}

}  // namespace

std::vector<pid_t> children(pid_t parent) {
  static const bool listed =
      std::filesystem::exists(fmt::format("/proc/self/task/{}/children", ::getpid()));
  if (!listed) return children_by_parent(parent);
  std::vector<pid_t> found;
  const std::string threads = fmt::format("/proc/{}/task", parent);
  for (const pid_t thread : numbered_entries(threads)) {
    const auto of_thread =
        numbers_in(read_proc_file(fmt::format("{}/{}/children", threads, thread)));
    found.insert(found.end(), of_thread.begin(), of_thread.end());
  }
  return found;
}

std::optional<std::string> result_of(pid_t pid) {
  const std::string environment = read_proc_file(fmt::format("/proc/{}/environ", pid));
  const std::string mark = fmt::format("{}=", kResultVariable);
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    const std::string_view entry = std::string_view(environment).substr(begin, end - begin);
    if (entry.starts_with(mark)) return std::string(entry.substr(mark.size()));
    begin = end + 1;
  }
  return std::nullopt;
}

std::vector<pid_t> processes_of(const std::filesystem::path& result) {
  std::vector<pid_t> found;
  for (const pid_t pid : numbered_entries("/proc")) {
    if (pid != ::getpid() && result_of(pid) == result.string()) found.push_back(pid);
  }
  return found;
}

FileDescriptor open_process(pid_t pid) {
  // glibc 2.36 declares pidfd_open for C only.
  return FileDescriptor(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
}

void kill_and_wait(pid_t pid, double timeout_s) {
  const FileDescriptor handle = open_process(pid);
  if (!handle.is_open()) return;
  ::kill(pid, SIGKILL);
  pollfd ended{handle.get(), POLLIN, 0};
  ::poll(&ended, 1, static_cast<int>(timeout_s * 1000));
}

}  // namespace doetune::runner
