#include "runner/launchers/spark_launcher.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <limits>

#include "base/bounded_file.h"
#include "base/clock.h"
#include "runner/launchers/remote_program.h"
#include "runner/launchers/spark_application.h"
#include "runner/processes/program.h"
#include "runner/processes/run_error.h"
#include "study/files.h"

namespace doetune::runner {
namespace {

namespace fs = std::filesystem;

constexpr int kMaxFruitlessApplications = 3;
constexpr int kTasksInQueue = 100;
constexpr double kTouch_s = 10;
constexpr double kAnswers_s = 0.03;  ///< between two looks for tasks that have ended
constexpr double kEnd_s = 15;        ///< for the application, before it is killed
constexpr std::size_t kMaxAnswerBytes = 1 << 16;
constexpr std::string_view kEnded = ".ended";

std::string text_of(const fs::path& file) {
  std::string text = read_bounded(file, kMaxAnswerBytes).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

/// "CODE\nWORDS" as the answer of a client; without a number, of one that was lost.
ClientAnswer answer_in(const fs::path& file) {
  const std::string text = text_of(file);
  const std::size_t line = std::min(text.find('\n'), text.size());
  ClientAnswer answer;
  const auto read = std::from_chars(text.data(), text.data() + line, answer.status);
  if (read.ec != std::errc() || read.ptr != text.data() + line) answer.status = -1;
  answer.answered = true;
  answer.errors = text.substr(line);
  return answer;
}

}  // namespace

SparkLauncher::SparkLauncher(LauncherRequest request) : ClientLauncher(std::move(request)) {}

SparkLauncher::~SparkLauncher() {
  if (kept_alive_s_ == 0) return;  // no application was ever started
  ending_ = true;
  std::error_code ignored;
  fs::remove(queue_ / "alive", ignored);
  const double until_s = monotonic_s() + kEnd_s;
  while (running_ && monotonic_s() < until_s) commands_.wait(until_s, -1);
  fs::remove_all(queue_.parent_path(), ignored);
}

std::vector<HostCapacity> SparkLauncher::capacities(const study::RunSettings& run,
                                                    const SlotOptions& options) const {
  const std::string submit = run.spark.submit.empty() ? "spark-submit" : run.spark.submit;
  require(!in_path(submit).empty(),
          "the launcher spark needs spark-submit, which is not in PATH: install Spark (pip install "
          "pyspark, in a virtual environment), or set its path in run.spark.submit",
          "run.spark.submit");
  require(
      std::getenv("JAVA_HOME") != nullptr || !in_path("java").empty(),
      "Spark needs Java, which is not in PATH: install it (Debian: openjdk-17-jre-headless), or "
      "set JAVA_HOME",
      "run.launcher");
  require(options.gpus.empty(),
          "--gpus is for launchers where doetune assigns GPUs; with spark, Spark assigns them",
          "run.launcher");
  require(
      run.gpus_per_run.factor.empty(),
      "the launcher spark runs all tasks with the same number of GPUs: run.gpus_per_run must be "
      "a number, not a factor",
      "run.gpus_per_run");
  attempt_program(run.spark.program, "run.spark.program");
  HostCapacity capacity;
  capacity.jobs = options.jobs.value_or(run.jobs.value_or(kTasksInQueue));
  capacity.assigns_gpus = false;
  return {capacity};
}

std::vector<std::string> SparkLauncher::submission() const {
  const study::RunSettings& run = request_.run;
  std::vector<std::string> arguments{run.spark.submit.empty() ? "spark-submit" : run.spark.submit,
                                     "--name", request_.study};
  if (!run.spark.master.empty()) arguments.insert(arguments.end(), {"--master", run.spark.master});
  const auto configure = [&](const std::string& setting) {
    arguments.insert(arguments.end(), {"--conf", setting});
  };
  configure("spark.task.maxFailures=1");  // retries are up to doetune
  configure("spark.ui.showConsoleProgress=false");
  if (run.cpus_per_run) configure(fmt::format("spark.task.cpus={}", *run.cpus_per_run));
  if (run.gpus_per_run.fixed > 0) {
    configure(fmt::format("spark.task.resource.gpu.amount={}",
                          static_cast<double>(run.gpus_per_run.fixed) / run.runs_per_gpu));
  }
  arguments.insert(arguments.end(), run.spark.options.begin(), run.spark.options.end());
  arguments.insert(arguments.end(),
                   {(queue_ / "application.py").string(), queue_.string(),
                    attempt_program(run.spark.program, "run.spark.program").string()});
  return arguments;
}

void SparkLauncher::start_application() {
  std::error_code ignored;
  fs::remove_all(request_.directory / "spark", ignored);
  queue_ = request_.directory / "spark" / fmt::format("{}.{}", ::getpid(), ++applications_);
  fs::create_directories(queue_, ignored);
  study::write_file_atomically(queue_ / "application.py", std::string(kSparkApplication));
  study::write_file_atomically(queue_ / "alive", "");
  kept_alive_s_ = monotonic_s();
  running_ = true;
  commands_.start(submission(), std::numeric_limits<double>::infinity(),
                  [this](const ClientAnswer& answer) { application_ended(answer); });
  for (const Attempt& attempt : not_claimed()) ask(attempt);
}

void SparkLauncher::ask(const Attempt& attempt) const {
  study::write_file_atomically(queue_ / (attempt.name + ".asked"), attempt.directory.string());
}

std::optional<int> SparkLauncher::start_client(const Attempt& attempt) {
  if (running_) ask(attempt);  // otherwise once there is an application
  return std::nullopt;
}

void SparkLauncher::application_ended(const ClientAnswer& answer) {
  running_ = false;
  if (ending_) return;
  read_answers();
  std::error_code none;
  had_context_ = had_context_ || fs::exists(queue_ / "running", none);
  std::string why = text_of(queue_ / "failed");
  if (why.empty()) why = answer.answered ? answer.words() : "it was killed";
  if (!had_context_) {
    problem_ = fmt::format("Spark's application does not start: {}; check run.spark.master", why);
  } else if (++fruitless_ >= kMaxFruitlessApplications) {
    problem_ = fmt::format("{} consecutive Spark applications ended before any run began: {}",
                           kMaxFruitlessApplications, why);
  } else if (request_.note) {
    request_.note(fmt::format("Spark's application has ended ({}); another one is started", why));
  }
}

void SparkLauncher::read_answers() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(queue_, none)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(kEnded)) continue;
    const ClientAnswer answer = answer_in(entry.path());
    fs::remove(entry.path(), none);
    client_ended(name.substr(0, name.size() - kEnded.size()), answer);
  }
}

AttemptEnd SparkLauncher::not_begun(const Attempt&, const ClientAnswer& answer) {
  AttemptEnd end;
  if (answer.status < 0) {
    end.detail = fmt::format("Spark lost its task: {}", answer.words());
    return end;
  }
  end.cause = EndCause::kNotStarted;
  end.detail = fmt::format(
      "doetune-attempt did not start in Spark's executor (exit code {}): {}; it must be installed "
      "there, and the study directory must be at the same path",
      answer.status, answer.words());
  return end;
}

void SparkLauncher::keep_alive() {
  if (!running_ || monotonic_s() < kept_alive_s_ + kTouch_s) return;
  kept_alive_s_ = monotonic_s();
  touch(queue_ / "alive");
}

std::optional<std::vector<LauncherEvent>> SparkLauncher::wait(double timeout_s, int wake) {
  if (!problem_.empty() && events_.empty()) throw RunError(problem_, "run.spark.master");
  if (!running_ && problem_.empty() && !not_claimed().empty()) start_application();
  keep_alive();
  read_answers();
  if (running_) timeout_s = std::min(timeout_s, kAnswers_s);
  return ClientLauncher::wait(timeout_s, wake);
}

}  // namespace doetune::runner
