#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analysis/format.h"
#include "analysis/reference_point.h"
#include "analysis/run_quality.h"
#include "reports/page/section.h"
#include "reports/page/section_parts.h"
#include "study/telemetry_quantities.h"

namespace doetune::reports {
namespace {

constexpr std::size_t kManyRuns = 60;   // larger tables are collapsed
constexpr std::size_t kMaxRows = 2000;  // larger tables are cut: browsers lay them out slowly

/// "n1, GPU 0"
std::string host_text(const study::RunRecord& record) {
  return record.host + (record.gpu.empty() ? "" : ", " + analysis::gpu_text(record.gpu));
}

/// Which columns differ between runs. Common values are stated once, above the table.
struct Columns {
  std::set<std::string> hosts;
  bool bottleneck = false;
  bool status = false;

  explicit Columns(const analysis::Analysis& analysis)
      : status(analysis.completed() < static_cast<int>(analysis.directory->plan.runs.size())) {
    for (const auto& [run, record] : analysis.records) {
      if (!record.host.empty()) hosts.insert(host_text(record));
      bottleneck = bottleneck || !record.bottleneck.empty();
    }
  }

  bool several_hosts() const { return hosts.size() > 1; }
};

const study::RunRecord* record_of(const analysis::Analysis& analysis, int run) {
  const auto found = analysis.records.find(run);
  return found == analysis.records.end() ? nullptr : &found->second;
}

std::vector<std::string> header(const analysis::Analysis& analysis, const Columns& columns) {
  std::vector<std::string> titles = {"Run", "Point"};
  for (const doe::Factor& factor : analysis::factors_of(analysis)) {
    titles.push_back(analysis::name_with_unit(factor.name, factor.unit));
  }
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    titles.push_back(analysis::name_with_unit(response.response.name, response.response.unit));
  }
  if (columns.bottleneck) titles.emplace_back("Limited by");
  if (columns.several_hosts()) titles.emplace_back("Where");
  if (columns.status) titles.emplace_back("Status");
  titles.emplace_back("Remark");
  return titles;
}

Cell response_cell(const study::RunRecord* record, const std::string& name) {
  if (record == nullptr) return {"–"};
  const auto value = record->responses.find(name);
  return value == record->responses.end() ? Cell{"–"} : number_cell(value->second);
}

/// The bottleneck, with its evidence as the title.
Cell bottleneck_cell(const study::RunRecord* record) {
  if (record == nullptr || record->bottleneck.empty()) return text_cell("–");
  Cell cell = text_cell(analysis::bottleneck_words(record->bottleneck));
  cell.exact = record->evidence;
  return cell;
}

Cell host_cell(const study::RunRecord* record) {
  return text_cell(record == nullptr || record->host.empty() ? "–" : host_text(*record));
}

/// The reason of a failure, the number of attempts, and flags of the measurement.
std::string remark(const analysis::Analysis& analysis, const study::RunRecord* record, int run) {
  if (record == nullptr) return "";
  std::vector<std::string> remarks;
  if (!record->reason.empty()) remarks.push_back(record->reason);
  if (record->attempt > 1) remarks.push_back(fmt::format("attempt {}", record->attempt));
  for (std::string& outlier : analysis::outlier_remarks(analysis, run))
    remarks.push_back(std::move(outlier));
  remarks.insert(remarks.end(), record->flags.begin(), record->flags.end());
  return fmt::format("{}", fmt::join(remarks, "; "));
}

std::vector<Cell> row(const analysis::Analysis& analysis, const Columns& columns,
                      const study::PlannedRun& run) {
  const study::RunRecord* record = record_of(analysis, run.run);
  std::vector<Cell> cells = {{std::to_string(run.run)},
                             text_cell(std::string(doe::point_type_name(run.type)))};
  const std::vector<doe::Factor>& factors = analysis::factors_of(analysis);
  for (std::size_t f = 0; f < factors.size(); ++f) {
    cells.push_back({factors[f].format(run.settings[f]), {}, !factors[f].is_categorical()});
  }
  for (const analysis::ResponseAnalysis& response : analysis.responses) {
    cells.push_back(response_cell(record, response.response.name));
  }
  if (columns.bottleneck) cells.push_back(bottleneck_cell(record));
  if (columns.several_hosts()) cells.push_back(host_cell(record));
  if (columns.status) {
    cells.push_back(text_cell(
        record == nullptr ? "not run" : std::string(study::run_status_name(record->status))));
  }
  cells.push_back(text_cell(remark(analysis, record, run.run)));
  return cells;
}

/// Telemetry means over the measured window of each run; nothing if there is no telemetry.
void write_telemetry(const analysis::Analysis& analysis, Markup& out) {
  std::vector<study::Quantity> measured;
  for (const study::Quantity& quantity : study::telemetry_quantities()) {
    const auto has = [&](const auto& entry) {
      return entry.second.telemetry.count(std::string(quantity.name)) > 0;
    };
    if (std::any_of(analysis.records.begin(), analysis.records.end(), has)) {
      measured.push_back(quantity);
    }
  }
  if (measured.empty()) return;
  std::vector<std::string> titles = {"Run"};
  for (const study::Quantity& quantity : measured) {
    const std::string_view unit = quantity.unit == "1" ? "" : quantity.unit;
    titles.push_back(analysis::name_with_unit(quantity.name, unit));
  }
  std::vector<std::vector<Cell>> rows;
  for (const auto& [run, record] : analysis.records) {
    if (rows.size() == kMaxRows) break;
    rows.push_back({{std::to_string(run)}});
    for (const study::Quantity& quantity : measured) {
      const auto value = record.telemetry.find(std::string(quantity.name));
      rows.back().push_back(value == record.telemetry.end() ? Cell{"–"}
                                                            : number_cell(value->second));
    }
  }
  open_details("Telemetry of each run", out);
  write_table(titles, rows, out);
  out.close();
}

/// The bottlenecks of the runs, each with the evidence of one run.
void write_bottlenecks(const analysis::Analysis& analysis, Markup& out) {
  const std::vector<analysis::RunsAlike> groups = analysis::runs_by_bottleneck(analysis.records);
  if (groups.empty()) return;
  out.element("p", analysis::bottleneck_sentence(analysis.records) + ".");
  out.open("ul");
  for (const analysis::RunsAlike& group : groups) {
    const int run = group.runs.front();
    out.element("li", fmt::format("{}, as in run {}: {}",
                                  analysis::capitalised(analysis::bottleneck_words(group.what)),
                                  run, analysis.records.at(run).evidence));
  }
  out.close();
}

}  // namespace

void write_runs(const Page& page, Markup& out) {
  const analysis::Analysis& analysis = page.analysis;
  const std::vector<study::PlannedRun>& runs = analysis.directory->plan.runs;
  const auto flagged = analysis::flagged_runs(analysis.records).size();
  const Columns columns(analysis);
  out.element("p", fmt::format("{} of {} completed{}{}.", analysis.completed(),
                               analysis::count_of(static_cast<int>(runs.size()), "planned run"),
                               flagged == 0 ? "" : fmt::format(", {} of them flagged", flagged),
                               columns.hosts.size() == 1 && *columns.hosts.begin() != "imported"
                                   ? ", all on " + *columns.hosts.begin()
                                   : ""));
  write_bottlenecks(analysis, out);
  std::vector<std::vector<Cell>> rows;
  for (const study::PlannedRun& run : runs) {
    if (rows.size() < kMaxRows) rows.push_back(row(analysis, columns, run));
  }
  const bool many = runs.size() > kManyRuns;
  if (many) {
    open_details(rows.size() == runs.size()
                     ? "Table of all runs"
                     : fmt::format("Table of the first {} runs; results.csv has all", kMaxRows),
                 out);
  }
  write_table(header(analysis, columns), rows, out);
  if (many) out.close();
  write_telemetry(analysis, out);
}

}  // namespace doetune::reports
