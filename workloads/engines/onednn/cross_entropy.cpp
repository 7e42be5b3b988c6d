#include "workloads/engines/onednn/cross_entropy.h"

#include <algorithm>
#include <cmath>

namespace doetune::workloads {

BatchScore softmax_cross_entropy(std::span<const float> logits,
                                 std::span<const std::int32_t> labels, std::span<float> gradient) {
  const std::size_t images = labels.size();
  const std::size_t classes = logits.size() / images;
  BatchScore score;
  for (std::size_t image = 0; image < images; ++image) {
    const auto of_image = logits.subspan(image * classes, classes);
    const auto label = static_cast<std::size_t>(labels[image]);
    const auto largest = std::ranges::max_element(of_image);
    double sum = 0;
    for (const float logit : of_image) sum += std::exp(logit - *largest);
    score.loss += std::log(sum) + double{*largest} - double{of_image[label]};
    if (static_cast<std::size_t>(largest - of_image.begin()) == label) ++score.correct;
    if (gradient.empty()) continue;
    for (std::size_t k = 0; k < classes; ++k)
      gradient[image * classes + k] = (static_cast<float>(std::exp(of_image[k] - *largest) / sum) -
                                       (k == label ? 1.0F : 0.0F)) /
                                      static_cast<float>(images);
  }
  score.loss /= static_cast<double>(images);
  return score;
}

}  // namespace doetune::workloads
