#include "surfaces/optimum/responses_together.h"

#include <algorithm>

#include "surfaces/fit.h"
#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

const doe::Model* model_of(const Surface* surface) {
  const auto* fit = dynamic_cast<const Fit*>(surface);
  return fit ? &fit->model : nullptr;
}

/// For models of the same factors.
bool have_same_columns(const doe::Model& a, const doe::Model& b) { return a.terms() == b.terms(); }

}  // namespace

ResponsesTogether::ResponsesTogether(std::vector<const Surface*> surfaces)
    : surfaces_(std::move(surfaces)) {
  for (std::size_t s = 0; s < surfaces_.size(); ++s) {
    if (!surfaces_[s]) continue;
    const doe::Model* model = model_of(surfaces_[s]);
    if (!model) {
      others_.push_back(s);
      continue;
    }
    const auto same = std::find_if(fits_.begin(), fits_.end(), [&](const auto& group) {
      return have_same_columns(*model_of(surfaces_[group.front()]), *model);
    });
    (same == fits_.end() ? fits_.emplace_back() : *same).push_back(s);
  }
}

std::vector<Eigen::VectorXd> ResponsesTogether::at(const Eigen::MatrixXd& coded) const {
  std::vector<Eigen::VectorXd> responses(surfaces_.size());
  for (const std::vector<std::size_t>& group : fits_) {
    const Eigen::MatrixXd x = model_of(surfaces_[group.front()])->matrix(coded);
    for (const std::size_t s : group) {
      responses[s] = responses_at_rows(static_cast<const Fit&>(*surfaces_[s]), x);
    }
  }
  for (const std::size_t s : others_) responses[s] = surfaces_[s]->responses(coded);
  return responses;
}

}  // namespace doetune::surfaces
