// Numbers formatted for reading. The exact value is always available in a title or in the data.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "surfaces/goal.h"
#include "surfaces/surface.h"

namespace doetune::analysis {

/// Four significant digits, more only for integers: 0.5812, 17.43, 12346, 1.5e-07.
std::string short_number(double x);

/// The shortest text that parses to the same number.
std::string exact_number(double x);

/// x rounded according to its uncertainty: two significant digits of `resolution` (such as the
/// half-width of an interval); short_number if that is 0 or not finite.
std::string number_to(double x, double resolution);

/// number_to with enough digits that x does not read like a limit or target of the goal that it
/// does not equal, but for rounding errors: 24.96 for a limit of 25, never 25.
std::string number_beside(double x, double resolution, const std::optional<surfaces::Goal>& goal);

/// 45 s, 2 min 10 s, 1 h 5 min.
std::string duration_text(double seconds);

/// The half-width of an interval; 0 if there is none.
double half_width(const std::optional<surfaces::Interval>& interval);

/// x, the difference of values with uncertainty `resolution`: number_to, but with at least two
/// significant digits of x.
std::string difference_to(double x, double resolution);

/// difference_to with a sign: "+73", "-0.0022".
std::string signed_difference_to(double x, double resolution);

/// "12.1 to 14.3", with both ends rounded according to the width.
std::string interval_text(const surfaces::Interval& interval);

/// A p-value: "0.031", "< 0.0001".
std::string p_text(double p);

/// "p = 0.031", "p < 0.0001".
std::string p_words(double p);

/// A fraction in integer percent, 0 and 100 only if exact: "62 %", "> 99 %", "< 1 %", "100 %".
std::string percent(double fraction);

/// An estimated probability, never 0 or 100 %: "62 %", "> 99 %", "< 1 %".
std::string chance_text(double probability);

/// A percentage for use in a sentence: "more than 99 %" for "> 99 %".
std::string in_words(const std::string& percent);

/// A coefficient of determination: "0.93", "> 0.99".
std::string r2_text(double r2);

/// "0.75 s", or the number alone without a unit (none, or "1" for dimensionless quantities).
std::string with_unit(std::string_view number, std::string_view unit);

/// "throughput [images/s]", or the name alone without a unit.
std::string name_with_unit(std::string_view name, std::string_view unit);

/// "within 1800 to 2500 images/s", "at most 1 s", "maximize"; limits as the user gave them.
std::string goal_text(const surfaces::Goal& goal, std::string_view unit);

/// " on the log scale", for values on the scale of a fit; empty without a transform.
std::string scale_words(const surfaces::Transform& transform);

/// The mean that corresponds to the scale of a fit: "mean", "geometric mean" (log), "harmonic mean"
/// (inverse), "mean on the sqrt scale".
std::string mean_words(const surfaces::Transform& transform);

/// "a", "a and b", "a, b and c".
std::string listed(const std::vector<std::string>& names);

/// A sentence with its first letter in upper case.
std::string capitalised(std::string sentence);

/// "1 run", "20 runs".
std::string count_of(int n, std::string_view noun);

/// GPUs of a record: "GPU 0,1" for indices, "GPU-3f2a91c4" for a UUID, of which the first block
/// identifies the GPU; empty without any.
std::string gpu_text(const std::string& gpus);

/// Ascending run numbers in a sentence: "run 7", "runs 7 and 9", "runs 3, 7 to 9 and 12"; long
/// lists are cut: the first few, and the number of others.
std::string runs_text(const std::vector<int>& runs);

/// Run numbers in the syntax of an option: "3,7-9,12".
std::string run_list(const std::vector<int>& runs);

}  // namespace doetune::analysis
