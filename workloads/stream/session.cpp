#include "workloads/stream/session.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/processes/cpus.h"
#include "workloads/shared_inputs.h"
#include "workloads/stream/stream_inputs.h"

namespace doetune::workloads {
namespace {

/// The part of the configuration common to all executors: all but index, GPU and CPUs.
ExecutorConfig executor_config(const Request& request, const Placement& placed) {
  const Inputs& in = request.inputs;
  ExecutorConfig config;
  config.executors = placed.executors();
  config.model = in.text("model");
  config.input_size = in.integer("input_size");
  config.device = placed.device;
  if (placed.sharing == "green") config.engine.parts = placed.executors_per_gpu;
  config.compile = compile_options(in, std::max(1, threads_of(request) / config.executors));
  config.decoders = in.integer("decoders");
  config.decode_on_gpu = in.text("decode_on") == "gpu";
  return config;
}

}  // namespace

Placement placement(const Request& request) {
  const Inputs& in = request.inputs;
  Placement placed{std::string(resolve_device(in.text("device"))), 1,
                   in.integer("executors_per_gpu"), in.text("sharing")};
  const int present = device_count(placed.device);
  if (placed.device == "cpu") {
    if (placed.sharing == "mps" || placed.sharing == "green") {
      const std::string why = fmt::format(
          "sharing {} is for GPUs; on a CPU executors are processes (process) or threads of one "
          "process (stream)",
          placed.sharing);
      if (in.text("device") == "cpu") throw UsageError(why);
      throw Infeasible(why);  // with "auto", another machine may have a GPU
    }
    return placed;
  }
  placed.gpus = request.gpus.empty() ? present : static_cast<int>(request.gpus.size());
  if (placed.gpus > present)
    throw NoDevice(
        fmt::format("{} GPUs are assigned to the run, but {} are visible", placed.gpus, present));
  return placed;
}

Session::Session(const Request& request, const Placement& placed, const StreamPlan& plan,
                 const ClipSpec& spec)
    : weights_(shared_weights(request, network_of(request.inputs))),
      clip_(open_clip(spec, cache_directory())) {
  const auto cpus = assigned_cpus(request.cpus);
  config_ = executor_config(request, placed);
  config_.plan = plan;
  config_.weights_fd = weights_.get();
  config_.clip_fd = clip_.get();
  PoolLayout layout{placed.executors(), placed.threads() ? placed.executors_per_gpu : 1};
  if (placed.sharing == "mps") {
    mps_.emplace();
    layout.environment = mps_->client_environment(placed.gpus);
  }
  pool_.emplace(layout, [&](int executor) {
    ExecutorConfig config = config_;
    config.index = executor;
    config.engine.gpu = executor / placed.executors_per_gpu;
    if (config.engine.parts > 1) config.engine.part = executor % placed.executors_per_gpu;
    config.cpus = cpus_of(cpus, executor, placed.executors());
    return config;
  });
  if (mps_) mps_->verify_attached(pool_->processes());
}

void Session::add_notes(Result& result) const {
  result.notes["engine"] = pool_->engine();
  result.notes["executors"] = config_.executors;
  result.notes["threads_per_executor"] = config_.compile.threads;
  if (pool_->device_bytes() > 0) result.notes["device_bytes"] = pool_->device_bytes();
  if (mps_) result.notes["sharing_verified"] = true;
}

}  // namespace doetune::workloads
