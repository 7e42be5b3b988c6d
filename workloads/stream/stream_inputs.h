// The inputs and responses of `stream-inference`, and what is made from them.
#pragma once

#include <vector>

#include "runner/measurement/measurement.h"
#include "workloads/engines/engine.h"
#include "workloads/protocol/protocol.h"
#include "workloads/stream/stream_plan.h"
#include "workloads/video/clip.h"

namespace doetune::workloads {

inline constexpr int kMaxChannels = 100'000;

std::vector<Input> stream_inputs();
std::vector<Response> stream_responses();

/// Throws UsageError, and Infeasible for a codec that libavcodec lacks.
ClipSpec clip_spec(const Request& request);

/// Of `channels` cameras; with channels = max, of as few as give each micro-batch an image. Throws
/// UsageError where a micro-batch has no image, or a camera sends too few.
StreamPlan stream_plan(const Request& request);

/// Throws UsageError where a stream in real time, measured until it is precise, is too short for
/// the number of micro-batches that a requested percentile needs.
void check_time(const Request& request, const measurement::StoppingRule& rule,
                const StreamPlan& plan);

/// How each of the executors compiles the network, with so many CPU threads.
CompileOptions compile_options(const Inputs& inputs, int threads);

}  // namespace doetune::workloads
