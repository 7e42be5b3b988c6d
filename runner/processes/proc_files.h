// Reads /proc: processors, memory and stalls of the machine; resource use of a process.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_descriptor.h"

namespace doetune::runner {

/// A file of /proc or /sys that is read repeatedly through one descriptor.
class ProcFile {
 public:
  explicit ProcFile(const std::filesystem::path& file);

  /// The current content, valid until the next call; empty if it cannot be read.
  std::string_view read();

 private:
  FileDescriptor descriptor_;
  std::string text_;
};

/// Seconds that processors spent since boot, summed over a set of them.
struct CpuTimes {
  double busy_s = 0;  ///< in programs, the kernel and interrupts
  double iowait_s = 0;
  double steal_s = 0;  ///< taken by the hypervisor for other machines
  double idle_s = 0;

  double total_s() const { return busy_s + iowait_s + steal_s + idle_s; }
};

/// The fraction of the time between two readings that was of one kind, in [0, 1] though the
/// kernel's counts of idle time and iowait may fall; empty if no time passed.
std::optional<double> fraction_between(const CpuTimes& before, const CpuTimes& after,
                                       double CpuTimes::*kind);

/// The times of these processors, from the text of /proc/stat; of all processors if `cpus` is
/// empty.
CpuTimes cpu_times(std::string_view stat, const std::vector<int>& cpus);

/// A value from /proc/meminfo, in bytes.
std::optional<double> meminfo_bytes(std::string_view meminfo, std::string_view name);

/// Seconds for which at least one task was stalled, from the text of /proc/pressure/RESOURCE
/// (pressure stall information, Documentation/accounting/psi.rst of Linux).
std::optional<double> stalled_s(std::string_view pressure);

/// The number at the beginning of a text.
std::optional<double> leading_number(std::string_view text);

/// The number after "name:" at the beginning of a line.
std::optional<double> value_after(std::string_view text, std::string_view name);

/// Fields of /proc/PID/stat.
struct ProcessStat {
  char state = '?';
  pid_t parent = 0;
  pid_t group = 0;
  pid_t session = 0;
  double cpu_s = 0;         ///< including children it waited for
  double major_faults = 0;  ///< including children it waited for
  double resident_bytes = 0;
  double start_ticks = 0;  ///< start time: with the process number it identifies a process uniquely
};

/// Empty if the text is incomplete.
std::optional<ProcessStat> parse_process_stat(std::string_view stat);

/// The content of a small file of /proc; empty if it cannot be read.
std::string read_proc_file(const std::filesystem::path& file);

/// The numeric names in a directory: processes in /proc, threads in /proc/PID/task.
std::vector<pid_t> numbered_entries(const std::filesystem::path& directory);

}  // namespace doetune::runner
