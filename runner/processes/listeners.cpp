#include "runner/processes/listeners.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <set>
#include <string>
#include <system_error>

#include "runner/processes/proc_files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;

// Columns of /proc/net/tcp: number, local address, remote address, state, ..., inode (proc(5)).
constexpr std::size_t kLocal = 1;
constexpr std::size_t kState = 3;
constexpr std::size_t kInode = 9;
constexpr std::string_view kListening = "0A";

/// The first columns of a line, up to the inode; those that are missing are empty.
std::array<std::string_view, kInode + 1> columns_of(std::string_view line) {
  std::array<std::string_view, kInode + 1> found;
  for (std::string_view& column : found) {
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    column = line.substr(0, line.find(' '));
    line.remove_prefix(column.size());
  }
  return found;
}

template <class Number>
Number number_of(std::string_view text, int base) {
  Number value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

/// Whether a process has one of these as an open file, such as socket:[1234].
bool has_open(pid_t pid, const std::set<std::string>& names) {
  std::error_code hidden;
  for (const auto& entry : fs::directory_iterator(fmt::format("/proc/{}/fd", pid), hidden)) {
    std::error_code closed;
    if (names.count(fs::read_symlink(entry.path(), closed).string()) > 0) return true;
  }
  return false;
}

}  // namespace

std::vector<std::uint64_t> listening_sockets(std::string_view table, int port) {
  std::vector<std::uint64_t> inodes;
  while (!table.empty()) {
    const std::size_t end = std::min(table.find('\n'), table.size());
    const auto column = columns_of(table.substr(0, end));
    table.remove_prefix(std::min(end + 1, table.size()));
    const std::string_view local = column[kLocal];
    const std::size_t colon = local.find(':');
    if (column[kState] != kListening || colon == std::string_view::npos) continue;
    if (number_of<int>(local.substr(colon + 1), 16) != port) continue;
    inodes.push_back(number_of<std::uint64_t>(column[kInode], 10));
  }
  return inodes;
}

std::vector<pid_t> listeners(int port) {
  std::set<std::string> sockets;
  for (const char* table : {"/proc/net/tcp", "/proc/net/tcp6"}) {
    for (const std::uint64_t inode : listening_sockets(read_proc_file(table), port)) {
      sockets.insert(fmt::format("socket:[{}]", inode));
    }
  }
  std::vector<pid_t> found;
  if (sockets.empty()) return found;
  for (const pid_t pid : numbered_entries("/proc")) {
    if (has_open(pid, sockets)) found.push_back(pid);
  }
  return found;
}

}  // namespace doetune::runner
