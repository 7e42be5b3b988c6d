#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <mutex>

#include "base/json_format.h"
#include "base/nearest_name.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/options/run_numbers.h"
#include "cli/terminal/terminal.h"
#include "runner/loop/progress_printer.h"
#include "study/directory/results.h"
#include "study/file/yaml.h"
#include "study/study.h"
#include "study/tables/table_file.h"
#include "surfaces/surface.h"
#include "tuning/replay.h"
#include "tuning/study_search.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

using tuning::ReplayedBudget;
using tuning::Strategy;

struct StrategyResult {
  Strategy strategy;
  tuning::Replayed replayed;
};

/// The 95 % interval of the median from order statistics.
surfaces::Interval median_interval(const ReplayedBudget& budget) {
  const auto n = static_cast<double>(budget.worth.size());
  const double half = 0.98 / std::sqrt(n);
  return {budget.quantile(std::max(0.0, 0.5 - half)), budget.quantile(std::min(1.0, 0.5 + half))};
}

/// The median number of runs to within 2 % of the best; empty if most searches did not get there.
std::optional<int> median_runs_to_best(const tuning::Replayed& replayed) {
  std::vector<int> runs;
  for (const std::optional<int>& own : replayed.runs_to_best) {
    if (own) runs.push_back(*own);
  }
  const std::size_t middle = replayed.runs_to_best.size() / 2;
  if (runs.size() <= middle) return std::nullopt;
  std::nth_element(runs.begin(), runs.begin() + static_cast<std::ptrdiff_t>(middle), runs.end());
  return runs[middle];
}

std::vector<Strategy> strategies_of(const Options& options) {
  std::vector<Strategy> strategies;
  const std::vector<std::string> names = doe::words_of<Strategy>();
  const std::string all = fmt::format("{}", fmt::join(names, ","));
  for (const std::string& word : split_list(options.text("strategy", all))) {
    const auto strategy = doe::choice_of<Strategy>(word);
    if (!strategy) {
      throw UsageError(
          fmt::format("--strategy: unknown value '{}'{}", word, did_you_mean_or_list(word, names)));
    }
    strategies.push_back(*strategy);
  }
  if (strategies.empty())
    throw UsageError(fmt::format("--strategy: expected some of {}, found ''", all));
  return strategies;
}

std::vector<int> budgets_of(const Options& options) {
  std::vector<int> budgets;
  for (const std::string& word : split_list(options.text("budget", "15,20,30,40,60"))) {
    const double runs = study::parse_number(word).value_or(0);
    const bool ascending = budgets.empty() || runs > budgets.back();
    if (runs < 1 || runs > 1e6 || runs != std::floor(runs) || !ascending) {
      throw UsageError(
          fmt::format("--budget: expected ascending numbers of runs, found '{}'", word));
    }
    budgets.push_back(static_cast<int>(runs));
  }
  if (budgets.empty()) throw UsageError("--budget: expected ascending numbers of runs, found ''");
  return budgets;
}

tuning::ReplayOptions replay_options(const Options& options) {
  tuning::ReplayOptions replay;
  replay.budgets = budgets_of(options);
  replay.searches = options.integer("searches", replay.searches);
  replay.batch = options.integer("batch", replay.batch);
  for (const auto& [name, value] :
       {std::pair("searches", replay.searches), {"batch", replay.batch}}) {
    if (value < 1) {
      throw UsageError(
          fmt::format("--{}: expected an integer of at least 1, found '{}'", name, value));
    }
  }
  const std::string noise = options.text("noise", "0");
  replay.noise = study::parse_number(noise).value_or(-1);
  if (replay.noise < 0) {
    throw UsageError(fmt::format(
        "--noise: expected a relative standard deviation, such as 0.03, found '{}'", noise));
  }
  return replay;
}

/// The responses that a table must have, and those with a formula that it has: what they derive
/// from, such as telemetry, may be lost.
std::vector<std::string> columns_of(const study::Study& study, const study::RunTable& table) {
  std::vector<std::string> names;
  for (const study::Response& response : study.responses) {
    const bool is_optional = !response.formula.empty();
    if (!is_optional || table.find_exactly(response.name)) names.push_back(response.name);
  }
  return names;
}

/// The responses of a row, computed where they have a formula.
std::map<std::string, double> responses_of(const study::Study& study, const study::TableRow& row) {
  study::PlannedRun run;
  run.settings = row.settings;
  study::RunRecord record;
  record.responses = row.responses;
  study::add_derived_responses(study, run, record);
  std::map<std::string, double> responses = record.responses;
  responses.insert(row.responses.begin(), row.responses.end());
  return responses;
}

tuning::RecordedSystem recorded_system(const study::Study& study,
                                       const std::filesystem::path& table) {
  const std::vector<std::string> names = columns_of(study, study::read_csv_runs(table));
  std::vector<tuning::Observation> rows;
  for (const study::TableRow& row : study::read_table(study, table, names)) {
    if (row.status == study::RunStatus::kCompleted) {
      rows.push_back({row.settings, true, responses_of(study, row)});
    } else if (row.status == study::RunStatus::kInfeasible) {
      rows.push_back({row.settings, false, {}});
    }
  }
  try {
    tuning::RecordedSystem system(tuning::problem_of(study), rows);
    if (system.excluded() > 0) {
      print_message("{} of {} rows are left out: the study's constraints exclude them\n",
                    system.excluded(), rows.size());
    }
    return system;
  } catch (const std::invalid_argument& error) {
    throw UsageError(fmt::format("{}: {}", table.string(), error.what()));
  }
}

json::Format<std::vector<StrategyResult>> replayed_format() {
  const auto median = [](const ReplayedBudget& budget) { return budget.quantile(0.5); };
  const auto interval = [](const ReplayedBudget& budget) {
    const surfaces::Interval median_of = median_interval(budget);
    return std::vector<double>{median_of.low, median_of.high};
  };
  const auto worst = [](const ReplayedBudget& budget) { return budget.quantile(0.1); };
  const auto budget = json::object<ReplayedBudget>({{"runs", &ReplayedBudget::runs},
                                                    {"median", median},
                                                    {"median_interval", interval},
                                                    {"worst_tenth", worst},
                                                    {"failing", &ReplayedBudget::failing},
                                                    {"worth", &ReplayedBudget::worth}});
  const auto strategy = json::object<StrategyResult>(
      {{"strategy", [](const StrategyResult& result) { return doe::word_of(result.strategy); }},
       {"runs_to_best",
        [](const StrategyResult& result) { return median_runs_to_best(result.replayed); }},
       {"budgets", [](const StrategyResult& result) { return result.replayed.budgets; }, budget}});
  return json::document<std::vector<StrategyResult>>({{"strategies", std::identity(), strategy}});
}

void print_replayed(const std::vector<StrategyResult>& results, int searches) {
  TextTable table({"strategy", "runs", "median", "95 % interval", "worst tenth", "failing"});
  for (const StrategyResult& result : results) {
    for (const ReplayedBudget& budget : result.replayed.budgets) {
      const surfaces::Interval interval = median_interval(budget);
      table.add({doe::word_of(result.strategy), std::to_string(budget.runs),
                 fmt::format("{:.3f}", budget.quantile(0.5)),
                 fmt::format("{:.3f} to {:.3f}", interval.low, interval.high),
                 fmt::format("{:.3f}", budget.quantile(0.1)),
                 fmt::format("{} of {}", budget.failing(), searches)});
    }
  }
  fmt::print("True value of the recommended settings, as a fraction of the table's best:\n{}\n",
             table.str());
  for (const StrategyResult& result : results) {
    const auto runs = median_runs_to_best(result.replayed);
    fmt::print("{}: ran one within 2 % of the best {}\n", doe::word_of(result.strategy),
               runs ? fmt::format("within {} runs (median)", *runs)
                    : "in fewer than half of the searches");
  }
}

/// On a terminal, a line with how many searches of a strategy have ended.
class SearchCount {
 public:
  SearchCount(Strategy strategy, int searches)
      : strategy_(doe::word_of(strategy)), searches_(searches) {
    show();
  }
  ~SearchCount() { write("\r\x1b[K"); }
  SearchCount(const SearchCount&) = delete;
  SearchCount& operator=(const SearchCount&) = delete;

  void add() {
    const std::scoped_lock lock(mutex_);
    ++ended_;
    show();
  }

 private:
  void show() const { write(fmt::format("\r{}: {} of {} searches", strategy_, ended_, searches_)); }
  void write(const std::string& text) const {
    if (output_.width) output_.write(text);
  }

  const runner::ProgressOutput output_ = runner::ProgressOutput::of(stderr);
  std::string strategy_;
  int searches_, ended_ = 0;
  std::mutex mutex_;
};

}  // namespace

json::Schema replay_schema() { return replayed_format().schema; }

void describe_replay(Options& options) {
  const auto text = [](const char* value) { return po::value<std::string>()->value_name(value); };
  const auto number = [] { return po::value<int>()->value_name("N"); };
  options.add()("strategy", text("LIST"), "strategies to compare (all)")(
      "budget", text("LIST"), "after how many runs to compare (15,20,30,40,60)")(
      "searches", number(), "number of searches, each with its own random numbers (100)")(
      "noise", text("SD"),
      "relative standard deviation of the noise added to the table's values (0)")(
      "batch", number(), "number of runs to propose at a time (1)");
  options.choices("strategy", {doe::words_of<Strategy>(), true});
  options.add_positional("FILES", 2);
}

int command_replay(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::vector<std::string> files = options.list("FILES");
  if (files.size() != 2) {
    throw UsageError(
        "doetune replay: needs a study file and a table: doetune replay STUDY.yaml TABLE.csv");
  }
  tuning::ReplayOptions replay = replay_options(options);
  const std::vector<Strategy> strategies = strategies_of(options);
  const tuning::RecordedSystem system = recorded_system(study::load_study(files[0]), files[1]);
  std::vector<StrategyResult> results;
  for (const Strategy strategy : strategies) {
    SearchCount count(strategy, replay.searches);
    replay.strategy = strategy;
    replay.on_search = [&count] { count.add(); };
    results.push_back({strategy, tuning::replay(system, replay)});
  }
  if (options.json()) {
    fmt::print("{}", replayed_format().text(results));
  } else {
    print_replayed(results, replay.searches);
  }
  return kDone;
}

}  // namespace doetune::cli
