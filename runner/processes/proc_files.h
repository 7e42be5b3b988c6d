// What the files of /proc say: the machine's processors, memory and stalls; one process' work.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// A file of /proc or /sys that is read again and again through one descriptor.
class ProcFile {
 public:
  explicit ProcFile(const std::filesystem::path& file);

  /// Its text now, until the next call; empty where it cannot be read.
  std::string_view read();

 private:
  FileDescriptor descriptor_;
  std::string text_;
};

/// Seconds that processors spent since the machine started, added up over some of them.
struct CpuTimes {
  double busy_s = 0;  ///< in programs, the kernel and interrupts
  double iowait_s = 0;
  double steal_s = 0;  ///< taken by the hypervisor for others
  double idle_s = 0;

  double total_s() const { return busy_s + iowait_s + steal_s + idle_s; }
};

/// The times of those processors in the text of /proc/stat; of all where `cpus` is empty.
CpuTimes cpu_times(std::string_view stat, const std::vector<int>& cpus);

/// A line of /proc/meminfo, in bytes.
std::optional<double> meminfo_bytes(std::string_view meminfo, std::string_view name);

/// Seconds in which some task was stalled, of the text of /proc/pressure/RESOURCE (pressure stall
/// information, Documentation/accounting/psi.rst of Linux).
std::optional<double> stalled_s(std::string_view pressure);

/// The number that a text begins with.
std::optional<double> leading_number(std::string_view text);

/// A number after "name:" at the beginning of a line.
std::optional<double> value_after(std::string_view text, std::string_view name);

/// What /proc/PID/stat says.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  double cpu_s = 0;         ///< with that of the children it waited for
  double major_faults = 0;  ///< with those of the children it waited for
  double resident_bytes = 0;
  double start_ticks = 0;  ///< when it started: with its number the only one there ever is
};

/// Empty for a text that is not complete.
std::optional<ProcessStat> parse_process_stat(std::string_view stat);

/// The whole of a small file of /proc; empty where it cannot be read.
std::string read_proc_file(const std::filesystem::path& file);

/// The names in a directory that are numbers: processes of /proc, threads of /proc/PID/task.
std::vector<pid_t> numbered_entries(const std::filesystem::path& directory);

}  // namespace doetune::runner
