// The workload `train-data-parallel`: how fast ranks learn together, each from a part of the batch.
//
// The images are drawn at random and stay in place, so that nothing but learning and communication
// is measured. speed_up is the throughput of all ranks over that of one rank that learns from the
// whole batch alone, with the threads or the GPU of a rank; efficiency is speed_up / ranks. Their
// relative half-widths are those of the ranks' mean time of a step and of the one rank's, which
// are independent: the root of the sum of their squares (to first order; ISO/IEC Guide
// 98-3, 5.1.2).
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& train_data_parallel();

}  // namespace doetune::workloads
