// Boxes from a detector's output tensor.
#pragma once

#include <span>
#include <vector>

#include "workloads/networks/network.h"

namespace doetune::workloads {

/// A box in units of the image size (0..1), by its centre.
struct Detection {
  float x, y, width, height;
  int class_index;
  float confidence;  // objectness x class probability
};

/// Boxes of one image with a confidence of at least `threshold`. For each grid cell (column i, row
/// j) and anchor (pw, ph) the tensor holds tx, ty, tw, th, to and one logit per class:
///   x = (i + sigmoid(tx)) / columns    width  = pw exp(tw) / columns
///   y = (j + sigmoid(ty)) / rows       height = ph exp(th) / rows
///   confidence = sigmoid(to) softmax(logits)[class], for the most probable class.
/// `output` is rows x columns x (anchors (5 + classes)). Source: Redmon & Farhadi (2017), section
/// 2.
std::vector<Detection> decode_boxes(std::span<const float> output, const Shape& shape,
                                    const DetectionHead& head, float threshold);

/// Intersection over union of two boxes.
float overlap(const Detection& a, const Detection& b);

/// Non-maximum suppression within each class: keeps a box unless a kept one of higher confidence
/// overlaps it by more than `threshold`. Returns the kept boxes, the most confident first.
std::vector<Detection> suppress_overlaps(std::vector<Detection> boxes, float threshold);

}  // namespace doetune::workloads
