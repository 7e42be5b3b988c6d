#include "cli/live/live_study.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>

#include "analysis/best_run.h"
#include "analysis/format.h"
#include "analysis/run_quality.h"
#include "base/json_format.h"
#include "cli/runs/expected_time.h"
#include "cli/runs/runs_in_progress.h"
#include "reports/documents/write_report.h"
#include "reports/page/report_page.h"
#include "runner/loop/progress_printer.h"
#include "study/directory/journal.h"

namespace doetune::cli {
namespace {

/// "throughput 861 images/s, latency 46 ms".
std::string values_text(const study::Study& study, const study::RunRecord& record) {
  std::string text;
  for (const study::Response& response : study.responses) {
    const auto value = record.responses.find(response.name);
    if (value == record.responses.end()) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", response.name,
                        analysis::with_unit(analysis::short_number(value->second), response.unit));
  }
  return text;
}

/// "#7 batch_size=8 completed: throughput 861 images/s".
std::string ended_text(const study::StudyDirectory& directory, const study::RunRecord& record) {
  const bool completed = record.status == study::RunStatus::kCompleted;
  return fmt::format(
      "{} {}: {}",
      runner::run_text(directory.study,
                       directory.plan.runs[static_cast<std::size_t>(record.run - 1)]),
      study::run_status_name(record.status),
      completed ? values_text(directory.study, record) : record.reason);
}

std::vector<std::string> ends_of(const analysis::Records& records) {
  constexpr std::size_t kMaxKinds = 3;
  std::vector<std::string> texts;
  for (const analysis::RunsAlike& alike : analysis::runs_by_end(records)) {
    if (texts.size() == kMaxKinds) break;
    texts.push_back(analysis::runs_text(alike.runs) + " " + alike.what);
  }
  return texts;
}

json::Format<LiveState> state_format() {
  return json::object<LiveState>({{"name", &LiveState::name},
                                  {"phase", &LiveState::phase},
                                  {"done", &LiveState::done},
                                  {"planned", &LiveState::planned},
                                  {"infeasible", &LiveState::infeasible},
                                  {"unsuccessful", &LiveState::unsuccessful},
                                  {"time_left", &LiveState::time_left},
                                  {"in_progress", &LiveState::in_progress},
                                  {"ends", &LiveState::ends},
                                  {"last", &LiveState::last},
                                  {"best", &LiveState::best},
                                  {"best_meets_limits", &LiveState::best_meets_limits},
                                  {"report", &LiveState::report},
                                  {"problem", &LiveState::problem},
                                  {"file", &LiveState::file}});
}

}  // namespace

LiveStudy::LiveStudy(std::filesystem::path directory, std::optional<int> budget)
    : path_(std::move(directory)), budget_(budget) {
  state_.phase = "running";
}

LiveStudy::Signature LiveStudy::signature() const {
  Signature signature;
  for (const char* name : {"runs.jsonl", "plan.csv", "plan.json", "runs"}) {
    struct stat file {};
    if (::stat((path_ / name).c_str(), &file) != 0) continue;
    for (const std::int64_t part : {std::int64_t{file.st_size}, std::int64_t{file.st_mtim.tv_sec},
                                    std::int64_t{file.st_mtim.tv_nsec}}) {
      signature.push_back(part);
    }
  }
  return signature;
}

bool LiveStudy::has_changed() const { return !directory_ || signature() != seen_; }

void LiveStudy::look() {
  const Signature now = signature();
  directory_ = study::open_directory(path_);
  const study::StudyDirectory& directory = *directory_;
  const std::vector<study::RunRecord> all = study::read_journal(directory).records;
  const analysis::Records records = study::final_records(all);
  runner::RunCounts counts = runner::count_runs(directory.plan, records);
  state_.name = directory.study.name;
  state_.done = counts.decided();
  state_.planned = std::max(counts.planned, budget_.value_or(0));
  state_.infeasible = counts.infeasible;
  state_.unsuccessful = counts.unsuccessful();
  const auto left_s = seconds_for(directory.study, records, state_.planned - state_.done);
  state_.time_left = left_s && *left_s > 0 ? analysis::duration_text(*left_s) : "";
  state_.in_progress.clear();
  for (const RunInProgress& run : runs_in_progress(directory)) {
    state_.in_progress.push_back(runner::run_text(
        directory.study, directory.plan.runs[static_cast<std::size_t>(run.run - 1)]));
  }
  state_.ends = ends_of(records);
  state_.last = all.empty() ? "" : ended_text(directory, all.back());
  runs_ = {all.size(), directory.plan.runs.size()};
  seen_ = now;
}

void LiveStudy::describe_best(const analysis::Analysis& analysis) {
  const auto best = analysis::best_measured_run(analysis);
  state_.best =
      best ? fmt::format(
                 "{}: {}",
                 runner::run_text(directory_->study,
                                  directory_->plan.runs[static_cast<std::size_t>(best->run - 1)]),
                 values_text(directory_->study, analysis.records.at(best->run)))
           : "";
  state_.best_meets_limits = !best || best->meets_limits;
}

std::string LiveStudy::report() {
  const auto runs = runs_;
  const analysis::Analysis analysis = analysis::analyse(*directory_);
  std::string page = reports::report_html(analysis);
  describe_best(analysis);
  reported_ = runs;
  state_.report = fmt::format("{} of {}", runs.first, runs.second);
  return page;
}

void LiveStudy::write_report() {
  const analysis::Analysis analysis = analysis::analyse(*directory_);
  describe_best(analysis);
  reports::write_answers(analysis);
  state_.file = reports::write_report(analysis).pages.front().string();
  state_.report = "written";
}

std::string json_of(const LiveState& state) { return state_format().text(state); }

}  // namespace doetune::cli
