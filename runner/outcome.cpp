#include "runner/outcome.h"

#include <fmt/format.h>
#include <signal.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "runner/bounded_file.h"
#include "runner/responses.h"
#include "runner/untrusted_json.h"
#include "study/results.h"

namespace doetune::runner {
namespace {

using study::RunStatus;

constexpr std::size_t kTailBytes = 1 << 20;
constexpr std::size_t kMostReasonBytes = 300;

/// What programs say when memory runs out; compared without regard to case.
constexpr std::array<std::string_view, 9> kOutOfMemory{
    "out of memory",              // CUDA, cuDNN, PyTorch, the kernel
    "outofmemory",                // torch.cuda.OutOfMemoryError, java.lang.OutOfMemoryError
    "cuda_error_out_of_memory",   // CUDA driver API
    "cudaerrormemoryallocation",  // CUDA runtime API
    "std::bad_alloc",             // C++
    "memoryerror",                // Python
    "resource_exhausted",         // TensorFlow, JAX
    "cublas_status_alloc_failed",
    "cannot allocate memory",  // ENOMEM
};

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return result;
}

/// The last line that tells of memory that ran out.
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

std::string_view last_line(std::string_view text) {
  const std::size_t last = text.find_last_not_of(" \t\r\n");
  if (last == std::string_view::npos) return {};
  text = text.substr(0, last + 1);
  return text.substr(text.rfind('\n') + 1);
}

/// Bytes of the UTF-8 character that the text begins with, from two on; 0 where none does.
std::size_t multibyte_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : byte(0) >= 0xc2 ? 2 : 0;
  if (length == 0 || length > text.size() || byte(0) > 0xf4) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  return length;
}

/// Program output as part of a message: short, and without what a terminal would obey: control
/// characters, those of C1 (U+0080 to U+009F) too, and bytes that are no UTF-8, for a terminal of
/// 8 bits obeys 0x9b as well.
std::string printable(std::string_view line) {
  line = line.substr(0, kMostReasonBytes);
  std::string text;
  while (!line.empty()) {
    const auto first = static_cast<unsigned char>(line[0]);
    const std::size_t length = first < 0x80 ? 1 : multibyte_length(line);
    const bool c1 = first == 0xc2 && length == 2 && static_cast<unsigned char>(line[1]) < 0xa0;
    const bool control = first < 0x20 || first == 0x7f || c1 || length == 0;
    text += control ? " " : line.substr(0, length);
    line.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return text;
}

std::string with_last_words(std::string reason, const AttemptOutput& output) {
  const std::string_view words = last_line(output.errors);
  return words.empty() ? reason : fmt::format("{}: {}", reason, printable(words));
}

std::string how_it_exited(const AttemptEnd& end) {
  if (end.signal) {
    return fmt::format("ended by signal {} ({}{})", *end.signal, ::strsignal(*end.signal),
                       *end.signal == SIGKILL ? "; the kernel's answer to a want of memory?" : "");
  }
  return fmt::format("exit code {}", end.exit_code.value_or(-1));
}

void judge_exit(const study::Study& study, const study::PlannedRun& run, const AttemptEnd& end,
                const AttemptOutput& output, study::RunRecord& record) {
  if (end.exit_code == kInfeasibleExitCode) {
    record.status = RunStatus::kInfeasible;
    record.reason = with_last_words("the workload says that these settings cannot run", output);
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
  study::add_derived_responses(study, run, record.responses);
  record.status = read.problems.empty() ? RunStatus::kCompleted : RunStatus::kFailed;
  record.reason = printable(fmt::format("{}", fmt::join(read.problems, "; ")));
}

}  // namespace

AttemptOutput read_output(const std::filesystem::path& attempt_directory) {
  AttemptOutput output;
  const auto file = attempt_directory / "result.json";
  output.result = read_bounded(file, kMostJsonBytes);
  std::error_code ignored;
  if (!output.result && std::filesystem::exists(std::filesystem::symlink_status(file, ignored))) {
    output.result_problem =
        fmt::format("result.json is not a regular file of at most {} MiB", kMostJsonBytes >> 20);
  }
  output.output = read_tail(attempt_directory / "stdout", kTailBytes);
  output.errors = read_tail(attempt_directory / "stderr", kTailBytes);
  return output;
}

study::RunRecord judge(const study::Study& study, const study::PlannedRun& run, int attempt,
                       const AttemptEnd& end, const AttemptOutput& output) {
  study::RunRecord record;
  record.run = run.run;
  record.attempt = attempt;
  record.exit_code = end.exit_code;
  record.host = end.host;
  record.gpu = end.gpu;
  record.cpus = end.cpus;
  record.start = end.start;
  record.duration_s = end.duration_s;
  switch (end.cause) {
    case EndCause::kExited:
      judge_exit(study, run, end, output, record);
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
  return record;
}

}  // namespace doetune::runner
