#include "surfaces/shape.h"

namespace doetune::surfaces {

std::optional<Quadratic> quadratic_of(const Fit& fit, const Eigen::VectorXd& at) {
  const std::optional<QuadraticForm> all = fit.quadratic(at);
  Quadratic quadratic;
  const std::vector<doe::Factor>& factors = fit.model.factors();
  for (std::size_t f = 0; f < factors.size(); ++f) {
    if (!factors[f].is_categorical()) quadratic.factors.push_back(static_cast<int>(f));
  }
  if (!all || quadratic.factors.empty()) return std::nullopt;
  quadratic.constant = all->constant;
  quadratic.linear = all->linear(quadratic.factors);
  quadratic.second = all->second(quadratic.factors, quadratic.factors);
  return quadratic;
}

}  // namespace doetune::surfaces
