#include "cli/live/live_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <mutex>
#include <system_error>
#include <thread>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/standard_streams.h"
#include "cli/live/live_study.h"
#include "cli/live/loopback_server.h"
#include "reports/page/live_page.h"

namespace doetune::cli {
namespace {

constexpr int kPause_ms = 500;
constexpr double kLookEvery_s = 1;    // at most
constexpr double kReportEvery_s = 5;  // at most
constexpr double kRestPerWork = 30;   // so that the work takes a thirtieth of a processor
constexpr double kViewerGone_s = 5;   // pages ask every 2 s
constexpr double kLastLook_s = 8;     // for pages to fetch the last report

double processor_s(clockid_t of) {
  timespec time{};
  ::clock_gettime(of, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Work that is done at intervals, which grow with its processor time: that of a thread
/// (CLOCK_THREAD_CPUTIME_ID) or of the process.
class Interval {
 public:
  Interval(double min_s, clockid_t clock) : min_s_(min_s), clock_(clock) {}

  bool is_over() const { return monotonic_s() >= next_s_; }

  template <class Work>
  void spend(Work work) {
    const double before_s = processor_s(clock_);
    next_s_ = monotonic_s() + min_s_;  // also if the work throws
    work();
    next_s_ = monotonic_s() + std::max(min_s_, kRestPerWork * (processor_s(clock_) - before_s));
  }

 private:
  double min_s_;
  clockid_t clock_;
  double next_s_ = 0;
};

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// What is served, and what of it has been fetched. Several threads use it.
class Pages {
 public:
  explicit Pages(const std::string& study) : page_(shared(reports::live_page(study))) {}

  /// Without effect after the last one.
  void set_state(std::string json) { set(state_, std::move(json)); }
  void set_report(std::string html) { set(report_, std::move(html)); }

  void set_last(std::string state, std::optional<std::string> report) {
    set_state(std::move(state));
    if (report) set_report(*std::move(report));
    const std::lock_guard lock(mutex_);
    are_last_ = true;
  }

  WebPage find(std::string_view name) {
    constexpr std::string_view kHtml = "text/html; charset=utf-8";
    const std::lock_guard lock(mutex_);
    asked_s_ = monotonic_s();
    if (name.empty()) return {kHtml, page_};
    if (name == "state.json") return {"application/json", state_};
    if (name != "report.html") return {};
    last_fetched_ = last_fetched_ || are_last_;
    return {kHtml, report_};
  }

  /// Whether the last report has been fetched, or nobody is looking.
  bool seen() const {
    const std::lock_guard lock(mutex_);
    return last_fetched_ || monotonic_s() - asked_s_ > kViewerGone_s;
  }

 private:
  void set(std::shared_ptr<const std::string>& page, std::string text) {
    auto next = shared(std::move(text));
    const std::lock_guard lock(mutex_);
    if (!are_last_) page = std::move(next);
  }

  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> page_, state_, report_;
  bool are_last_ = false, last_fetched_ = false;
  double asked_s_ = -kViewerGone_s;  ///< time of the last request
};

/// What the process that serves a study does.
class LiveProcess {
 public:
  LiveProcess(const study::StudyDirectory& directory, std::optional<int> budget,
              const LoopbackSocket& socket, const std::string& token, const FileDescriptor& end)
      : study_(directory.path, budget),
        fitted_(directory.path, budget),
        report_file_(directory.report() / "report.html"),
        pages_(directory.study.name),
        server_(socket.descriptor(), token,
                [this](std::string_view name) { return pages_.find(name); }),
        end_(end) {}

  /// Serves until the command has ended and its report has been seen. The process has to end then,
  /// as its threads go on.
  void run() {
    publish();
    std::thread([this] { server_.serve(); }).detach();
    std::thread([this] { make_reports(); }).detach();
    while (!has_ended()) {
      if (look_.is_over() && study_.has_changed()) {
        study_.state().problem = problem_of([this] { look_.spend([this] { study_.look(); }); });
      }
      publish();
    }
    const std::string state = last_state();
    if (state.empty()) return;  // the command has failed
    pages_.set_last(state, written_report());
    const double until_s = monotonic_s() + kLastLook_s;
    while ((!pages_.seen() || server_.is_answering()) && monotonic_s() < until_s) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  }

 private:
  /// Waits for it for a moment.
  bool has_ended() const {
    pollfd end{end_.get(), POLLIN, 0};
    return ::poll(&end, 1, kPause_ms) > 0;
  }

  [[noreturn]] void make_reports() {
    ::setpriority(PRIO_PROCESS, 0, 19);  // of this thread, and of those that it starts
    for (;;) {
      if (report_.is_over() && fitted_.has_changed()) {
        fitted_.state().problem = problem_of([this] { make_report(); });
        const std::lock_guard lock(mutex_);
        of_report_ = fitted_.state();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(kPause_ms));
    }
  }

  void make_report() {
    fitted_.look();
    if (!fitted_.has_news()) return;
    report_.spend([this] { pages_.set_report(fitted_.report()); });
  }

  /// Does the work. What goes wrong is shown on the page, and tried again later.
  template <class Work>
  static std::string problem_of(Work work) {
    try {
      work();
      return "";
    } catch (const std::exception& error) {
      return error.what();
    }
  }

  /// Shows the runs as they are, with what belongs to the report.
  void publish() {
    LiveState state = study_.state();
    {
      const std::lock_guard lock(mutex_);
      state.report = of_report_.report;
      state.best = of_report_.best;
      state.best_meets_limits = of_report_.best_meets_limits;
      if (state.problem.empty()) state.problem = of_report_.problem;
    }
    pages_.set_state(json_of(state));
  }

  /// The state that the command ends with.
  std::string last_state() const {
    std::string state;
    char part[4096];
    for (ssize_t size = 0; (size = ::read(end_.get(), part, sizeof(part))) > 0;) {
      state.append(part, static_cast<std::size_t>(size));
    }
    return state;
  }

  /// Empty if the command could not write it, which its state says.
  std::optional<std::string> written_report() const {
    try {
      return study::read_file(report_file_);
    } catch (const study::DirectoryError&) {
      return std::nullopt;
    }
  }

  LiveStudy study_;   ///< as shown at once
  LiveStudy fitted_;  ///< of the thread that makes reports
  LiveState of_report_;
  std::mutex mutex_;  ///< of of_report_
  std::filesystem::path report_file_;
  Pages pages_;
  LoopbackServer server_;
  const FileDescriptor& end_;
  Interval look_{kLookEvery_s, CLOCK_THREAD_CPUTIME_ID};
  Interval report_{kReportEvery_s, CLOCK_PROCESS_CPUTIME_ID};
};

/// Makes this process one that is no burden for the runs, and that ends with its parent.
void stand_back(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before that
  // The parent decides what Ctrl-C and the end of the terminal mean.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, "doetune-live");
  std::ofstream("/proc/self/oom_score_adj") << 1000;
  const int nowhere = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nowhere, stream);
}

LoopbackSocket listen_at(int port) {
  try {
    if (port >= 0 && port <= 65535) return LoopbackSocket(static_cast<std::uint16_t>(port));
  } catch (const std::system_error& error) {
    throw UsageError(fmt::format("--live: port {} of 127.0.0.1 cannot be used: {}", port,
                                 error.code().message()));
  }
  throw UsageError(fmt::format("--live: expected a port, 1 to 65535, found '{}'", port));
}

std::string_view phase_of(int exit_code) {
  if (exit_code == kInterrupted) return "interrupted";
  return exit_code == kRunsMissing ? "stopped" : "finished";
}

}  // namespace

void add_live(Options& options) {
  options.add()("live", boost::program_options::value<int>()->implicit_value(0),
                "serve the report to a browser on this machine while runs are made; --live=PORT "
                "chooses the port");
}

LiveReport::LiveReport(const Options& options, const study::StudyDirectory& directory,
                       std::optional<int> budget)
    : directory_(directory.path), budget_(budget) {
  if (!options.has("live") || options.has("dry-run")) return;
  const LoopbackSocket socket = listen_at(options.integer("live", 0));
  const std::string token = random_token();
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) {
    throw std::system_error(errno, std::generic_category(), "--live");
  }
  const FileDescriptor read_end(ends[0]);
  end_ = FileDescriptor(ends[1]);
  const pid_t parent = ::getpid();
  process_ = ::fork();
  if (process_ < 0) throw std::system_error(errno, std::generic_category(), "--live");
  if (process_ == 0) {
    end_.close();
    stand_back(parent);
    try {
      LiveProcess process(directory, budget, socket, token, read_end);
      process.run();
      ::_exit(0);
    } catch (const std::exception&) {
      ::_exit(1);  // of which its parent warns
    }
  }
  print_message("Live report: http://127.0.0.1:{}/{}/\n", socket.port(), token);
}

LiveReport::~LiveReport() {
  if (process_ <= 0) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

int LiveReport::finish(int exit_code) {
  if (process_ <= 0) return exit_code;
  write_report(phase_of(exit_code));
  wait();
  return exit_code;
}

/// Writes the report, and hands the last state to the process.
void LiveReport::write_report(std::string_view phase) {
  LiveStudy study(directory_, budget_);
  LiveState& state = study.state();
  try {
    study.look();
    study.write_report();
    print_message("{} written\n", state.file);
  } catch (const std::exception& error) {
    state.problem = error.what();
    print_message("warning: the report could not be written: {}\n", error.what());
  }
  state.phase = phase;
  state.in_progress.clear();
  // If the process has ended, wait() says so.
  const std::string last = json_of(state);
  std::ignore = ::send(end_.get(), last.data(), last.size(), MSG_NOSIGNAL);
  end_.close();
}

/// Waits until the process has shown the last report, for a time.
void LiveReport::wait() {
  const double until_s = monotonic_s() + 2 * kLastLook_s;
  int status = -1;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (monotonic_s() > until_s) return;  // the destructor ends it
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process_ = 0;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    print_message("warning: the live report ended before the runs did\n");
  }
}

}  // namespace doetune::cli
