#include "runner/search/search_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "base/standard_streams.h"
#include "base/untrusted_json.h"
#include "runner/attempts/command.h"
#include "runner/attempts/outcome.h"
#include "runner/attempts/request.h"
#include "runner/attempts/workload.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/directory/progress.h"
#include "study/files.h"
#include "study/telemetry_quantities.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kReserve = 0.95;  // of the time limit; the rest is for shutting down

json request_in(const fs::path& attempt) {
  const auto text = read_bounded(attempt / "request.json", kMaxJsonBytes);
  auto request = text ? parse_untrusted(*text) : std::nullopt;
  if (!request) throw RunError(fmt::format("{}: has no request.json", attempt.string()));
  return std::move(*request);
}

study::PlannedRun run_of(const json& request, const study::Study& study) {
  study::PlannedRun run;
  run.run = request.at("run").get<int>();
  for (const doe::Factor& factor : study.factors) {
    const json& value = request.at("factors").at(factor.name);
    run.settings.push_back(value.is_string() ? factor.parse(value.get<std::string>()).value()
                                             : value.get<double>());
  }
  return run;
}

std::optional<ServerAddress> server_of(const json& request) {
  if (!request.contains("server")) return std::nullopt;
  const json& server = request["server"];
  return ServerAddress{server.at("host").get<std::string>(), server.at("port").get<int>()};
}

/// The study of one call: its responses are those that the program itself reports.
study::Study study_of_call(study::Study study) {
  const auto& limits = study.search->limits;
  std::erase_if(study.responses, [&](const study::Response& response) {
    const bool limited = std::ranges::any_of(
        limits, [&](const auto& limit) { return limit.response == response.name; });
    const bool telemetry =
        response.pattern.empty() && study::find_quantity(response.name) != nullptr;
    return response.name == study.search->load.name || !response.formula.empty() ||
           (telemetry && !limited);
  });
  study.search.reset();
  return study;
}

/// A limit's excess relative to it (absolute, if it is 0).
double relative(double difference, const study::LoadLimit& limit) {
  return limit.value == 0 ? difference : difference / std::abs(limit.value);
}

double excess_over(const study::LoadLimit& limit, double value) {
  return relative(limit.at_most ? value - limit.value : limit.value - value, limit);
}

std::string text_of(const study::LoadLimit& limit, double value) {
  const bool kept = excess_over(limit, value) <= 0;
  const char* sign = limit.at_most ? (kept ? "<=" : ">") : (kept ? ">=" : "<");
  return fmt::format("{} = {:.4g} {} {:.4g}", limit.response, value, sign, limit.value);
}

/// The program's result with an object `responses`, which may be the whole of it.
json with_responses(json result, const study::RunRecord& record) {
  if (!result.is_object()) result = json::object();
  const auto found = result.find("responses");
  if (found != result.end() && found->is_object()) return result;
  json responses = json::object();
  for (const auto& [name, value] : record.responses)
    responses[name] = result.contains(name) ? result[name] : json(value);
  result["responses"] = std::move(responses);
  return result;
}

void set_member(json& result, const char* object, const std::string& name, json value) {
  if (!result.contains(object) || !result[object].is_object()) result[object] = json::object();
  result[object][name] = std::move(value);
}

}  // namespace

SearchRun::SearchRun(const fs::path& attempt)
    : attempt_(attempt),
      request_(request_in(attempt)),
      study_(study::load_study(attempt.parent_path().parent_path() / "study.yaml")) {
  if (!study_.search) throw RunError("the study searches no load");
  search_ = *study_.search;
  study_ = study_of_call(std::move(study_));
  run_ = run_of(request_, study_);
  server_ = server_of(request_);
  deadline_s_ = monotonic_s() + kReserve * request_.at("time_limit_s").get<double>();
}

/// Starts the program as an attempt would, and waits for its end.
void SearchRun::start(double load, const fs::path& directory, Call& made) const {
  Command command;
  if (study_.command.empty()) {
    command.program = find_workload(study_.workload);
    command.arguments = {command.program.string()};
  } else {
    study::Study searched = study_;
    searched.search = search_;
    command.arguments =
        fill_command(searched, run_, request_.at("attempt").get<int>(), directory, server_, load);
    command.program = find_program(command.arguments.front(), fs::current_path(),
                                   search_path(study_.run.environment));
  }
  command.environment = {{"DOETUNE_REQUEST", (directory / "request.json").string()},
                         {"DOETUNE_RESULT", (directory / "result.json").string()},
                         {"DOETUNE_PROGRESS", study::progress_file(directory).string()}};
  command.working_directory = fs::current_path();
  command.time_limit_s = std::max(0.0, deadline_s_ - monotonic_s());
  json request = request_;
  request["factors"][search_.load.name] = json::parse(search_.load.format(load));
  std::erase(request["responses"].get_ref<json::array_t&>(), json(search_.load.name));
  request["time_limit_s"] = command.time_limit_s;
  study::write_file_atomically(directory / "request.json", request.dump(2) + "\n");

  const CommandResult result = run_command(command);
  study::write_file_atomically(directory / "stdout", result.output);
  study::write_file_atomically(directory / "stderr", result.errors);
  AttemptOutput output = read_output(directory);
  output.output_cut = result.output.size() >= kTailBytes;
  AttemptEnd end;
  end.cause = result.exit_code ? EndCause::kExited : EndCause::kSpoiled;
  end.exit_code = result.exit_code;
  end.detail = failure_text(result);
  made.record = assess(study_, run_, request_.at("attempt").get<int>(), end, output);
  const auto object = output.result ? parse_untrusted(*output.result) : last_object(output.output);
  if (object) made.result = *object;
  made.output = std::move(output.output);
  made.errors = std::move(output.errors);
}

SearchRun::Call SearchRun::call(double load) {
  Call made;
  for (int i = 0; i < 2; ++i) {
    const fs::path directory = attempt_ / "calls" / std::to_string(++calls_);
    fs::create_directories(directory);
    made = Call();
    made.load = load;
    made.begin_s = monotonic_s();
    start(load, directory, made);
    made.end_s = monotonic_s();
    longest_s_ = std::max(longest_s_, made.end_s - made.begin_s);
    const bool again =
        made.record.status == study::RunStatus::kFailed && made.end_s + longest_s_ < deadline_s_;
    if (!again) break;
  }
  return made;
}

LoadProbe SearchRun::probe(const Call& made) {
  LoadProbe probe{made.load, std::numeric_limits<double>::infinity()};
  std::string words = made.record.reason;
  if (made.record.status == study::RunStatus::kCompleted) {
    probe.excess = -probe.excess;
    for (const study::LoadLimit& limit : search_.limits) {
      const double value = made.record.responses.at(limit.response);
      const double excess = excess_over(limit, value);
      if (excess < probe.excess) continue;
      const auto width = made.record.half_width.find(limit.response);
      const bool known = width != made.record.half_width.end();
      probe.excess = excess;
      probe.half_width = known ? relative(width->second * std::abs(value), limit) : 0;
      words = text_of(limit, value);
    }
  }
  print_message("{} {}: {}\n", search_.load.name, search_.load.format(made.load), words);
  words_.push_back(std::move(words));
  return probe;
}

SearchEnd SearchRun::run() {
  LargestLoad search(search_.load);
  while (const auto load = search.next()) {
    if (calls_ > 0 && monotonic_s() + longest_s_ > deadline_s_) break;
    Call made = call(*load);
    search.add(probe(made));
    (search.probes().back().kept() ? best_ : worst_) = std::move(made);
  }
  return best_ ? answer(search) : no_answer(search);
}

/// Why the answer is only a bound; empty if it is bracketed.
std::string SearchRun::bound(const LargestLoad& search) const {
  const std::string& name = search_.load.name;
  const std::string kept = search_.load.format(search.kept()->load);
  if (search.next()) {
    return fmt::format(
        "the time limit ended the search: the largest {} that meets the limits is {}{}", name, kept,
        search.exceeded() == nullptr ? " or above"
                                     : " to " + search_.load.format(search.exceeded()->load));
  }
  if (search.exceeded() != nullptr) return "";
  return fmt::format(
      "every {0} up to the highest, {1}, meets the limits ({2} there); the largest may lie above "
      "the range",
      name, kept, words_.back());
}

/// What each load measured, in the order of the calls.
std::string SearchRun::calls_text(const LargestLoad& search) const {
  std::string text;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : "; ",
                        search_.load.format(search.probes()[i].load), words_[i]);
  }
  return text;
}

SearchEnd SearchRun::answer(const LargestLoad& search) const {
  const std::string& name = search_.load.name;
  const double load = best_->load;
  SearchEnd end;
  end.result = with_responses(best_->result, best_->record);
  set_member(end.result, "responses", name, load);
  const auto [low, high] = search.interval();
  if (high) set_member(end.result, "precision", name, std::max(load - low, *high - load) / load);
  set_member(end.result, "notes", "calls", calls_text(search));
  if (const std::string text = bound(search); !text.empty())
    set_member(end.result, "notes", "search", text);
  if (!end.result.contains("window")) end.result["window"] = {best_->begin_s, best_->end_s};
  end.output = best_->output;
  end.errors = best_->errors;
  return end;
}

SearchEnd SearchRun::no_answer(const LargestLoad& search) const {
  const study::RunRecord& record = worst_->record;
  SearchEnd end;
  end.exit_code = 1;
  end.reason = record.reason;
  if (search.next()) {
    end.reason =
        fmt::format("the time limit was reached before a {} that meets the limits was found: {}",
                    search_.load.name, calls_text(search));
  } else if (record.status == study::RunStatus::kInfeasible) {
    end.exit_code = kInfeasibleExitCode;
  } else if (record.status == study::RunStatus::kCompleted) {
    end.exit_code = kInfeasibleExitCode;
    end.reason = fmt::format(
        "no {} meets the limits, not even the lowest: at {} {} ({:.3g} % beyond the limit)",
        search_.load.name, search_.load.format(worst_->load), words_.back(),
        100 * search.exceeded()->excess);
  }
  return end;
}

}  // namespace doetune::runner
