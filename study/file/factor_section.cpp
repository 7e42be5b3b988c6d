#include "study/file/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest_name.h"
#include "study/file/yaml.h"

namespace doetune::study {
namespace {

/// More integers than this in a range are taken for a mistake.
constexpr double kMaxIntegers = 1e6;

/// Minimum width of a range relative to its ends; below it, rounding errors dominate steps inside
/// the range.
constexpr double kNarrowest = 1e-6;

/// Minimum width of a range; below it, steps inside the range become denormal and lose digits.
constexpr double kSmallest = 1e-300;

class FactorReader {
 public:
  FactorReader(const std::string& name, const YAML::Node& node, const std::filesystem::path& file)
      : node_(node), file_(file) {
    factor_.name = name;
  }

  doe::Factor read() {
    if (node_["unit"]) factor_.unit = node_["unit"].Scalar();
    factor_.hard_to_change = node_["hard_to_change"] && node_["hard_to_change"].Scalar() == "true";
    factor_.kind = kind();
    if (factor_.is_categorical()) {
      read_words();
    } else {
      read_levels();
      read_range();
      read_scale();
      read_step();
    }
    read_baseline();
    return std::move(factor_);
  }

 private:
  [[noreturn]] void fail(const YAML::Node& node, const std::string& message) const {
    fail_at(file_, node, fmt::format("factor '{}': {}", factor_.name, message));
  }

  std::string type() const { return node_["type"] ? node_["type"].Scalar() : ""; }

  doe::FactorKind kind() const {
    const YAML::Node levels = node_["levels"];
    if (type() == "categorical") return doe::FactorKind::kCategorical;
    if (!levels) {
      return type() == "integer" ? doe::FactorKind::kInteger : doe::FactorKind::kContinuous;
    }
    const bool numeric = std::all_of(levels.begin(), levels.end(), [](const YAML::Node& level) {
      return parse_number(level.Scalar()).has_value();
    });
    if (!numeric && !type().empty()) {
      fail(levels, fmt::format("type {} needs numbers as levels", type()));
    }
    if (numeric && type() == "continuous") fail(levels, "a continuous factor has no levels");
    return numeric ? doe::FactorKind::kDiscrete : doe::FactorKind::kCategorical;
  }

  void check_level_count(std::size_t count) const {
    if (count < 2) fail(node_["levels"], "a factor has at least two levels");
  }

  void read_words() {
    const YAML::Node levels = node_["levels"];
    if (!levels) fail(node_, "type categorical needs levels: [a, b, ...]");
    for (const char* key : {"low", "high", "scale", "step"}) {
      if (node_[key]) fail(node_[key], fmt::format("a categorical factor has no '{}'", key));
    }
    for (const YAML::Node& level : levels) {
      const std::string& word = level.Scalar();
      const auto& names = factor_.level_names;
      if (word.empty()) fail(level, "a level cannot be empty");
      if (std::find(names.begin(), names.end(), word) != names.end()) {
        fail(level, fmt::format("level '{}' is listed twice", word));
      }
      factor_.level_names.push_back(word);
    }
    check_level_count(factor_.level_names.size());
  }

  void read_levels() {
    const YAML::Node levels = node_["levels"];
    if (!levels) return;
    for (const YAML::Node& level : levels) {
      const double value = *parse_number(level.Scalar());
      if (type() == "integer" && value != std::round(value)) {
        fail(level, fmt::format("level {} is not an integer", level.Scalar()));
      }
      factor_.levels.push_back(value);
    }
    check_level_count(factor_.levels.size());
    std::sort(factor_.levels.begin(), factor_.levels.end());
    const auto twice = std::adjacent_find(factor_.levels.begin(), factor_.levels.end());
    if (twice != factor_.levels.end())
      fail(levels, fmt::format("level {} is listed twice", *twice));
  }

  double bound(const char* key, double from_levels) const {
    const YAML::Node node = node_[key];
    if (!node && factor_.levels.empty()) {
      fail(node_, fmt::format("'{}' is missing; give low and high, or levels", key));
    }
    const double value = node ? *parse_number(node.Scalar()) : from_levels;
    if (!factor_.levels.empty() && value != from_levels) {
      fail(node, fmt::format("{} ({}) is not the {} level ({})", key, value,
                             std::string(key) == "low" ? "lowest" : "highest", from_levels));
    }
    return value;
  }

  void read_range() {
    factor_.low = bound("low", factor_.levels.empty() ? 0 : factor_.levels.front());
    factor_.high = bound("high", factor_.levels.empty() ? 0 : factor_.levels.back());
    if (factor_.low >= factor_.high) {
      fail(node_, fmt::format("low ({}) must be below high ({})", factor_.low, factor_.high));
    }
    if (!std::isfinite(factor_.high - factor_.low)) fail(node_, "the range is too wide");
    if (factor_.high - factor_.low < kSmallest) {
      fail(node_,
           fmt::format("the range is too small to compute with (below {:g}); use another unit",
                       kSmallest));
    }
    const double size = std::max(std::abs(factor_.low), std::abs(factor_.high));
    if (factor_.high - factor_.low < kNarrowest * size) {
      fail(node_,
           "the range is too narrow relative to its values for double precision; subtract an "
           "offset");
    }
    if (factor_.kind != doe::FactorKind::kInteger) return;
    for (const char* key : {"low", "high"}) {
      const double value = *parse_number(node_[key].Scalar());
      if (value != std::round(value)) {
        fail(node_[key],
             fmt::format("{} ({}) of an integer factor must be an integer", key, value));
      }
    }
    if (factor_.high - factor_.low > kMaxIntegers) {
      fail(node_, fmt::format("more than {} integers: use a continuous factor", kMaxIntegers));
    }
  }

  void read_scale() {
    const YAML::Node node = node_["scale"];
    const std::string scale = node ? node.Scalar() : "linear";
    if (scale == "linear") return;
    factor_.scale = scale == "log2" ? doe::Scale::kLog2 : doe::Scale::kLog10;
    if (factor_.low <= 0) {
      fail(node, fmt::format("a log scale needs low above 0, found {}", factor_.low));
    }
    if (factor_.low < kSmallest) {
      fail(node, fmt::format("low ({}) is too small for a log scale (below {:g}); use another unit",
                             factor_.low, kSmallest));
    }
  }

  void read_step() {
    const YAML::Node node = node_["step"];
    if (!node) return;
    factor_.step = *parse_number(node.Scalar());
    if (factor_.kind != doe::FactorKind::kContinuous)
      fail(node, "only a continuous factor has a step");
    const double range = factor_.high - factor_.low;
    if (factor_.step <= 0 || factor_.step > range || range / factor_.step > kMaxIntegers) {
      fail(node, fmt::format("step must be above 0 and at most the range, {}", range));
    }
  }

  void read_baseline() {
    const YAML::Node node = node_["baseline"];
    if (!node) return;
    const auto value = factor_.parse(node.Scalar());
    if (!value || !factor_.allows(*value)) {
      fail(node, fmt::format("baseline {} is not a setting of the factor ({})", node.Scalar(),
                             allowed_text()));
    }
    factor_.baseline = value;
  }

  std::string allowed_text() const {
    if (factor_.is_categorical()) return fmt::format("{}", fmt::join(factor_.level_names, ", "));
    if (!factor_.levels.empty()) return fmt::format("{}", fmt::join(factor_.levels, ", "));
    return fmt::format("{} to {}{}", factor_.low, factor_.high,
                       factor_.kind == doe::FactorKind::kInteger ? ", whole" : "");
  }

  const YAML::Node node_;
  const std::filesystem::path& file_;
  doe::Factor factor_;
};

using Comparison = doe::Condition::Comparison;

/// Splits ">= 7" into the comparison and the rest; without a comparison the condition is equality.
std::pair<Comparison, std::string> split_comparison(const std::string& text) {
  const std::pair<const char*, Comparison> symbols[] = {{">=", Comparison::kGreaterEqual},
                                                        {"<=", Comparison::kLessEqual},
                                                        {">", Comparison::kGreater},
                                                        {"<", Comparison::kLess}};
  for (const auto& [symbol, comparison] : symbols) {
    if (!text.starts_with(symbol)) continue;
    const auto value = text.find_first_not_of(' ', std::string(symbol).size());
    return {comparison, value == std::string::npos ? "" : text.substr(value)};
  }
  return {Comparison::kEqual, text};
}

LoadLimit read_limit(const std::string& name, const YAML::Node& node,
                     const std::filesystem::path& file) {
  const auto [comparison, text] = split_comparison(node.Scalar());
  const auto value = parse_number(text);
  if (!value || comparison == Comparison::kEqual) {
    fail_at(file, node,
            fmt::format("limits: expected a comparison with a number, such as \"<= 0.2\" or "
                        "\">= 5\", for '{}'; found '{:.60}'",
                        name, node.Scalar()));
  }
  const bool at_most = comparison == Comparison::kLess || comparison == Comparison::kLessEqual;
  return {name, at_most, *value};
}

}  // namespace

doe::Factor read_factor(const std::string& name, const YAML::Node& node,
                        const std::filesystem::path& file) {
  return FactorReader(name, node, file).read();
}

LoadSearch read_load_search(const std::string& name, const YAML::Node& node,
                            const std::filesystem::path& file) {
  LoadSearch search{read_factor(name, node, file), {}};
  const auto fail = [&](const char* key, const std::string& message) {
    fail_at(file, node[key] ? node[key] : node, fmt::format("factor '{}': {}", name, message));
  };
  if (search.load.is_categorical()) fail("levels", "search: largest needs a numeric factor");
  if (search.load.low <= 0) fail("low", "search: largest needs a range above 0");
  if (search.load.hard_to_change) {
    fail("hard_to_change",
         "a factor with search: largest changes in every run, so it cannot be hard to change");
  }
  if (!node["limits"] || node["limits"].size() == 0) {
    fail("limits",
         "search: largest needs limits, such as limits: {time_to_first_token_p90: \"<= 0.2\"}");
  }
  for (const auto& limit : node["limits"]) {
    search.limits.push_back(read_limit(limit.first.Scalar(), limit.second, file));
  }
  return search;
}

doe::Forbidden read_forbidden(const YAML::Node& node, const std::vector<doe::Factor>& factors,
                              const std::filesystem::path& file) {
  doe::Forbidden forbidden;
  std::vector<std::string> names;
  for (const doe::Factor& factor : factors) names.push_back(factor.name);
  for (const auto& entry : node) {
    const auto at = std::find(names.begin(), names.end(), entry.first.Scalar());
    if (at == names.end()) {
      fail_at(file, entry.first,
              fmt::format("forbidden: there is no factor '{}'{}", entry.first.Scalar(),
                          did_you_mean_or_list(entry.first.Scalar(), names)));
    }
    const doe::Factor& factor = factors[at - names.begin()];
    const auto [comparison, text] = split_comparison(entry.second.Scalar());
    const auto value = factor.parse(text);
    const bool is_setting = value && (comparison != Comparison::kEqual || factor.allows(*value));
    if (!is_setting || (factor.is_categorical() && comparison != Comparison::kEqual)) {
      fail_at(file, entry.second,
              fmt::format("forbidden: '{}' is not a condition on '{}'; expected {}",
                          entry.second.Scalar(), factor.name,
                          factor.is_categorical()
                              ? fmt::format("one of {}", fmt::join(factor.level_names, ", "))
                              : "a setting of it, or a comparison such as \">= 7\""));
    }
    forbidden.push_back({static_cast<int>(at - names.begin()), comparison, *value});
  }
  if (forbidden.empty()) fail_at(file, node, "forbidden: a combination names at least one factor");
  return forbidden;
}

}  // namespace doetune::study
