#include "doe/optimal/search_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "doe/optimal/line_search.h"

namespace doetune::doe {
namespace {

constexpr std::size_t kMaxLevels = 32;  ///< a numeric factor with more settings is searched
                                        ///< continuously
constexpr double kMinSpacing = 1e-6;    ///< coded, between usable settings that count as distinct
constexpr int kMaxPointTries = 1'000'000;  ///< for one allowed point

double setting_at_coded(const Factor& factor, double coded) {
  return factor.to_coded(factor.snap(factor.to_natural(coded)));
}

Coordinate coordinate_of(const Factor& factor) {
  Coordinate coordinate;
  coordinate.categorical = factor.is_categorical();
  const std::vector<double> settings = factor.usable_settings();
  const bool stepped = factor.kind != FactorKind::kContinuous || factor.step > 0;
  if (stepped && (settings.size() <= kMaxLevels || factor.kind == FactorKind::kDiscrete ||
                  factor.is_categorical())) {
    coordinate.kind =
        factor.is_categorical() ? Coordinate::Kind::kCategorical : Coordinate::Kind::kLevels;
    for (const double setting : settings) coordinate.values.push_back(factor.to_coded(setting));
  }
  return coordinate;
}

}  // namespace

double Coordinate::feature(int a, double value) const {
  if (categorical) {
    const int level = static_cast<int>(value);
    if (level == a) return 1;
    return level == static_cast<int>(values.size()) - 1 ? -1 : 0;
  }
  double power = value;
  for (int i = 0; i < a; ++i) power *= value;
  return power;
}

SearchSpace::SearchSpace(const DesignRequest& request)
    : factors_(request.factors), region_(request.region) {
  for (const Factor& factor : factors_) coordinates_.push_back(coordinate_of(factor));
  count_features(request.model);
  if (request.options.blocks > 1) add_block(request.options.blocks);
  for (Coordinate& coordinate : coordinates_) {
    coordinate.first_slot = slot_count_;
    slot_count_ += coordinate.features;
    coordinate.columns.resize(coordinate.features);
    coordinate.others.resize(coordinate.features);
  }
  add_columns(request.model);
  check_region();
}

void SearchSpace::count_features(const Model& model) {
  for (int f = 0; f < factor_count(); ++f) {
    int most = 0;
    for (const Term& term : model.terms()) most = std::max(most, term.powers[f]);
    if (most > kMaxPower) {
      throw DesignError(fmt::format("an optimal design takes powers up to {}; the model has {}^{}",
                                    kMaxPower, factors_[f].name, most));
    }
    Coordinate& coordinate = coordinates_[f];
    const int contrasts = static_cast<int>(coordinate.values.size()) - 1;
    coordinate.features = coordinate.categorical && most > 0 ? contrasts : most;
    if (coordinate.features > kMaxFeatures) {
      throw DesignError(
          fmt::format("an optimal design takes categorical factors of up to {} levels; {} has {}",
                      kMaxFeatures + 1, factors_[f].name, contrasts + 1));
    }
  }
}

void SearchSpace::add_block(int blocks) {
  Coordinate block;
  block.kind = Coordinate::Kind::kFixed;
  block.categorical = true;
  block.features = blocks - 1;
  for (int b = 0; b < blocks; ++b) block.values.push_back(b);
  coordinates_.push_back(std::move(block));
}

void SearchSpace::add_columns(const Model& model) {
  const auto add = [&](const std::vector<std::pair<int, int>>& parts) {
    const int column = column_count();
    std::vector<int> slots;
    for (const auto& [c, feature] : parts) slots.push_back(coordinates_[c].first_slot + feature);
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<int> others = slots;
      others.erase(others.begin() + static_cast<std::ptrdiff_t>(i));
      coordinates_[parts[i].first].columns[parts[i].second].push_back(column);
      coordinates_[parts[i].first].others[parts[i].second].push_back(std::move(others));
    }
    columns_.push_back(std::move(slots));
  };
  for (const ModelColumn& column : model.columns()) {
    const Term& term = model.terms()[column.term];
    std::vector<std::pair<int, int>> parts;
    for (int f = 0; f < factor_count(); ++f) {
      if (term.powers[f] == 0) continue;
      parts.emplace_back(f, coordinates_[f].categorical ? column.contrasts[f] : term.powers[f] - 1);
    }
    add(parts);
  }
  if (coordinate_count() == factor_count()) return;
  for (int b = 0; b < coordinates_.back().features; ++b) add({{factor_count(), b}});
}

void SearchSpace::check_region() {
  RandomStream random(0, 0);
  Eigen::VectorXd point = Eigen::VectorXd::Zero(coordinate_count());
  randomise(point, random);
}

bool SearchSpace::allows(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
  if (region_.is_box()) return true;
  std::vector<double> natural(factors_.size());
  for (std::size_t f = 0; f < factors_.size(); ++f) {
    natural[f] = factors_[f].snap(factors_[f].to_natural(coded[f]));
  }
  return region_.allows(natural);
}

Eigen::VectorXd SearchSpace::usable(const Eigen::Ref<const Eigen::VectorXd>& coded) const {
  Eigen::VectorXd result = coded;
  for (int f = 0; f < factor_count(); ++f) result[f] = setting_at_coded(factors_[f], coded[f]);
  return result;
}

std::vector<double> SearchSpace::next_usable(int factor, double coded) const {
  std::vector<double> found;
  for (const double end : {-1.0, 1.0}) {
    for (double step = kMinSpacing; step < 2 && coded != end; step *= 2) {
      const double next =
          setting_at_coded(factors_[factor], std::clamp(coded + end * step, -1.0, 1.0));
      if (end * (next - coded) < kMinSpacing / 2) continue;
      found.push_back(next);
      break;
    }
  }
  return found;
}

Eigen::VectorXd SearchSpace::features(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const {
  Eigen::VectorXd features(slot_count_);
  for (int c = 0; c < coordinate_count(); ++c) {
    for (int a = 0; a < coordinates_[c].features; ++a) {
      features[coordinates_[c].first_slot + a] = coordinates_[c].feature(a, coordinates[c]);
    }
  }
  return features;
}

Eigen::RowVectorXd SearchSpace::row(const Eigen::Ref<const Eigen::VectorXd>& coordinates) const {
  const Eigen::VectorXd slots = features(coordinates);
  Eigen::RowVectorXd row = Eigen::RowVectorXd::Ones(column_count());
  for (int c = 0; c < column_count(); ++c) {
    for (const int slot : columns_[c]) row[c] *= slots[slot];
  }
  return row;
}

void SearchSpace::randomise(Eigen::Ref<Eigen::VectorXd> coordinates, RandomStream& random) const {
  for (int attempt = 0; attempt < kMaxPointTries; ++attempt) {
    for (int f = 0; f < factor_count(); ++f) {
      const std::vector<double>& values = coordinates_[f].values;
      coordinates[f] =
          values.empty() ? 2 * random.uniform() - 1 : values[random.below(values.size())];
    }
    if (allows(coordinates)) return;
  }
  throw DesignError(fmt::format(
      "no settings that the constraints allow were found among {} random ones", kMaxPointTries));
}

Eigen::MatrixXd SearchSpace::random_design(int runs, RandomStream& random) const {
  Eigen::MatrixXd design(runs, coordinate_count());
  Eigen::VectorXd row = Eigen::VectorXd::Zero(coordinate_count());
  for (int i = 0; i < runs; ++i) {
    randomise(row, random);
    design.row(i) = row.transpose();
  }
  return design;
}

SearchSpace SearchSpace::for_another_thread() const {
  SearchSpace copy = *this;
  copy.region_ = region_.for_another_thread();
  return copy;
}

}  // namespace doetune::doe
