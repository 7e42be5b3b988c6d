// The workload `train-data-parallel`: how fast ranks learn together, each from a part of the batch.
//
// The images are drawn at random and stay in place, so that nothing but learning and communication
// is measured. speed_up is the throughput of all ranks over that of one rank that learns from the
// whole batch alone, with the threads or the GPU of a rank; efficiency is speed_up / ranks. Both
// are ratios of two independent means, so their relative half-width is the root of the sum of
// squares of those of the two mean times (ISO/IEC Guide 98-3:2008, 5.1.6).
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& train_data_parallel();

}  // namespace doetune::workloads
