// The workload `stream-inference`: object detection on many cameras, in micro-batches, as in a
// Spark Streaming job whose executors each hold one network.
//
// Time is cut into intervals. Micro-batch k holds the frames that the cameras' decoding rate picks
// from interval k (images = channels x decode_rate x interval) and is ready when the interval ends.
// It starts when the one before it is done (scheduling delay = start - ready). Its images are
// shared out to the executors; each decodes and resizes its images on one thread, as one Spark task
// would, and runs the network on batch_size of them at a time. The micro-batch is done when the
// slowest executor has its last boxes (processing time = done - start).
#pragma once

#include "workloads/protocol.h"

namespace doetune::workloads {

const Workload& stream_inference();

/// Times of one micro-batch in seconds from the start of the stream.
struct MicroBatchTimes {
  double ready_s = 0;
  double start_s = 0;
  double done_s = 0;

  double processing_s() const { return done_s - start_s; }
  double delay_s() const { return start_s - ready_s; }
};

/// The order statistic of rank ceil(p n) of n values, 0 < p <= 1: with fewer than 1 / (1 - p)
/// values it is the largest. Throws std::invalid_argument for no values.
double quantile(std::vector<double> values, double p);

}  // namespace doetune::workloads
