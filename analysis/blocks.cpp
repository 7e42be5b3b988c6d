#include "analysis/blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "analysis/format.h"

namespace doetune::analysis {
namespace {

constexpr const char* kNotRecorded = "not recorded";
constexpr std::size_t kDay = 10;  // length of 2026-11-21

std::string host_of(const study::RunRecord& record) {
  return "host " + (record.host.empty() ? kNotRecorded : record.host);
}

std::string gpu_of(const study::RunRecord& record, bool several_hosts) {
  const std::string gpu = record.gpu.empty() ? "GPU not recorded" : gpu_text(record.gpu);
  return several_hosts ? host_of(record) + ", " + gpu : gpu;
}

std::string day_of(const study::RunRecord& record) {
  return record.start.size() < kDay ? std::string("day ") + kNotRecorded
                                    : record.start.substr(0, kDay);
}

std::string circumstance(doe::BlockType kind, const study::RunRecord& record, bool several_hosts) {
  if (kind == doe::BlockType::kHost) return host_of(record);
  return kind == doe::BlockType::kGpu ? gpu_of(record, several_hosts) : day_of(record);
}

bool has_several_hosts(const std::vector<const study::PlannedRun*>& runs,
                       const std::map<int, study::RunRecord>& records) {
  std::set<std::string> hosts;
  for (const study::PlannedRun* run : runs) hosts.insert(records.at(run->run).host);
  return hosts.size() > 1;
}

}  // namespace

Blocks blocks_of(doe::BlockType kind, const std::vector<const study::PlannedRun*>& runs,
                 const std::map<int, study::RunRecord>& records) {
  Blocks blocks;
  if (kind == doe::BlockType::kPlan) {
    for (const study::PlannedRun* run : runs) blocks.numbers.push_back(run->block);
    return blocks;
  }
  const bool planned = std::any_of(runs.begin(), runs.end(), [&](const study::PlannedRun* run) {
    return run->block != runs.front()->block;
  });
  const bool several_hosts = has_several_hosts(runs, records);
  std::vector<std::string> labels;
  for (const study::PlannedRun* run : runs) {
    const std::string label = circumstance(kind, records.at(run->run), several_hosts);
    labels.push_back(planned ? fmt::format("block {}, {}", run->block, label) : label);
  }
  const std::set<std::string> sorted(labels.begin(), labels.end());
  for (const std::string& label : labels) {
    blocks.numbers.push_back(static_cast<int>(std::distance(sorted.begin(), sorted.find(label))) +
                             1);
    blocks.names[blocks.numbers.back()] = label;
  }
  return blocks;
}

std::string with_block_names(std::string text, const std::map<int, std::string>& names) {
  for (const auto& [number, name] : names) {
    const std::string column = fmt::format("block[{}]", number);
    const std::string named = fmt::format("block[{}]", name);
    for (std::size_t at = text.find(column); at != std::string::npos;
         at = text.find(column, at + named.size())) {
      text.replace(at, column.size(), named);
    }
  }
  return text;
}

}  // namespace doetune::analysis
