// The GPU engine, on cuDNN 9's graphs and our own kernels.
//
// Uploads, computation and downloads each have a stream, so that a batch is uploaded while the
// previous one is computed; lanes() is 2. The forward pass for each number of images is one CUDA
// graph. A batch submitted without a call to input() or load() since its buffers were last used
// (they rotate over three submissions) runs on the input still in them: benchmarks fill three
// batches and then time computation alone.
#pragma once

#include <memory>
#include <string>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

/// Throws NoDevice without a GPU that this build supports, CannotRun where the driver cannot
/// reserve the requested fraction of the multiprocessors.
std::unique_ptr<Engine> make_cudnn_engine(const EngineOptions& options);

/// The number of GPUs visible to this process; `why_none` gets the reason where there is none.
int cudnn_devices(std::string* why_none);

}  // namespace doetune::workloads
