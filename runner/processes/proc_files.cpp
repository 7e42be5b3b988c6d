#include "runner/processes/proc_files.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>

namespace doetune::runner {
namespace {

/// Removes and returns the first word of a line.
std::string_view next_word(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  const std::size_t length = std::min(line.find_first_of(" \t\n"), line.size());
  const std::string_view word = line.substr(0, length);
  line.remove_prefix(length);
  return word;
}

std::string_view next_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

double ticks_per_s() {
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  return ticks;
}

/// user nice system idle iowait irq softirq steal; guest time is included in user.
CpuTimes times_in(std::string_view line) {
  std::array<double, 8> ticks{};
  for (double& value : ticks) value = leading_number(next_word(line)).value_or(0) / ticks_per_s();
  return {ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[4], ticks[7], ticks[3]};
}

}  // namespace

std::optional<double> leading_number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

ProcFile::ProcFile(const std::filesystem::path& file)
    : descriptor_(::open(file.c_str(), O_RDONLY | O_CLOEXEC)), text_(4096, '\0') {}

std::string_view ProcFile::read() {
  std::size_t length = 0;
  while (descriptor_.is_open()) {
    const ssize_t got = ::pread(descriptor_.get(), text_.data() + length, text_.size() - length,
                                static_cast<off_t>(length));
    if (got <= 0) break;
    length += static_cast<std::size_t>(got);
    if (length == text_.size()) text_.resize(2 * text_.size());
  }
  return std::string_view(text_).substr(0, length);
}

std::optional<double> fraction_between(const CpuTimes& before, const CpuTimes& after,
                                       double CpuTimes::*kind) {
  const double total_s = after.total_s() - before.total_s();
  if (total_s <= 0) return std::nullopt;
  return std::clamp((after.*kind - before.*kind) / total_s, 0.0, 1.0);
}

CpuTimes cpu_times(std::string_view stat, const std::vector<int>& cpus) {
  CpuTimes sum;
  while (stat.starts_with("cpu")) {
    std::string_view line = next_line(stat).substr(3);
    const bool is_total = line.starts_with(' ');
    const int cpu = is_total ? -1 : static_cast<int>(leading_number(next_word(line)).value_or(-1));
    if (is_total != cpus.empty()) continue;
    if (!is_total && std::find(cpus.begin(), cpus.end(), cpu) == cpus.end()) continue;
    const CpuTimes times = times_in(line);
    sum.busy_s += times.busy_s;
    sum.iowait_s += times.iowait_s;
    sum.steal_s += times.steal_s;
    sum.idle_s += times.idle_s;
  }
  return sum;
}

std::optional<double> value_after(std::string_view text, std::string_view name) {
  while (!text.empty()) {
    std::string_view line = next_line(text);
    if (!line.starts_with(name) || line.substr(name.size(), 1) != ":") continue;
    line.remove_prefix(name.size() + 1);
    return leading_number(next_word(line));
  }
  return std::nullopt;
}

std::optional<double> meminfo_bytes(std::string_view meminfo, std::string_view name) {
  const auto kib = value_after(meminfo, name);
  if (!kib) return std::nullopt;
  return 1024 * *kib;
}

std::optional<double> stalled_s(std::string_view pressure) {
  const std::string_view some = next_line(pressure);
  const std::size_t total = some.find("total=");
  if (!some.starts_with("some ") || total == std::string_view::npos) return std::nullopt;
  const auto stalled_us = leading_number(some.substr(total + 6));
  if (!stalled_us) return std::nullopt;
  return 1e-6 * *stalled_us;
}

std::optional<ProcessStat> parse_process_stat(std::string_view stat) {
  // The name, in parentheses, may contain anything. proc(5) numbers fields from 1; state is the
  // 3rd.
  constexpr std::size_t kLast = 24;
  const std::size_t name_end = stat.rfind(')');
  if (name_end == std::string_view::npos) return std::nullopt;
  stat.remove_prefix(name_end + 1);
  ProcessStat process;
  const std::string_view state = next_word(stat);
  if (state.size() != 1) return std::nullopt;
  process.state = state[0];
  std::array<double, kLast + 1> field{};
  for (std::size_t i = 4; i <= kLast; ++i) {
    const auto value = leading_number(next_word(stat));
    if (!value) return std::nullopt;
    field[i] = *value;
  }
  process.parent = static_cast<pid_t>(field[4]);
  process.group = static_cast<pid_t>(field[5]);
  process.session = static_cast<pid_t>(field[6]);
  process.major_faults = field[12] + field[13];
  process.cpu_s = (field[14] + field[15] + field[16] + field[17]) / ticks_per_s();
  process.start_ticks = field[22];
  process.resident_bytes = field[24] * static_cast<double>(::sysconf(_SC_PAGESIZE));
  return process;
}

std::string read_proc_file(const std::filesystem::path& file) {
  return std::string(ProcFile(file).read());
}

std::vector<pid_t> numbered_entries(const std::filesystem::path& directory) {
  std::vector<pid_t> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> open(::opendir(directory.c_str()), ::closedir);
  if (open == nullptr) return numbers;
  while (const dirent* entry = ::readdir(open.get())) {
    pid_t number = 0;
    const std::string_view name = entry->d_name;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace doetune::runner
