#include "workloads/static/static_job.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "workloads/static/result_video.h"
#include "workloads/timing/stage_clock.h"

namespace doetune::workloads {
namespace {

double seconds_of(Clock::duration time) { return std::chrono::duration<double>(time).count(); }

Clock::time_point after(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

void add(const BatchReport& report, BatchReport& sum) {
  sum.images += report.images;
  sum.left_out += report.left_out;
  sum.detections += report.detections;
  for (std::size_t i = 0; i < sum.classes.size(); ++i) sum.classes[i] |= report.classes[i];
  sum.times += report.times;
  sum.undecodable = std::max(sum.undecodable, report.undecodable);
}

}  // namespace

/// Assigns batches to executors.
class StaticJob::Dealer {
 public:
  /// `again`: starts over after the last batch.
  Dealer(std::int64_t batches, std::size_t executors, bool dynamic, bool again)
      : again_(again), dynamic_(dynamic) {
    const std::size_t parts = dynamic ? 1 : executors;
    for (std::size_t s = 0; s < parts; ++s) {
      const auto begin = batches * static_cast<std::int64_t>(s) / static_cast<std::int64_t>(parts);
      const auto end =
          batches * static_cast<std::int64_t>(s + 1) / static_cast<std::int64_t>(parts);
      parts_.push_back({begin, begin, end});
    }
  }

  std::optional<std::int64_t> next(std::size_t executor) {
    Part& part = parts_[dynamic_ ? 0 : executor];
    if (part.next == part.end && again_) part.next = part.begin;
    if (part.next == part.end) return std::nullopt;
    return part.next++;
  }

 private:
  struct Part {
    std::int64_t begin, next, end;
  };

  bool again_, dynamic_;
  std::vector<Part> parts_;
};

double fraction_in_time(const std::vector<double>& done_s, const JobPlan& plan) {
  constexpr double kRounding_s = 1e-9;
  std::int64_t in_time = 0;
  for (std::int64_t image = 0; image < plan.images; ++image) {
    const double due_s = done_s.front() + static_cast<double>(image) / plan.frames_per_second;
    in_time += done_s[image / plan.batch] <= due_s + kRounding_s;
  }
  return static_cast<double>(in_time) / static_cast<double>(plan.images);
}

StaticJob::StaticJob(WorkerPool& pool, JobPlan plan)
    : pool_(pool), plan_(std::move(plan)), batches_ahead_(pool.size()) {
  for (std::size_t ready = 0; ready < pool_.size(); ++ready) {
    const auto [executor, packet] = pool_.receive<ExecutorReady>();
    batches_ahead_[executor] = packet.batches_ahead;
  }
}

void StaticJob::warm_up(double seconds) {
  if (seconds <= 0) return;
  Dealer dealer(plan_.batches(), pool_.size(), true, true);
  work(dealer, pool_.size(), after(seconds), nullptr);
}

double StaticJob::throughput_alone(double min_s) {
  Dealer dealer(plan_.batches(), 1, true, true);
  const Pass alone = work(dealer, 1, after(min_s), nullptr);
  return static_cast<double>(alone.work.images) / alone.total_s;
}

Pass StaticJob::pass() {
  Dealer dealer(plan_.batches(), pool_.size(), plan_.dynamic, false);
  if (plan_.coded_files.empty()) return work(dealer, pool_.size(), std::nullopt, nullptr);
  ResultVideo video(plan_.output, plan_.frames_per_second);
  return work(dealer, pool_.size(), std::nullopt, &video);
}

Pass StaticJob::work(Dealer& dealer, std::size_t executors, std::optional<Clock::time_point> until,
                     ResultVideo* video) {
  const Clock::time_point start = Clock::now();
  Pass pass;
  std::vector<double> done_s(static_cast<std::size_t>(plan_.batches()));
  std::int64_t under_way = 0;
  for (std::size_t e = 0; e < executors; ++e)
    for (std::int64_t ahead = 0; ahead < batches_ahead_[e]; ++ahead) under_way += give(dealer, e);
  while (under_way > 0) {
    const auto [executor, report] = pool_.receive<BatchReport>();
    --under_way;
    done_s[static_cast<std::size_t>(report.number)] = seconds_of(Clock::now() - start);
    if (!until || Clock::now() < *until) under_way += give(dealer, executor);
    add(report, pass.work);
    StageClock clock;
    if (report.coded_bytes > 0 || video != nullptr) {
      std::vector<std::byte> coded = take_coded(executor, report);
      if (video != nullptr) video->add(report, std::move(coded));
    }
    clock.lap(pass.work.times[Stage::write]);
  }
  StageClock clock;
  if (video != nullptr) video->finish();
  clock.lap(pass.work.times[Stage::write]);
  pass.total_s = seconds_of(Clock::now() - start);
  if (pass.work.images == 0)
    throw std::runtime_error("none of the images can be read, and all were skipped");
  pass.met_fraction = fraction_in_time(done_s, plan_);
  return pass;
}

bool StaticJob::give(Dealer& dealer, std::size_t executor) {
  const auto number = dealer.next(executor);
  if (!number) return false;
  const std::int64_t first = *number * plan_.batch;
  pool_.send(executor,
             BatchOrder{*number, first, std::min<std::int64_t>(plan_.batch, plan_.images - first)});
  return true;
}

std::vector<std::byte> StaticJob::take_coded(std::size_t executor,
                                             const BatchReport& report) const {
  std::vector<std::byte> coded(static_cast<std::size_t>(report.coded_bytes));
  const int file = plan_.coded_files[executor];
  for (std::size_t at = 0; at < coded.size();) {
    const ssize_t bytes = pread(file, coded.data() + at, coded.size() - at,
                                report.coded_begin + static_cast<off_t>(at));
    if (bytes <= 0)
      throw std::system_error(errno, std::generic_category(), "cannot read encoded frames");
    at += static_cast<std::size_t>(bytes);
  }
  if (!coded.empty())
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, report.coded_begin,
              report.coded_bytes);
  return coded;
}

JobMeasurement StaticJob::measure(const measurement::StoppingRule& rule) {
  measurement::Measurement times(rule, monotonic_s());
  JobMeasurement measured;
  while (!times.stopped_by()) {
    measured.passes.push_back(pass());
    times.add(measured.passes.back().total_s, monotonic_s());
  }
  measured.window = {times.begin_s(), times.end_s()};
  measured.steady = times.steady();
  if (measured.steady == false)
    measured.unsteady =
        measurement::unsteady_sentence("total_time", *times.steadiness(), measured.passes.size());
  measured.stopped_by = *times.stopped_by();
  measured.passes.erase(measured.passes.begin(),
                        measured.passes.begin() + static_cast<std::ptrdiff_t>(times.begin()));
  return measured;
}

std::vector<JobMeasurement> measure_repeats(StaticJob& job, measurement::StoppingRule rule,
                                            int repeats, Clock::time_point deadline) {
  rule.deadline_s = seconds_of(deadline.time_since_epoch());
  double began_s = monotonic_s();
  std::vector<JobMeasurement> all{job.measure(rule)};
  while (static_cast<int>(all.size()) < repeats) {
    const double took_s = monotonic_s() - std::exchange(began_s, monotonic_s());
    if (monotonic_s() + took_s > *rule.deadline_s) break;
    JobMeasurement next = job.measure(rule);
    if (next.stopped_by == measurement::StoppedBy::kTimeLimit) break;
    all.push_back(std::move(next));
  }
  return all;
}

}  // namespace doetune::workloads
