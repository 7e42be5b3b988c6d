#include "surfaces/selection/subset_scores.h"

#include <Eigen/Dense>
#include <cmath>
#include <numbers>

#include "surfaces/least_squares/fit_parts.h"

namespace doetune::surfaces {
namespace {

/// A column counts as dependent if the others leave less than this fraction of its sum of squares.
constexpr double kDependent = 1e-9;

/// A residual sum of squares below this fraction of the total is rounding of cross-products.
constexpr double kExact = 1e-12;

class CrossProducts final : public SubsetScores {
 public:
  CrossProducts(const doe::Model& largest, const HereditaryTerms& terms, const Fit& mean);
  std::optional<double> aicc(const Subset& in) const override;
  void for_each(const Visit& visit) const override;

 private:
  using Products = Eigen::Ref<Eigen::MatrixXd>;
  using ConstProducts = Eigen::Ref<const Eigen::MatrixXd>;

  bool sweep(std::size_t at, Products rest) const;
  void for_each_from(std::size_t at, const ConstProducts& rest, int columns, Subset& in,
                     std::vector<Eigen::MatrixXd>& work, const Visit& visit) const;
  std::optional<double> aicc_of(double rss, int columns) const;

  int width(std::size_t at) const { return begin_[at + 1] - begin_[at]; }

  int n_;
  int always_;              ///< number of columns of "1" and the blocks
  std::vector<int> begin_;  ///< first column of each term, then the number of columns
  Eigen::MatrixXd products_;
};

CrossProducts::CrossProducts(const doe::Model& largest, const HereditaryTerms& terms,
                             const Fit& mean)
    : SubsetScores(terms), n_(mean.n), always_(mean.n - mean.df_residual) {
  const Eigen::MatrixXd all = largest.matrix(mean.coded);
  Eigen::MatrixXd x(all.rows(), all.cols() + 1);
  int columns = 0;
  for (std::size_t at = 0; at < terms.count(); ++at) {
    begin_.push_back(columns);
    for (const int c : largest.columns_of(terms.term(at))) {
      x.col(columns++) = about_block_means(mean.blocks, all.col(c));
    }
  }
  begin_.push_back(columns);
  x.col(columns++) = mean.residuals;
  products_ = x.leftCols(columns).transpose() * x.leftCols(columns);
}

std::optional<double> CrossProducts::aicc_of(double rss, int columns) const {
  const double k = columns + always_ + 1;
  if (n_ - k - 1 <= 0) return std::nullopt;
  if (rss <= kExact * products_(products_.rows() - 1, products_.cols() - 1)) {
    throw FitError(
        "a model fits the responses exactly, so AICc is undefined: leave out terms by hand, or fit "
        "the whole model");
  }
  return n_ * std::log(2 * std::numbers::pi * rss / n_) + n_ + 2 * k +
         2 * k * (k + 1) / (n_ - k - 1);
}

std::optional<double> CrossProducts::aicc(const Subset& in) const {
  std::vector<Eigen::Index> columns;
  for (std::size_t at = 0; at < in.size(); ++at) {
    for (int c = begin_[at]; in[at] && c < begin_[at + 1]; ++c) columns.push_back(c);
  }
  const auto count = static_cast<Eigen::Index>(columns.size());
  const Eigen::Index z = products_.rows() - 1;
  if (n_ - count - always_ - 2 <= 0) return std::nullopt;
  const Eigen::MatrixXd products = products_(columns, columns);
  const Eigen::LLT<Eigen::MatrixXd> root(products);
  const Eigen::VectorXd left = root.matrixLLT().diagonal().array().square();
  if (root.info() != Eigen::Success ||
      (left.array() <= kDependent * products.diagonal().array()).any()) {
    return std::nullopt;
  }
  const Eigen::VectorXd along = root.matrixL().solve(products_(columns, z));
  return aicc_of(products_(z, z) - along.squaredNorm(), static_cast<int>(count));
}

/// Removes what a term's columns, the first of `rest`, explain from the products of the later
/// columns; false if they are linearly dependent on earlier terms.
bool CrossProducts::sweep(std::size_t at, Products rest) const {
  for (int c = 0; c < width(at); ++c) {
    const double pivot = rest(c, c);
    const Eigen::Index column = begin_[at] + c, others = rest.rows() - c - 1;
    if (pivot <= kDependent * products_(column, column)) return false;
    const auto along = rest.col(c).tail(others);
    rest.bottomRightCorner(others, others).noalias() -= (along / pivot) * along.transpose();
  }
  return true;
}

/// `rest`: cross-products of the columns of the terms from `at` on, followed by z, after removing
/// what the included terms explain.
void CrossProducts::for_each_from(std::size_t at, const ConstProducts& rest, int columns,
                                  Subset& in, std::vector<Eigen::MatrixXd>& work,
                                  const Visit& visit) const {
  if (at == terms_.count()) {
    if (const std::optional<double> value = aicc_of(rest(0, 0), columns)) visit(in, *value);
    return;
  }
  const Eigen::Index size = rest.rows(), others = size - width(at);
  for_each_from(at + 1, rest.bottomRightCorner(others, others), columns, in, work, visit);
  if (!terms_.may_enter(at, in)) return;
  auto swept = work[at].topLeftCorner(size, size);
  swept = rest;
  if (!sweep(at, swept)) return;
  in[at] = true;
  for_each_from(at + 1, swept.bottomRightCorner(others, others), columns + width(at), in, work,
                visit);
  in[at] = false;
}

void CrossProducts::for_each(const Visit& visit) const {
  std::vector<Eigen::MatrixXd> work(terms_.count(), products_);
  Subset none(terms_.count(), false);
  for_each_from(0, products_, 0, none, work, visit);
}

class Fits final : public SubsetScores {
 public:
  Fits(const doe::Model& largest, const HereditaryTerms& terms, const Fit& mean,
       const FitOptions& options)
      : SubsetScores(terms), largest_(largest), mean_(mean), options_(options) {}

  std::optional<double> aicc(const Subset& in) const override {
    try {
      return fit_least_squares(model_of(largest_, terms_, in), mean_.coded, mean_.observed,
                               options_)
          .aicc;
    } catch (const FitError&) {
      return std::nullopt;  // the runs do not determine this model
    }
  }

 private:
  const doe::Model& largest_;
  const Fit& mean_;
  const FitOptions& options_;
};

}  // namespace

void SubsetScores::for_each(const Visit& visit) const {
  terms_.for_each([&](const Subset& in) {
    if (const std::optional<double> value = aicc(in)) visit(in, *value);
  });
}

std::unique_ptr<SubsetScores> scores_by_cross_products(const doe::Model& largest,
                                                       const HereditaryTerms& terms,
                                                       const Fit& mean) {
  return std::make_unique<CrossProducts>(largest, terms, mean);
}

std::unique_ptr<SubsetScores> scores_by_fits(const doe::Model& largest,
                                             const HereditaryTerms& terms, const Fit& mean,
                                             const FitOptions& options) {
  return std::make_unique<Fits>(largest, terms, mean, options);
}

doe::Model model_of(const doe::Model& largest, const HereditaryTerms& terms, const Subset& in) {
  std::vector<bool> keep(largest.terms().size(), false);
  for (std::size_t at = 0; at < in.size(); ++at) {
    keep[terms.term(at)] = in[at];
  }
  std::vector<doe::Term> kept;
  for (std::size_t t = 0; t < keep.size(); ++t) {
    if (keep[t] || largest.terms()[t].order() == 0) kept.push_back(largest.terms()[t]);
  }
  return doe::Model(largest.factors(), std::move(kept));
}

}  // namespace doetune::surfaces
