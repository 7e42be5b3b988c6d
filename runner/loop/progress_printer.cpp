#include "runner/loop/progress_printer.h"

#include "base/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

namespace doetune::runner {
namespace {

constexpr double kRedrawEvery_s = 1;
constexpr double kMinRedrawInterval_s = 0.1;
constexpr double kHeartbeatEvery_s = 60;
constexpr int kDefaultWidth = 80;
constexpr std::string_view kSeparator = " · ";
constexpr std::string_view kEllipsis = "…";
constexpr std::string_view kClearLine = "\r\x1b[K";

int columns(std::string_view text) { return static_cast<int>(character_count(text)); }

/// At most `width` columns of the text.
std::string cut(const std::string& text, int width) {
  return width < 1 ? "" : shortened(text, static_cast<std::size_t>(width));
}

int terminal_width(int descriptor) {
  winsize size{};
  if (::ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return kDefaultWidth;
  return size.ws_col;
}

/// A path as the user would type it.
std::filesystem::path from_here(const std::filesystem::path& path) {
  std::error_code nowhere;
  const auto here = std::filesystem::current_path(nowhere);
  return nowhere ? path : path.lexically_proximate(here);
}

std::string tally(const RunCounts& counts) {
  return fmt::format("[{}/{}]", counts.decided(), counts.planned);
}

std::string times(const Progress& progress, double now_s) {
  const std::string elapsed = clock_text(progress.elapsed_s(now_s));
  const auto left_s = progress.time_left_s(now_s);
  return left_s ? fmt::format("{}{}ETA {}", elapsed, kSeparator, clock_text(*left_s)) : elapsed;
}

/// Retries and failures so far.
std::string troubles(const Progress& progress) {
  std::string text;
  if (const int retries = progress.retries(); retries > 0) {
    text += fmt::format("{}{} {}", kSeparator, retries, retries == 1 ? "retry" : "retries");
  }
  const int failed = progress.counts().unsuccessful();
  return failed > 0 ? fmt::format("{}{}{} failed", text, kSeparator, failed) : text;
}

/// "861 images/s", "p99 46 ms": the first response is identified by its unit alone.
std::vector<std::string> response_texts(const study::Study& study, const study::RunRecord& record) {
  std::vector<std::string> texts;
  for (const study::Response& response : study.responses) {
    const auto value = record.responses.find(response.name);
    if (value == record.responses.end()) continue;
    const bool named = !texts.empty() || response.unit.empty();
    texts.push_back(fmt::format("{}{:.4g}{}{}", named ? response.name + " " : "", value->second,
                                response.unit.empty() ? "" : " ", response.unit));
  }
  return texts;
}

}  // namespace

ProgressOutput ProgressOutput::of(std::FILE* stream) {
  ProgressOutput output;
  const int descriptor = ::fileno(stream);
  output.write = [stream](std::string_view text) {
    std::fwrite(text.data(), 1, text.size(), stream);
    std::fflush(stream);
  };
  const char* term = std::getenv("TERM");
  const bool dumb = term == nullptr || std::string_view(term) == "dumb";
  if (::isatty(descriptor) == 1 && !dumb) {
    output.width = [descriptor] { return terminal_width(descriptor); };
    const char* no_color = std::getenv("NO_COLOR");
    output.color = no_color == nullptr || *no_color == '\0';
  }
  return output;
}

std::string clock_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::clamp(seconds, 0.0, 1e9)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string fitted(const std::string& front, const std::string& middle, const std::string& back,
                   int width) {
  const int space = width - columns(front) - columns(back);
  return cut(front + cut(middle, std::max(space, 1)) + back, width);
}

std::string run_text(const study::Study& study, const study::PlannedRun& run) {
  std::string text = fmt::format("#{}", run.run);
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    text += fmt::format(" {}={}", study.factors[i].name, study.factors[i].format(run.settings[i]));
  }
  return text;
}

std::string server_text(const study::Study& study, const study::PlannedRun& run) {
  const bool grouped = study::has_hard_to_change(study) && run.whole_plot > 0;
  std::string text = grouped ? fmt::format("setting up whole plot {}:", run.whole_plot)
                             : fmt::format("setting up the server of #{}:", run.run);
  for (std::size_t i = 0; i < study.factors.size(); ++i) {
    const doe::Factor& factor = study.factors[i];
    if (grouped && !factor.hard_to_change) continue;
    text += fmt::format(" {}={}", factor.name, factor.format(run.settings[i]));
  }
  return text;
}

std::string ended_text(const study::Study& study, const RunCounts& counts,
                       const study::PlannedRun& run, const study::RunRecord& record) {
  const bool completed = record.status == study::RunStatus::kCompleted;
  std::vector<std::string> summary{record.reason};
  if (completed) {
    summary = response_texts(study, record);
    if (!record.flags.empty()) summary.push_back("(" + record.flags.front() + ")");
  }
  if (record.same_as) {
    return fmt::format("{} {} {}: {}", tally(counts), run_text(study, run),
                       study::run_status_name(record.status), record.reason);
  }
  return fmt::format("{} {} {} {} {:.1f} s: {}", tally(counts), run_text(study, run),
                     study::run_status_name(record.status), completed ? "in" : "after",
                     record.duration_s, fmt::join(summary, " "));
}

ProgressPrinter::ProgressPrinter(const study::Study& study, ProgressOutput output)
    : study_(study), output_(std::move(output)) {}

ProgressPrinter::~ProgressPrinter() { clear(); }

void ProgressPrinter::clear() {
  if (std::exchange(line_shown_, false)) output_.write(kClearLine);
}

void ProgressPrinter::started(const Progress&, const study::PlannedRun& run, int) {
  current_ = run_text(study_, run);
  changed_ = true;
}

void ProgressPrinter::setting_up(const study::PlannedRun& run) {
  current_ = server_text(study_, run);
  changed_ = true;
}

void ProgressPrinter::ended(const Progress& progress, const study::PlannedRun& run,
                            const study::RunRecord& record,
                            const std::filesystem::path& attempt_directory, bool again) {
  changed_ = true;
  const std::string text = ended_text(study_, progress.counts(), run, record);
  if (record.status == study::RunStatus::kCompleted) {
    measured_ = response_texts(study_, record);
    last_ = run.run;
    if (!on_terminal()) line(text, false);
    return;
  }
  if (record.same_as || record.status == study::RunStatus::kEndedEarly) return line(text, false);
  line(fmt::format("{}; output in {}{}", text, from_here(attempt_directory).string(),
                   again ? "; retrying" : ""),
       record.status != study::RunStatus::kInfeasible);
}

void ProgressPrinter::note(const std::string& text) { line(text, false); }

double ProgressPrinter::tick(const Progress& progress, double now_s) {
  const double since_s = now_s - drawn_s_;
  if (!on_terminal()) {
    if (drawn_s_ == 0) drawn_s_ = now_s;
    if (std::exchange(changed_, false)) drawn_s_ = now_s;
    if (now_s - drawn_s_ < kHeartbeatEvery_s) return kHeartbeatEvery_s - (now_s - drawn_s_);
    drawn_s_ = now_s;
    line(fmt::format("{} {} in progress{}{}{}", tally(progress.counts()), progress.under_way(),
                     kSeparator, times(progress, now_s), troubles(progress)),
         false);
    return kHeartbeatEvery_s;
  }
  const double due_s = changed_ ? kMinRedrawInterval_s : kRedrawEvery_s;
  if (since_s < due_s) return due_s - since_s;
  output_.write(fmt::format("{}{}", kClearLine, status_line(progress, now_s)));
  drawn_s_ = now_s;
  changed_ = false;
  line_shown_ = true;
  return kRedrawEvery_s;
}

/// If the width is too small, settings are cut before the first response, and the times last.
std::string ProgressPrinter::status_line(const Progress& progress, double now_s) const {
  const int width = output_.width() - 1;
  const std::string front = tally(progress.counts()) + " ";
  const std::string back =
      fmt::format("{}{}{}", kSeparator, times(progress, now_s), troubles(progress));
  const int space = width - columns(front) - columns(back) - columns(current_);
  std::string measured;
  for (const std::string& text : measured_) {
    const std::string more = measured.empty() ? fmt::format("{}#{}: {}", kSeparator, last_, text)
                                              : measured + " " + text;
    if (!measured.empty() && columns(more) > space) break;
    measured = more;
  }
  return fitted(front, current_, measured + back, width);
}

/// Prints a permanent line, above the status line if there is one.
void ProgressPrinter::line(const std::string& text, bool alarming) {
  const std::string_view before = std::exchange(line_shown_, false) ? kClearLine : "";
  output_.write(alarming && output_.color ? fmt::format("{}\x1b[31m{}\x1b[0m\n", before, text)
                                          : fmt::format("{}{}\n", before, text));
}

}  // namespace doetune::runner
