#include "runner/telemetry/recorder.h"

#include <fcntl.h>
#include <signal.h>

#include <chrono>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "base/clock.h"
#include "base/file_descriptor.h"
#include "base/host.h"
#include "runner/telemetry/sources.h"

namespace doetune::runner {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr double kFlushEvery_s = 1;
constexpr double kFullRate_s = 3600;  ///< after this time a line is written once a second
constexpr Seconds kPatience(2);       ///< with a thread asked to end

/// Writes complete lines to a file, until an error.
class LineFile {
 public:
  explicit LineFile(const std::filesystem::path& file)
      : file_(::open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666)) {}

  std::string& lines() { return lines_; }

  void flush() {
    const ssize_t written = ::write(file_.get(), lines_.data(), lines_.size());
    if (written != static_cast<ssize_t>(lines_.size())) file_.close();
    lines_.clear();
  }

 private:
  FileDescriptor file_;
  std::string lines_;
};

/// A running attempt, with the state between readings.
class Recording {
 public:
  Recording(TelemetryTarget target, double now_s)
      : target_(std::move(target)), file_(target_.file), began_s_(now_s), flushed_s_(now_s) {
    file_.lines() = telemetry_header(target_.gpus.size());
    file_.flush();
  }

  const TelemetryTarget& target() const { return target_; }
  double gpu_busy_s() const { return gpu_busy_s_; }
  void finish() { file_.flush(); }

  void take(Reading reading) {
    const double now_s = reading.time_s;
    Sample sample{now_s, reading.host, std::move(reading.gpus)};
    add_fractions(reading.cpu, sample.host);
    for (const GpuSample& gpu : sample.gpus) {
      if (sampled_s_) gpu_busy_s_ += gpu.utilization.value_or(0) * (now_s - *sampled_s_);
    }
    sampled_s_ = now_s;
    if (now_s - began_s_ > kFullRate_s && now_s - written_s_ < 1) return;
    written_s_ = now_s;
    append_line(file_.lines(), sample);
    if (now_s - flushed_s_ < kFlushEvery_s) return;
    flushed_s_ = now_s;
    file_.flush();
  }

 private:
  void add_fractions(const CpuTimes& now, HostSample& host) {
    const CpuTimes before = std::exchange(cpu_, now).value_or(now);
    host.cpu_busy = fraction_between(before, now, &CpuTimes::busy_s);
    host.iowait = fraction_between(before, now, &CpuTimes::iowait_s);
    host.steal = fraction_between(before, now, &CpuTimes::steal_s);
    if (host.process_cpu_s) add_others(now, host);
  }

  /// Processes are read less often than processors: uses the interval since both were last read.
  void add_others(const CpuTimes& now, HostSample& host) {
    const double process_cpu_s = std::exchange(process_cpu_s_, *host.process_cpu_s);
    const auto before = std::exchange(cpu_with_processes_, now);
    if (!before || now.total_s() <= before->total_s()) return;
    const double own_s = *host.process_cpu_s - process_cpu_s;
    const double fraction =
        (now.busy_s - before->busy_s - own_s) / (now.total_s() - before->total_s());
    host.others = std::max(0.0, fraction);
  }

  TelemetryTarget target_;
  LineFile file_;
  double began_s_;
  double flushed_s_;
  double written_s_ = 0;
  std::optional<double> sampled_s_;
  std::optional<CpuTimes> cpu_;
  std::optional<CpuTimes> cpu_with_processes_;
  double process_cpu_s_ = 0;
  double gpu_busy_s_ = 0;  ///< sum over all GPUs
};

}  // namespace

struct TelemetryRecorder::State {
  explicit State(double samples_per_s) : rate(samples_per_s) {}

  void sample();
  std::vector<TelemetryTarget> targets() const;

  const double rate;
  std::mutex mutex;  ///< protects all members below; never held during driver calls
  std::condition_variable changed;
  bool stopping = false;
  bool ended = false;
  std::map<std::string, Recording> recordings;

  std::mutex trees_mutex;
  ProcessTrees trees;  ///< for `activity`: the thread's own may be blocked
};

std::vector<TelemetryTarget> TelemetryRecorder::State::targets() const {
  std::vector<TelemetryTarget> all;
  for (const auto& [attempt, recording] : recordings) all.push_back(recording.target());
  return all;
}

/// The sampling thread.
void TelemetryRecorder::State::sample() {
  Sources sources;
  std::unique_lock lock(mutex);
  while (!stopping) {
    if (recordings.empty()) {
      changed.wait(lock, [&] { return stopping || !recordings.empty(); });
      continue;
    }
    const std::vector<TelemetryTarget> asked = targets();
    lock.unlock();
    std::vector<Reading> readings = sources.read(asked);
    lock.lock();
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto found = recordings.find(asked[i].attempt);
      if (found == recordings.end() || found->second.target().leader != asked[i].leader) continue;
      found->second.take(std::move(readings[i]));
    }
    const double next_s = readings.front().time_s + 1 / rate;  // missed samples are not made up for
    const std::chrono::steady_clock::time_point next(
        std::chrono::duration_cast<std::chrono::steady_clock::duration>(Seconds(next_s)));
    changed.wait_until(lock, next, [&] { return stopping; });
  }
  ended = true;
  changed.notify_all();
}

TelemetryRecorder::TelemetryRecorder(double samples_per_s)
    : state_(std::make_shared<State>(samples_per_s)) {}

TelemetryRecorder::~TelemetryRecorder() {
  std::unique_lock lock(state_->mutex);
  for (auto& [attempt, recording] : state_->recordings) recording.finish();
  state_->recordings.clear();
  state_->stopping = true;
  state_->changed.notify_all();
  if (!thread_.joinable()) return;
  const bool ended = state_->changed.wait_for(lock, kPatience, [&] { return state_->ended; });
  lock.unlock();
  if (ended) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void TelemetryRecorder::add(TelemetryTarget target) {
  if (target.cpus.empty()) target.cpus = usable_cpus();
  {
    const std::lock_guard lock(state_->trees_mutex);
    state_->trees.add(target.attempt, target.leader, target.server);
  }
  if (state_->rate <= 0) return;
  const std::lock_guard lock(state_->mutex);
  const std::string attempt = target.attempt;
  state_->recordings.try_emplace(attempt, std::move(target), monotonic_s());
  state_->changed.notify_all();
  if (!thread_.joinable()) start();
}

/// Starts the thread with signals blocked: other threads handle them.
void TelemetryRecorder::start() {
  sigset_t all;
  sigset_t before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before);
  thread_ = std::thread([state = state_] { state->sample(); });
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void TelemetryRecorder::remove(const std::string& attempt) {
  {
    const std::lock_guard lock(state_->trees_mutex);
    state_->trees.remove(attempt);
  }
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->recordings.find(attempt);
  if (found == state_->recordings.end()) return;
  found->second.finish();
  state_->recordings.erase(found);
}

double TelemetryRecorder::activity(const std::string& attempt) {
  double used_s = 0;
  {
    const std::lock_guard lock(state_->trees_mutex);
    state_->trees.search();
    used_s = state_->trees.use(attempt).cpu_s;
  }
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->recordings.find(attempt);
  return used_s + (found == state_->recordings.end() ? 0 : found->second.gpu_busy_s());
}

}  // namespace doetune::runner
