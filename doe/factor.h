// A factor of an experiment: its range or levels, and its coding.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::doe {

enum class FactorKind { kContinuous, kInteger, kDiscrete, kCategorical };
enum class Scale { kLinear, kLog2, kLog10 };

/// A setting in natural units is always a double: the value itself, or the level index of a
/// categorical factor. Coded units are
///
///   numeric      c = 2 (s(x) - s(low)) / (s(high) - s(low)) - 1  in [-1, 1],
///                s(x) = x, log2(x) or log10(x) by the scale
///   categorical  c = index of the level, 0 .. levels - 1 (contrasts belong to the model)
///
/// Source: NIST/SEMATECH e-Handbook of Statistical Methods, 5.3.3.
struct Factor {
  std::string name;
  std::string unit;
  FactorKind kind = FactorKind::kContinuous;
  Scale scale = Scale::kLinear;
  double low = -1;  ///< numeric: the range, natural units
  double high = 1;  ///< numeric: high > low (low > 0 on a log scale)
  double step = 0;  ///< continuous: spacing of usable settings; 0: derived from the range
  std::vector<double> levels;            ///< discrete: the allowed values, ascending
  std::vector<std::string> level_names;  ///< categorical: the levels as written
  bool hard_to_change = false;
  std::optional<double> baseline;  ///< current setting, natural units

  bool is_categorical() const { return kind == FactorKind::kCategorical; }

  double to_coded(double natural) const;
  double to_natural(double coded) const;

  /// The nearest usable setting, on the factor's scale. A continuous factor has resolution `step`,
  /// or if that is 0, the largest power of ten <= 1/100 of its range.
  double snap(double natural) const;

  /// Every usable setting from low to high, natural units, ascending.
  std::vector<double> usable_settings() const;

  /// A setting as text: the shortest that reads back as the same number, or the name of the level.
  std::string format(double natural) const;

  /// The reverse of format. Empty if the text is neither a number nor a level.
  std::optional<double> parse(std::string_view text) const;

  /// Whether the setting is inside the range, or one of the allowed levels.
  bool allows(double natural) const;
};

}  // namespace doetune::doe
