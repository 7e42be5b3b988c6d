// Distributions of the lengths of prompts and answers.
#pragma once

#include <string_view>

#include "base/random.h"

namespace doetune::workloads {

inline constexpr int kMaxTokens = 1'000'000;

/// A distribution of lengths in tokens:
///   256                        always 256
///   64..512                    uniform, both included
///   lognormal:256:0.6          median 256, standard deviation 0.6 of the natural logarithm
///   lognormal:256:0.6:2048     the same, and at most 2048
class Lengths {
 public:
  /// Throws UsageError, which names the input `name`.
  static Lengths parse(std::string_view name, std::string_view text);

  /// A length from 1 to kMaxTokens.
  int draw(RandomStream& random) const;

  /// The largest that can be drawn.
  int longest() const;

 private:
  double median_ = 1;
  double sigma_ = 0;  ///< of a lognormal distribution
  int low_ = 1;
  int high_ = kMaxTokens;
  bool uniform_ = false;
};

}  // namespace doetune::workloads
