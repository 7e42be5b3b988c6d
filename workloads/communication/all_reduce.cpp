// The workload `all-reduce`: the bandwidth of sums over ranks.
//
// For a message of S bytes summed over n ranks in time t, nccl-tests calls S / t the algorithm
// bandwidth, and S / t x 2 (n - 1) / n the bus bandwidth; the latter does not depend on n where
// every link is always busy (nccl-tests, doc/PERFORMANCE.md).
#include "workloads/workloads.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "workloads/communication/ranked.h"

namespace doetune::workloads {
namespace {

std::vector<Input> all_reduce_inputs() {
  using enum InputKind;
  std::vector<Input> all{
      {"message_bytes",
       integer,
       4 << 20,
       "size of the message as it is sent",
       "B",
       4,
       17179869184.0,
       {},
       4},
      {"communication_type",
       categorical,
       "fp32",
       "number format of the values as they are sent",
       "",
       0,
       0,
       {"fp32", "bf16"}},
      {"bucket_mb", continuous, nullptr,
       "the message is split into buckets of this size, all started at once; default: one bucket",
       "MiB", 0.001, 16384},
      {"iterations", integer, 20, "consecutive all-reduces averaged into one value", "", 1,
       100000}};
  const auto more = ranked_inputs();
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

std::vector<Response> all_reduce_responses() {
  return {{"bus_bandwidth", "GB/s", "2 (ranks - 1) / ranks x message_bytes / time"},
          {"algorithm_bandwidth", "GB/s", "message_bytes / time"},
          {"latency", "s", "mean time of an all-reduce, on the slowest rank"}};
}

class Message {
 public:
  Message(Communicator& communicator, const Inputs& in)
      : communicator_(communicator),
        type_(communication_type_named(in.text("communication_type"))),
        values_(communicator.allocate(static_cast<std::size_t>(in.number("message_bytes")) /
                                      bytes_of(type_))),
        bucket_(values_.span.size()) {
    if (in.has("bucket_mb"))
      bucket_ = std::max<std::size_t>(
          1, static_cast<std::size_t>(in.number("bucket_mb") * (1 << 20)) / bytes_of(type_));
  }

  void reduce() {
    Communicator::Ticket last = 0;
    for (std::size_t at = 0; at < values_.span.size(); at += bucket_)
      last = communicator_.start_all_reduce(
          values_.span.subspan(at, std::min(bucket_, values_.span.size() - at)), type_);
    communicator_.wait(last);
  }

 private:
  Communicator& communicator_;
  CommunicationType type_;
  Values values_;
  std::size_t bucket_;
};

/// Sums of small integers are exact.
void check_sum(Communicator& communicator) {
  const int n = communicator.size();
  std::vector<float> values(1000, static_cast<float>(communicator.rank() + 1));
  communicator.all_reduce(values);
  const auto expected = static_cast<float>(n * (n + 1) / 2);
  if (std::ranges::any_of(values, [&](float value) { return value != expected; }))
    throw std::runtime_error("the sum over the ranks is wrong");
}

Result measure_all_reduce(Communicator& communicator, const Request& request) {
  const Inputs& in = request.inputs;
  check_sum(communicator);
  Message message(communicator, in);
  const int iterations = in.integer("iterations");
  const auto measured = measure_together(communicator, request, "latency", [&] {
    communicator.barrier();
    const auto start = Clock::now();
    for (int i = 0; i < iterations; ++i) message.reduce();
    const double mean_s = std::chrono::duration<double>(Clock::now() - start).count() / iterations;
    const auto all = communicator.gather(static_cast<float>(mean_s));
    const double slowest_s = static_cast<double>(std::ranges::max(all));
    return Timing{slowest_s, slowest_s};
  });
  if (communicator.rank() != 0) return {};
  const double n = communicator.size();
  const double gigabytes = in.number("message_bytes") / 1e9;
  const auto total_s = [](const Timing& timing) { return timing.total_s; };
  const auto constant = [](double value) { return [value](const Timing&) { return value; }; };
  return ranked_result(measured,
                       {{"bus_bandwidth", constant(2 * (n - 1) / n * gigabytes), total_s},
                        {"algorithm_bandwidth", constant(gigabytes), total_s},
                        {"latency", total_s, constant(1)}},
                       "latency", request.repeats);
}

Result run_all_reduce(const Request& request) {
  return run_ranked(request, !request.gpus.empty(), [&](Communicator& communicator) {
    return measure_all_reduce(communicator, request);
  });
}

}  // namespace

const Workload& all_reduce_workload() {
  static const Workload workload{
      "all-reduce",
      "sums over processes: bandwidth and latency of the links between them",
      "all-reduce --ranks 2 --message_bytes 1048576",
      all_reduce_inputs(),
      all_reduce_responses(),
      run_all_reduce};
  return workload;
}

}  // namespace doetune::workloads
