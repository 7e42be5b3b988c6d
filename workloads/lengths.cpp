#include "workloads/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numbers>
#include <optional>
#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

template <class Number>
std::optional<Number> number_in(std::string_view text, Number low, Number high) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole = error == std::errc() && end == text.data() + text.size();
  return whole && number >= low && number <= high ? std::optional(number) : std::nullopt;
}

std::optional<int> tokens_in(std::string_view text) { return number_in<int>(text, 1, kMaxTokens); }

std::vector<std::string_view> fields_of(std::string_view text) {
  std::vector<std::string_view> fields;
  for (std::size_t colon; (colon = text.find(':')) != std::string_view::npos;
       text.remove_prefix(colon + 1))
    fields.push_back(text.substr(0, colon));
  fields.push_back(text);
  return fields;
}

double standard_normal(RandomStream& random) {
  const double radius = std::sqrt(-2 * std::log(1 - random.uniform()));  // Box & Muller 1958
  return radius * std::cos(2 * std::numbers::pi * random.uniform());
}

}  // namespace

Lengths Lengths::parse(std::string_view name, std::string_view text) {
  constexpr double kMaxSigma = 5;
  Lengths lengths;
  const std::size_t dots = text.find("..");
  const auto fields = fields_of(text);
  if (fields[0] == "lognormal" && (fields.size() == 3 || fields.size() == 4)) {
    const auto median = tokens_in(fields[1]);
    const auto sigma = number_in<double>(fields[2], 0, kMaxSigma);
    const auto high = fields.size() == 4 ? tokens_in(fields[3]) : kMaxTokens;
    if (median && sigma && high) {
      lengths.median_ = *median;
      lengths.sigma_ = *sigma;
      lengths.high_ = *high;
      return lengths;
    }
  } else if (dots != std::string_view::npos) {
    const auto low = tokens_in(text.substr(0, dots)), high = tokens_in(text.substr(dots + 2));
    if (low && high && *low <= *high) {
      lengths.low_ = *low;
      lengths.high_ = *high;
      lengths.uniform_ = true;
      return lengths;
    }
  } else if (const auto fixed = tokens_in(text)) {
    lengths.median_ = *fixed;
    return lengths;
  }
  throw UsageError(fmt::format(
      "{} is '{}'; expected tokens from 1 to {}: 256, a range 64..512, or "
      "lognormal:MEDIAN:SIGMA such as lognormal:256:0.6, with a maximum lognormal:256:0.6:2048",
      name, text, kMaxTokens));
}

int Lengths::draw(RandomStream& random) const {
  if (uniform_)
    return low_ + static_cast<int>(random.below(static_cast<std::uint64_t>(high_ - low_) + 1));
  if (sigma_ == 0) return static_cast<int>(std::min<double>(median_, high_));
  const double drawn = median_ * std::exp(sigma_ * standard_normal(random));
  return static_cast<int>(std::clamp<double>(std::round(drawn), low_, high_));
}

int Lengths::longest() const {
  const bool fixed = !uniform_ && sigma_ == 0;
  return fixed ? static_cast<int>(std::min<double>(median_, high_)) : high_;
}

}  // namespace doetune::workloads
