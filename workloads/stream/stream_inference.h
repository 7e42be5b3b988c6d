// The workload `stream-inference`: object detection on many cameras, in micro-batches, as in a
// Spark Streaming job whose executors each hold one network.
//
// Time is cut into intervals. Micro-batch k holds the frames that the cameras' decoding rate picks
// from interval k (images = channels x decode_rate x interval) and is ready when the interval ends.
// It starts when the one before it is done (scheduling delay = start - ready). Its images are
// shared out to the executors of all GPUs; each decodes its images, by itself as one Spark task
// would or with decoder threads, and runs the network on batch_size of them at a time. The
// micro-batch is done when the slowest executor has its last boxes (processing time = done -
// start).
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& stream_inference();

}  // namespace doetune::workloads
