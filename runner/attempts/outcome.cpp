#include "runner/attempts/outcome.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/bounded_file.h"
#include "base/untrusted_json.h"
#include "runner/attempts/responses.h"
#include "runner/processes/output_text.h"
#include "runner/telemetry/bottleneck.h"
#include "runner/telemetry/summary.h"
#include "study/directory/results.h"

namespace doetune::runner {
namespace {

using study::RunStatus;

constexpr double kSuspended_s = 0.1;
constexpr double kFewReadings = 10;  ///< too few telemetry readings for a verdict

/// Out-of-memory messages of common programs; compared case-insensitively.
constexpr std::array<std::string_view, 15> kOutOfMemory{
    "out of memory",              // CUDA, cuDNN, NCCL, PyTorch, the kernel
    "outofmemory",                // torch.cuda.OutOfMemoryError, java.lang.OutOfMemoryError
    "cuda_error_out_of_memory",   // CUDA driver API
    "cudaerrormemoryallocation",  // CUDA runtime API
    "std::bad_alloc",             // C++
    "memoryerror",                // Python
    "resource_exhausted",         // TensorFlow, JAX
    "cublas_status_alloc_failed",
    "cudnn_status_alloc_failed",
    "cudnn_status_internal_error_device_allocation_failed",
    "cufft_alloc_failed",
    "failed to allocate memory",  // ONNX Runtime, TensorRT
    "unable to allocate",         // NumPy
    "oom_kill event",             // Slurm
    "cannot allocate memory",     // ENOMEM
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The last line with an out-of-memory message.
std::optional<std::string_view> out_of_memory_line(std::string_view text) {
  const std::string folded = lower(text);
  for (const std::string_view words : kOutOfMemory) {
    const std::size_t at = folded.rfind(words);
    if (at == std::string::npos) continue;
    const std::size_t line_end = at == 0 ? std::string_view::npos : text.rfind('\n', at);
    const std::size_t begin = line_end == std::string_view::npos ? 0 : line_end + 1;
    return text.substr(begin, text.find('\n', at) - begin);
  }
  return std::nullopt;
}

std::string with_last_words(std::string reason, const AttemptOutput& output) {
  const std::string_view words = last_line(output.errors);
  return words.empty() ? reason : fmt::format("{}: {}", reason, printable(words));
}

std::string how_it_exited(const AttemptEnd& end) {
  if (end.signal) {
    return fmt::format(
        "ended by signal {} ({}{})", *end.signal, ::strsignal(*end.signal),
        *end.signal == SIGKILL ? "; did the kernel kill it because memory ran out?" : "");
  }
  return fmt::format("exit code {}", end.exit_code.value_or(-1));
}

void add_quality(const study::Study& study, Measured measured, study::RunRecord& record) {
  record.repeats = measured.repeats;
  record.half_width = measured.half_width;
  record.steady = measured.steady;
  // A search brackets its answer; run.precision is that of each of its measurements.
  if (study.search) measured.half_width.erase(study.search->load.name);
  record.flags = measurement_flags(measured, study.run.precision);
  const auto incomplete = record.notes.find("search");
  if (incomplete != record.notes.end()) record.flags.push_back(incomplete->second);
}

/// Rounds to six significant digits: more than the accuracy of any of these values, and a third of
/// the text in the journal.
double rounded(double value) { return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr); }

/// The numeric facts about a run, by name.
Facts facts_of(const study::RunRecord& record) {
  Facts facts = record.telemetry;
  facts.insert(record.responses.begin(), record.responses.end());
  for (const auto& [name, text] : record.notes) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc() && end == text.data() + text.size();
    if (whole && std::isfinite(value)) facts.emplace(name, value);
  }
  return facts;
}

void add_telemetry(const study::Study& study, ReadResponses& read,
                   const std::filesystem::path& file, study::RunRecord& record) {
  std::optional<TimeWindow> window;
  if (read.measured.window) window = {read.measured.window->first, read.measured.window->second};
  const auto throughput = record.responses.find("throughput");
  TelemetrySummary summary = summarise_file(
      file, window, study.run.warmup_s.value_or(0),
      throughput == record.responses.end() ? std::nullopt : std::optional(throughput->second));
  if (window && summary.values.count("samples") == 0 && study.run.telemetry_hz > 0) {
    record.flags.emplace_back(
        "no telemetry was sampled in the window that the workload reported: it is too short, or "
        "its times are not seconds of CLOCK_MONOTONIC");
  }
  for (auto& [name, value] : summary.values) value = rounded(value);
  for (const auto& [name, problem] : read.quantities) {
    const auto value = summary.values.find(name);
    if (value != summary.values.end()) {
      record.responses[name] = value->second;
    } else {
      read.problems.push_back(fmt::format(
          "{}, and telemetry has no {}: {}", problem, name,
          summary.problem.empty() ? "this machine does not report it" : summary.problem));
    }
  }
  record.telemetry = std::move(summary.values);
  if (record.telemetry.empty()) return;
  const double readings = record.telemetry["samples"];
  if (readings < kFewReadings) {
    if (study::uses_quantities(study)) {
      record.flags.push_back(
          fmt::format("telemetry has only {} readings in the measured window", readings));
    }
    return;
  }
  Verdict verdict = find_bottleneck(facts_of(record));
  record.bottleneck = std::move(verdict.bottleneck);
  record.evidence = std::move(verdict.evidence);
  record.flags.insert(record.flags.end(), verdict.disturbances.begin(), verdict.disturbances.end());
}

/// Whether a response, or the reason for a missing one, is read from standard output or error.
bool reads_output(const study::Study& study, const AttemptOutput& output) {
  const auto has_pattern = [](const study::Response& response) {
    return !response.pattern.empty();
  };
  return (!output.result && output.result_problem.empty()) ||
         std::any_of(study.responses.begin(), study.responses.end(), has_pattern);
}

void assess_exit(const study::Study& study, const study::PlannedRun& run, const AttemptEnd& end,
                 const AttemptOutput& output, study::RunRecord& record) {
  if (end.exit_code == kInfeasibleExitCode) {
    record.status = RunStatus::kInfeasible;
    record.reason =
        with_last_words("the workload reported that this configuration cannot run", output);
    return;
  }
  if (end.exit_code != 0) {
    auto line = out_of_memory_line(output.errors);
    if (!line) line = out_of_memory_line(output.output);
    record.status = line ? RunStatus::kInfeasible : RunStatus::kFailed;
    record.reason = line ? fmt::format("out of memory: {}", printable(*line))
                         : with_last_words(how_it_exited(end), output);
    return;
  }
  ReadResponses read = read_responses(study, output);
  record.responses = std::move(read.values);
  record.notes = std::move(read.notes);
  add_quality(study, read.measured, record);
  add_telemetry(study, read, output.telemetry, record);
  study::add_derived_responses(study, run, record);
  for (const study::Response& response : study.responses) {
    if (response.formula.empty() || record.responses.count(response.name) > 0) continue;
    record.flags.push_back(
        fmt::format("the formula {} = {} has no finite value", response.name, response.formula));
  }
  record.status = read.problems.empty() ? RunStatus::kCompleted : RunStatus::kFailed;
  record.reason = printable(fmt::format("{}", fmt::join(read.problems, "; ")));
  if (!end.output_problem.empty() && reads_output(study, output)) {
    record.status = RunStatus::kLost;
    record.responses.clear();
    record.reason = fmt::format("its output could not be written to {}", end.output_problem);
  }
}

/// Whether the attempt was stopped because it was to be ended early. If doetune was killed after it
/// had decided that, the attempt is lost, and not made again either.
bool is_ended_early(const AttemptEnd& end, const AttemptOutput& output) {
  return output.early_end && (end.cause == EndCause::kCancelled || end.cause == EndCause::kLost);
}

void assess_early_end(const study::Study& study, const study::PlannedRun& run,
                      const AttemptOutput& output, study::RunRecord& record) {
  record.status = RunStatus::kEndedEarly;
  record.reason = output.early_end->reason;
  for (const study::Response& response : study.responses) {
    const auto& reported = output.early_end->responses;
    const auto value = reported.find(response.name);
    if (value != reported.end()) record.responses.insert(*value);
  }
  record.bounds = output.early_end->bounds;
  ReadResponses nothing_read;
  add_telemetry(study, nothing_read, output.telemetry, record);
  study::add_derived_responses(study, run, record);
}

void add_circumstances(const AttemptEnd& end, study::RunRecord& record) {
  if (end.suspended_s >= kSuspended_s) {
    record.flags.push_back(fmt::format(
        "doetune or the machine was suspended for {:.3g} s during the run", end.suspended_s));
  }
  if (!end.output_problem.empty()) {
    record.flags.push_back(
        fmt::format("some of its output could not be kept: {}", end.output_problem));
  }
}

}  // namespace

AttemptOutput read_output(const std::filesystem::path& attempt_directory) {
  AttemptOutput output;
  const auto file = attempt_directory / "result.json";
  output.result = read_bounded(file, kMaxJsonBytes);
  std::error_code ignored;
  if (!output.result && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
    output.result_problem =
        fmt::format("result.json is not a regular file of at most {} MiB", kMaxJsonBytes >> 20);
  }
  output.output = read_tail(attempt_directory / "stdout", kTailBytes, &output.output_cut);
  output.errors = read_tail(attempt_directory / "stderr", kTailBytes);
  output.telemetry = attempt_directory / "telemetry.csv";
  output.early_end = read_early_end(attempt_directory);
  return output;
}

study::RunRecord assess(const study::Study& study, const study::PlannedRun& run, int attempt,
                        const AttemptEnd& end, const AttemptOutput& output) {
  study::RunRecord record;
  record.run = run.run;
  record.attempt = attempt;
  record.settings = study::settings_texts(study, run);
  record.exit_code = end.exit_code;
  record.host = end.host;
  record.gpu = end.gpu;
  record.cpus = end.cpus;
  record.start = end.start;
  record.duration_s = end.duration_s;
  if (is_ended_early(end, output)) {
    assess_early_end(study, run, output, record);
    add_circumstances(end, record);
    return record;
  }
  switch (end.cause) {
    case EndCause::kExited:
      assess_exit(study, run, end, output, record);
      break;
    case EndCause::kTimeLimit:
      record.status = RunStatus::kTimedOut;
      record.reason = fmt::format("stopped at its time limit of {} s", study.run.timeout_s);
      break;
    case EndCause::kHung:
      record.status = RunStatus::kTimedOut;
      record.reason = fmt::format("hung: {}", end.detail);
      break;
    case EndCause::kMemory:
      record.status = RunStatus::kInfeasible;
      record.reason = fmt::format("out of memory: {}", end.detail);
      break;
    case EndCause::kCancelled:
      record.status = RunStatus::kCancelled;
      record.reason = "stopped by the user";
      break;
    case EndCause::kNotStarted:
    case EndCause::kSpoiled:
      record.status = RunStatus::kFailed;
      record.reason = end.detail;
      break;
    case EndCause::kLost:
      record.status = RunStatus::kLost;
      record.reason = end.detail;
      break;
  }
  add_circumstances(end, record);
  return record;
}

}  // namespace doetune::runner
