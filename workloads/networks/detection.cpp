#include "workloads/networks/detection.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {
namespace {

float sigmoid(float x) { return 1.0F / (1.0F + std::exp(-x)); }

struct LikeliestClass {
  int index;
  float probability;
};

LikeliestClass softmax_maximum(std::span<const float> logits) {
  const auto largest = std::ranges::max_element(logits);
  float sum = 0;
  for (const float logit : logits) sum += std::exp(logit - *largest);
  return {static_cast<int>(largest - logits.begin()), 1.0F / sum};
}

/// Length of the intersection of two intervals given by centre and length.
float shared_length(float centre_a, float length_a, float centre_b, float length_b) {
  const float low = std::max(centre_a - length_a / 2, centre_b - length_b / 2);
  const float high = std::min(centre_a + length_a / 2, centre_b + length_b / 2);
  return std::max(0.0F, high - low);
}

}  // namespace

std::vector<Detection> decode_boxes(std::span<const float> output, const Shape& shape,
                                    const DetectionHead& head, float threshold) {
  const auto rows = static_cast<float>(shape.height);
  const auto columns = static_cast<float>(shape.width);
  const std::size_t values = 5 + head.classes;
  std::vector<Detection> boxes;
  std::size_t at = 0;
  for (int row = 0; row < shape.height; ++row)
    for (int column = 0; column < shape.width; ++column)
      for (const auto& [anchor_width, anchor_height] : head.anchors) {
        const auto box = output.subspan(at, values);
        at += values;
        const float objectness = sigmoid(box[4]);
        if (objectness < threshold) continue;  // the class probability only lowers it
        const LikeliestClass likeliest = softmax_maximum(box.subspan(5));
        const float confidence = objectness * likeliest.probability;
        if (confidence < threshold) continue;
        boxes.push_back({(static_cast<float>(column) + sigmoid(box[0])) / columns,
                         (static_cast<float>(row) + sigmoid(box[1])) / rows,
                         anchor_width * std::exp(box[2]) / columns,
                         anchor_height * std::exp(box[3]) / rows, likeliest.index, confidence});
      }
  return boxes;
}

float overlap(const Detection& a, const Detection& b) {
  const float shared =
      shared_length(a.x, a.width, b.x, b.width) * shared_length(a.y, a.height, b.y, b.height);
  const float joined = a.width * a.height + b.width * b.height - shared;
  return joined > 0 ? shared / joined : 0.0F;
}

std::vector<Detection> suppress_overlaps(std::vector<Detection> boxes, float threshold) {
  std::ranges::stable_sort(boxes, std::greater{}, &Detection::confidence);
  std::vector<Detection> kept;
  for (const Detection& box : boxes)
    if (std::ranges::none_of(kept, [&](const Detection& better) {
          return better.class_index == box.class_index && overlap(better, box) > threshold;
        }))
      kept.push_back(box);
  return kept;
}

}  // namespace doetune::workloads
