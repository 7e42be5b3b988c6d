#include "runner/conditions/host.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/host.h"
#include "base/json.h"
#include "runner/processes/proc_files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// Bytes as an integer.
Json bytes_or_null(const std::optional<double>& bytes) {
  return bytes ? Json(static_cast<std::uint64_t>(*bytes)) : Json(nullptr);
}

/// The first line of a small file, without its line end.
std::optional<std::string> first_line(const fs::path& file) {
  const std::string text = read_proc_file(file);
  if (text.empty()) return std::nullopt;
  return text.substr(0, text.find('\n'));
}

std::optional<double> number_in(const fs::path& file) {
  return leading_number(read_proc_file(file));
}

/// The value of the first line "name<blanks>mark value", as in /proc/cpuinfo and os-release.
std::optional<std::string> value_of(const std::string& text, const std::string& name, char mark) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t at = line.find(mark);
    if (!line.starts_with(name) || at == std::string::npos) continue;
    if (line.find_first_not_of(" \t", name.size()) != at) continue;
    std::string value = line.substr(at + 1);
    const auto outside = [](char c) { return c == ' ' || c == '"' || c == '\t'; };
    while (!value.empty() && outside(value.front())) value.erase(0, 1);
    while (!value.empty() && outside(value.back())) value.pop_back();
    return value;
  }
  return std::nullopt;
}

std::optional<std::string> container(const fs::path& root,
                                     const std::map<std::string, std::string>& environment) {
  const auto has = [&](const char* name) { return environment.count(name) > 0; };
  std::error_code ignored;
  if (has("APPTAINER_CONTAINER")) return "apptainer";
  if (has("SINGULARITY_CONTAINER")) return "singularity";
  if (has("KUBERNETES_SERVICE_HOST")) return "kubernetes";
  if (fs::exists(root / "run/.containerenv", ignored)) return "podman";
  if (fs::exists(root / ".dockerenv", ignored)) return "docker";
  if (has("container")) return environment.at("container");
  return std::nullopt;
}

/// on or off; null if the kernel does not report it.
Json turbo(const fs::path& cpu) {
  if (const auto off = number_in(cpu / "intel_pstate/no_turbo")) return *off == 0 ? "on" : "off";
  if (const auto on = number_in(cpu / "cpufreq/boost")) return *on == 0 ? "off" : "on";
  return nullptr;
}

/// This process' directory in a control group hierarchy, from its line "N:controller:/path".
fs::path group_of(const fs::path& root, const std::string& controller) {
  const std::string text = read_proc_file(root / "proc/self/cgroup");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = "," + line.substr(first + 1, second - first - 1) + ",";
    if (names.find("," + controller + ",") != std::string::npos) return line.substr(second + 1);
  }
  return "/";
}

/// The minimum value over this process' control group and all its ancestors.
template <class Read>
std::optional<double> tightest(const fs::path& hierarchy, fs::path group, const Read& read) {
  std::optional<double> lowest;
  for (;; group = group.parent_path()) {
    const auto limit = read(hierarchy / group.relative_path());
    if (limit && (!lowest || *limit < *lowest)) lowest = limit;
    if (group == group.parent_path()) return lowest;
  }
}

/// "200000 100000": processor time per period; "max" means no limit.
std::optional<double> quota(const std::optional<std::string>& text) {
  if (!text || text->starts_with("max")) return std::nullopt;
  double time_us = 0;
  double period_us = 0;
  const char* end = text->data() + text->size();
  const auto first = std::from_chars(text->data(), end, time_us);
  if (first.ec != std::errc() || first.ptr == end) return std::nullopt;
  if (std::from_chars(first.ptr + 1, end, period_us).ec != std::errc() || period_us <= 0) {
    return std::nullopt;
  }
  return time_us / period_us;
}

std::optional<double> memory_limit(const fs::path& root) {
  constexpr double kNoLimit = 0x1p60;  // version 1 represents no limit by a number near 2^63
  const fs::path top = root / "sys/fs/cgroup";
  const auto second = tightest(top, group_of(root, ""), [](const fs::path& group) {
    return number_in(group / "memory.max");
  });
  if (second) return second;
  const auto first = tightest(top / "memory", group_of(root, "memory"), [](const fs::path& group) {
    return number_in(group / "memory.limit_in_bytes");
  });
  return first && *first < kNoLimit ? first : std::nullopt;
}

std::optional<double> cpu_limit(const fs::path& root) {
  const fs::path top = root / "sys/fs/cgroup";
  const auto second = tightest(top, group_of(root, ""), [](const fs::path& group) {
    return quota(first_line(group / "cpu.max"));
  });
  if (second) return second;
  return tightest(top / "cpu", group_of(root, "cpu"),
                  [](const fs::path& group) -> std::optional<double> {
                    const auto time_us = number_in(group / "cpu.cfs_quota_us");
                    const auto period_us = number_in(group / "cpu.cfs_period_us");
                    if (!time_us || !period_us || *time_us <= 0 || *period_us <= 0) return {};
                    return *time_us / *period_us;
                  });
}

/// The version at the end of a library's file name: libcudart.so.12.4.127.
std::optional<std::string> version_of(const fs::path& file) {
  std::error_code error;
  const std::string name = fs::canonical(file, error).filename().string();
  const std::size_t so = name.find(".so.");
  if (error || so == std::string::npos) return std::nullopt;
  return name.substr(so + 4);
}

}  // namespace

Json system_conditions(const fs::path& root,
                       const std::map<std::string, std::string>& environment) {
  utsname kernel{};
  ::uname(&kernel);
  return {{"kernel", fmt::format("{} {} {}", kernel.sysname, kernel.release, kernel.machine)},
          {"distribution",
           or_null(value_of(read_proc_file(root / "etc/os-release"), "PRETTY_NAME", '='))},
          {"container", or_null(container(root, environment))}};
}

Json cpu_conditions(const fs::path& root) {
  const std::string cpuinfo = read_proc_file(root / "proc/cpuinfo");
  const std::string stat = read_proc_file(root / "proc/stat");
  int count = 0;
  for (std::size_t at = 0; (at = stat.find("\ncpu", at)) != std::string::npos; ++at) ++count;
  const fs::path cpu = root / "sys/devices/system/cpu";
  return {{"model", or_null(value_of(cpuinfo, "model name", ':'))},
          {"count", count > 0 ? Json(count) : Json(nullptr)},
          {"usable", usable_cpus().size()},
          {"governor", or_null(first_line(cpu / "cpu0/cpufreq/scaling_governor"))},
          {"turbo", turbo(cpu)}};
}

Json memory_conditions(const fs::path& root) {
  const std::string meminfo = read_proc_file(root / "proc/meminfo");
  return {{"total_bytes", bytes_or_null(meminfo_bytes(meminfo, "MemTotal"))},
          {"swap_bytes", bytes_or_null(meminfo_bytes(meminfo, "SwapTotal"))}};
}

Json limit_conditions(const fs::path& root) {
  return {{"memory_bytes", bytes_or_null(memory_limit(root))}, {"cpus", or_null(cpu_limit(root))}};
}

std::vector<fs::path> library_directories(const std::map<std::string, std::string>& environment) {
  std::vector<fs::path> directories;
  if (const auto path = environment.find("LD_LIBRARY_PATH"); path != environment.end()) {
    for (std::size_t begin = 0; begin <= path->second.size();) {
      const std::size_t end = std::min(path->second.find(':', begin), path->second.size());
      if (end > begin) directories.emplace_back(path->second.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  for (const char* usual : {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
                            "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/local/lib"}) {
    directories.emplace_back(usual);
  }
  return directories;
}

Json library_conditions(const std::vector<fs::path>& directories) {
  constexpr std::array kLibraries{
      std::pair{"libcudart", std::array{".so", ".so.13", ".so.12", ".so.11.0"}},
      std::pair{"libcudnn", std::array{".so", ".so.9", ".so.8", ".so.7"}},
      std::pair{"libnccl", std::array{".so", ".so.2", ".so.2", ".so.2"}}};
  Json found;
  for (const auto& [library, endings] : kLibraries) {
    found[library] = nullptr;
    for (const fs::path& directory : directories) {
      for (const char* ending : endings) {
        const auto version = version_of(directory / (std::string(library) + ending));
        if (version && found[library].is_null()) found[library] = *version;
      }
    }
  }
  return found;
}

}  // namespace doetune::runner
