#include "runner/processes/process_table.h"

#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "base/file_descriptor.h"
#include "runner/processes/proc_files.h"

namespace doetune::runner {
namespace {

constexpr ProcessMark kLowestMark = ProcessMark{1} << 62;

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

std::optional<ProcessMark> mark_in_limits(pid_t pid) {
  constexpr std::string_view kName = "Max realtime timeout";
  const std::string limits = read_proc_file(fmt::format("/proc/{}/limits", pid));
  const std::size_t at = limits.find(kName);
  if (at == std::string::npos) return std::nullopt;
  std::string_view soft = std::string_view(limits).substr(at + kName.size());
  soft.remove_prefix(std::min(soft.find_first_not_of(' '), soft.size()));
  ProcessMark mark = 0;
  const auto error = std::from_chars(soft.data(), soft.data() + soft.size(), mark).ec;
  if (error != std::errc() || mark < kLowestMark) return std::nullopt;
  return mark;
}

std::optional<ProcessMark> mark_in_environment(pid_t pid) {
  const std::string environment = read_proc_file(fmt::format("/proc/{}/environ", pid));
  const std::string name = fmt::format("{}=", kMarkVariable);
  for (std::size_t begin = 0; begin < environment.size();) {
    const std::size_t end = std::min(environment.find('\0', begin), environment.size());
    const std::string_view entry = std::string_view(environment).substr(begin, end - begin);
    if (entry.starts_with(name)) return parse_mark(entry.substr(name.size()));
    begin = end + 1;
  }
  return std::nullopt;
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

ProcessMark new_mark() {
  ProcessMark mark = 0;
  if (::getrandom(&mark, sizeof mark, 0) != sizeof mark) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
  return kLowestMark | mark >> 2;
}

void set_mark(ProcessMark mark) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_RTTIME, &limit) != 0) return;
  limit.rlim_cur = mark;
  ::setrlimit(RLIMIT_RTTIME, &limit);
}

std::string mark_text(ProcessMark mark) { return fmt::format("{:x}", mark); }

std::optional<ProcessMark> parse_mark(std::string_view text) {
  ProcessMark mark = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mark, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return mark;
}

std::optional<ProcessMark> mark_of(pid_t pid) {
  if (const auto mark = mark_in_limits(pid)) return mark;
  return mark_in_environment(pid);
}

std::vector<pid_t> processes_with(ProcessMark mark) {
  std::vector<pid_t> found;
  for (const pid_t pid : numbered_entries("/proc")) {
    if (pid == ::getpid() || mark_of(pid) != mark) continue;
    if (!process_identity(pid).empty()) found.push_back(pid);  // otherwise a zombie
  }
  return found;
}

std::string process_identity(pid_t pid) {
  const auto stat = parse_process_stat(read_proc_file(fmt::format("/proc/{}/stat", pid)));
  if (!stat || stat->state == 'Z' || stat->state == 'X') return "";
  std::string boot = read_proc_file("/proc/sys/kernel/random/boot_id");
  boot.erase(std::min(boot.find('\n'), boot.size()));
  return fmt::format("{}.{:.0f}.{}", pid, stat->start_ticks, boot);
}

bool is_running(const std::string& identity) {
  const auto pid = number(std::string_view(identity).substr(0, identity.find('.')));
  return pid && process_identity(*pid) == identity;
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
