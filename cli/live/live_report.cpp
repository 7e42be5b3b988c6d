#include "cli/live/live_report.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
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

constexpr double kLookEvery_s = 1;      // at most
constexpr double kReportEvery_s = 5;    // at most
constexpr double kRestPerWork = 30;     // so that the work takes a thirtieth of a processor
constexpr double kViewerGone_s = 5;     // pages ask every 2 s
constexpr double kLastLook_s = 8;       // for a page to fetch the final report
constexpr double kFinalReport_s = 300;  // limit on the time for it

double processor_s() {
  timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// Work that is done at intervals, which grow with its cost.
class Interval {
 public:
  explicit Interval(double least_s) : least_s_(least_s) {}

  bool is_over() const { return monotonic_s() >= next_s_; }

  template <class Work>
  void spend(Work work) {
    const double before_s = processor_s();
    next_s_ = monotonic_s() + least_s_;  // also if the work throws
    work();
    next_s_ = monotonic_s() + std::max(least_s_, kRestPerWork * (processor_s() - before_s));
  }

 private:
  double least_s_;
  double next_s_ = 0;
};

std::shared_ptr<const std::string> shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

/// What is served, and what of it has been fetched. Two threads use it.
class Pages {
 public:
  explicit Pages(const std::string& study) : page_(shared(reports::live_page(study))) {}

  void set_state(std::string json, bool is_last) {
    const std::lock_guard lock(mutex_);
    state_ = shared(std::move(json));
    state_is_last_ = is_last;
  }

  void set_report(std::string html) {
    const std::lock_guard lock(mutex_);
    report_ = shared(std::move(html));
  }

  WebPage find(std::string_view name) {
    constexpr std::string_view kHtml = "text/html; charset=utf-8";
    const std::lock_guard lock(mutex_);
    asked_s_ = monotonic_s();
    if (name.empty()) return {kHtml, page_};
    if (name == "state.json") return {"application/json", state_};
    if (name != "report.html") return {};
    last_fetched_ = last_fetched_ || state_is_last_;
    return {kHtml, report_};
  }

  /// Whether the last report has been fetched, or nobody is looking.
  bool seen() const {
    const std::lock_guard lock(mutex_);
    return last_fetched_ || monotonic_s() - asked_s_ > kViewerGone_s;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const std::string> page_, state_, report_;
  bool state_is_last_ = false, last_fetched_ = false;
  double asked_s_ = -kViewerGone_s;  ///< time of the last request
};

/// The process that serves a study.
class LiveProcess {
 public:
  LiveProcess(const study::StudyDirectory& directory, std::optional<int> budget,
              const LoopbackSocket& socket, const std::string& token, const FileDescriptor& end)
      : study_(directory.path, budget),
        pages_(directory.study.name),
        server_(socket.descriptor(), token,
                [this](std::string_view name) { return pages_.find(name); }),
        end_(end) {}

  /// Serves until the command has ended. Returns whether the report was written.
  bool run() {
    pages_.set_state(study_.state_json(), false);
    std::jthread serving([this] { server_.serve(); });
    std::string phase;
    while ((phase = phase_after(kLookEvery_s)).empty()) update();
    const bool written = conclude(phase);
    const double until_s = monotonic_s() + kLastLook_s;
    while (!pages_.seen() && monotonic_s() < until_s) {
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
    server_.stop();
    return written;
  }

 private:
  /// How the command ended: "finished", for example; empty if it has not within this time.
  std::string phase_after(double seconds) const {
    pollfd end{end_.get(), POLLIN, 0};
    if (::poll(&end, 1, to_milliseconds(seconds)) <= 0) return "";
    char word[32];
    const ssize_t size = ::read(end_.get(), word, sizeof(word));
    return size > 0 ? std::string(word, static_cast<std::size_t>(size)) : "stopped";
  }

  /// Does the work; what goes wrong is shown on the page, and tried again later.
  template <class Work>
  bool attempt(Work work) {
    try {
      work();
      study_.state().problem.clear();
    } catch (const std::exception& error) {
      study_.state().problem = error.what();
    }
    pages_.set_state(study_.state_json(), study_.state().phase != "running");
    return study_.state().problem.empty();
  }

  void update() {
    if (look_.is_over() && study_.has_changed()) {
      attempt([this] { look_.spend([this] { study_.look(); }); });
    }
    if (report_.is_over() && study_.has_news()) {
      attempt([this] { report_.spend([this] { pages_.set_report(study_.report()); }); });
    }
  }

  bool conclude(const std::string& phase) {
    study_.state().phase = phase;
    return attempt([this] {
      study_.look();
      pages_.set_report(study_.write_report());
    });
  }

  LiveStudy study_;
  Pages pages_;
  LoopbackServer server_;
  const FileDescriptor& end_;
  Interval look_{kLookEvery_s}, report_{kReportEvery_s};
};

/// Makes this process the one that least disturbs the runs, and that ends with its parent.
void stand_back(pid_t parent) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it ended before that
  // The parent decides what Ctrl-C and the end of the terminal mean.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  ::prctl(PR_SET_NAME, "doetune-live");
  const sched_param idle{};
  ::sched_setscheduler(0, SCHED_IDLE, &idle);
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
    : report_(directory.report() / "report.html") {
  if (!options.has("live") || options.has("dry-run")) return;
  LoopbackSocket socket = listen_at(options.integer("live", 0));
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
    bool written = false;
    try {
      written = LiveProcess(directory, budget, socket, token, read_end).run();
    } catch (const std::exception&) {
      // Its parent warns.
    }
    ::_exit(written ? 0 : 1);
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
  const std::string_view phase = phase_of(exit_code);
  // If it has ended, how is seen below.
  std::ignore = ::send(end_.get(), phase.data(), phase.size(), MSG_NOSIGNAL);
  end_.close();
  const double until_s = monotonic_s() + kFinalReport_s;
  int status = -1;
  while (::waitpid(process_, &status, WNOHANG) == 0) {
    if (monotonic_s() > until_s) ::kill(process_, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process_ = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
    print_message("{} written\n", report_.string());
  } else {
    print_message("warning: the live report ended early; `doetune report` writes it\n");
  }
  return exit_code;
}

}  // namespace doetune::cli
