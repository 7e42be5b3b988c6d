// The bundled workloads. Each is described at the top of the source file that defines it.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& all_reduce_workload();         ///< communication/: sums over ranks
const Workload& copy_workload();               ///< peak_rates/: memory bandwidth of a device
const Workload& gemm_workload();               ///< peak_rates/: compute rate of a device
const Workload& input_pipeline_workload();     ///< pipeline/: readers that feed a training step
const Workload& llm_inference_workload();      ///< language/: a language model and its requests
const Workload& network_inference_workload();  ///< timing/: one network, batch after batch
const Workload& serving_load_workload();       ///< serving/: requests to an inference server
const Workload& spark_stream_inference_workload();  ///< spark/: the stream as a query of Spark's
const Workload& static_inference_workload();     ///< static/: a complete set of images or a video
const Workload& stream_inference_workload();     ///< stream/: cameras, in micro-batches
const Workload& train_classifier_workload();     ///< training/: a classifier, epoch by epoch
const Workload& train_data_parallel_workload();  ///< communication/: one network on several ranks

}  // namespace doetune::workloads
