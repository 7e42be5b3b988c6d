// The bundled workloads. What each does stands at the top of the source that defines it.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& all_reduce_workload();           ///< communication/: sums over ranks
const Workload& copy_workload();                 ///< peak_rates/: what a device's memory moves
const Workload& gemm_workload();                 ///< peak_rates/: what a device computes
const Workload& input_pipeline_workload();       ///< pipeline/: readers that feed a training step
const Workload& network_inference_workload();    ///< timing/: one network, batch after batch
const Workload& static_inference_workload();     ///< static/: images or a video, all there at once
const Workload& stream_inference_workload();     ///< stream/: cameras, in micro-batches
const Workload& train_classifier_workload();     ///< training/: a classifier, epoch by epoch
const Workload& train_data_parallel_workload();  ///< communication/: one network on several ranks

}  // namespace doetune::workloads
