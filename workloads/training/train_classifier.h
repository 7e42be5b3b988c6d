// The workload `train-classifier`: a network learns to tell classes, on CIFAR-100 or generated
// images, and is judged on images that it has not seen after each epoch.
//
// Everything that is drawn (initial weights, choice and order of data, augmentation) depends on the
// run's seed; the data themselves do not, so that all runs of a study learn the same task.
#pragma once

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

const Workload& train_classifier();

}  // namespace doetune::workloads
