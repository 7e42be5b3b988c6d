// AICc of the models made of subsets of the terms.
#pragma once

#include <memory>
#include <optional>

#include "surfaces/selection/heredity.h"

namespace doetune::surfaces {

class SubsetScores {
 public:
  virtual ~SubsetScores() = default;

  /// Empty if the runs do not determine the model or are too few for an AICc.
  virtual std::optional<double> aicc(const Subset& in) const = 0;

  using Visit = std::function<void(const Subset&, double aicc)>;

  /// Visits every subset that has an AICc, once.
  virtual void for_each(const Visit& visit) const;

 protected:
  explicit SubsetScores(const HereditaryTerms& terms) : terms_(terms) {}
  const HereditaryTerms& terms_;
};

/// By least squares on the cross-products of the columns about their (block) means. `mean` is the
/// fit of the term 1 alone, with the same runs and options; independent runs only. Both functions
/// throw FitError for a model that fits the responses exactly.
std::unique_ptr<SubsetScores> scores_by_cross_products(const doe::Model& largest,
                                                       const HereditaryTerms& terms,
                                                       const Fit& mean);

/// By fit_least_squares: for any options.
std::unique_ptr<SubsetScores> scores_by_fits(const doe::Model& largest,
                                             const HereditaryTerms& terms, const Fit& mean,
                                             const FitOptions& options);

/// The model of "1" and the included terms, in the order of `largest`.
doe::Model model_of(const doe::Model& largest, const HereditaryTerms& terms, const Subset& in);

}  // namespace doetune::surfaces
