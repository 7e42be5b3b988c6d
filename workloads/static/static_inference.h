// The workload `static-inference`: a directory of pictures, a video file, or drawn pictures, all
// there when the run begins, through any network as fast as executors on all devices manage.
//
// Executors are processes with one network each. An executor gets batch_size pictures at a time,
// reads, decodes and resizes them on one thread and runs the network on them; with
// `schedule: dynamic` it gets the next ones when it is done. A network that sees several pictures
// at once, tracknet, gets each picture stacked on those before it; the spot of its heat map is
// drawn into the picture, which the executor codes, and the frames are written into one video in
// their order.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& static_inference();

}  // namespace doetune::workloads
