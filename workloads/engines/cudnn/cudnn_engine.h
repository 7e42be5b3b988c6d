// The GPU engine, on cuDNN 9's graphs and kernels of our own.
//
// Uploads, computation and downloads each have a stream, so that a batch is uploaded while the one
// before it is computed; lanes() is 2. The forward pass of each number of images is one CUDA graph.
// A batch that is submitted with neither input() nor load() called since its buffers were last used
// (every third submit has the same ones) runs on the input of then: timing programs fill three
// batches and then time computation alone.
#pragma once

#include <memory>
#include <string>

#include "workloads/engines/engine.h"

namespace doetune::workloads {

/// Throws NoDevice without a GPU that this build can use, CannotRun where the driver cannot set
/// apart the share of multiprocessors.
std::unique_ptr<Engine> make_cudnn_engine(const EngineOptions& options);

/// GPUs that this process sees; `why_none` gets the reason where there is none.
int cudnn_devices(std::string* why_none);

}  // namespace doetune::workloads
