#include "runner/measurement/measurement.h"

#include <algorithm>
#include <span>
#include <utility>

#include "runner/measurement/batch_means.h"
#include "runner/measurement/quantile.h"

namespace doetune::measurement {
namespace {

constexpr int kPreciseLooks = 2;

}  // namespace

std::string_view stopped_by_name(StoppedBy by) {
  switch (by) {
    case StoppedBy::kPrecision:
      return "precision reached";
    case StoppedBy::kMinTime:
      return "minimum time reached";
    case StoppedBy::kMaxTime:
      return "max_time";
    case StoppedBy::kTimeLimit:
      return "time limit";
  }
  return "";
}

Measurement::Measurement(StoppingRule rule, double start_s)
    : rule_(std::move(rule)),
      start_s_(start_s),
      min_count_(rule_.min_count),
      detector_(rule_.precision.value_or(kTolerance)) {
  if (!rule_.adaptive()) return;
  min_count_ = std::max(min_count_, SteadyDetector::kMinValues);
  for (const double q : rule_.quantiles)
    min_count_ = std::max(min_count_, measurement::min_count(q));
}

void Measurement::add(double value, double now_s) {
  detector_.add(value);
  values_.push_back(value);
  ends_s_.push_back(now_s);
  if (rule_.adaptive() && !steady().value_or(false)) unsteady_ = values_.size();
  if (rule_.precision && values_.size() >= next_look_) look_at_precision();
  // The value that completes the measurement may make it imprecise.
  if (precise_looks_ >= kPreciseLooks && is_complete() && !is_precise()) precise_looks_ = 0;
  stopped_by_ = assess();
}

void Measurement::look_at_deadline(double now_s) {
  if (stopped_by_ || !rule_.deadline_s || now_s <= *rule_.deadline_s) return;
  if (!values_.empty() || rule_.may_be_empty) stopped_by_ = StoppedBy::kTimeLimit;
}

std::optional<bool> Measurement::steady() const {
  const auto assessed = detector_.assess();
  if (!assessed) return std::nullopt;
  return assessed->steady && (rule_.adaptive() || assessed->begin == 0);
}

std::size_t Measurement::begin() const {
  const auto assessed = detector_.assess();
  return assessed && rule_.adaptive() ? assessed->begin : 0;
}

double Measurement::begin_s() const { return begin() == 0 ? start_s_ : ends_s_[begin() - 1]; }

double Measurement::end_s() const { return ends_s_.empty() ? start_s_ : ends_s_.back(); }

std::optional<StoppedBy> Measurement::assess() const {
  if (is_complete()) {
    if (!rule_.precision) return StoppedBy::kMinTime;
    if (precise_looks_ >= kPreciseLooks) return StoppedBy::kPrecision;
  }
  if (rule_.max_s && end_s() - start_s_ >= *rule_.max_s) return StoppedBy::kMaxTime;
  const double last_s = end_s() - (ends_s_.size() > 1 ? ends_s_[ends_s_.size() - 2] : start_s_);
  if (rule_.deadline_s && end_s() + last_s > *rule_.deadline_s) return StoppedBy::kTimeLimit;
  return std::nullopt;
}

/// Whether the minimum time and count are reached and, if the rule is adaptive, steadiness has
/// lasted.
bool Measurement::is_complete() const {
  if (end_s() - begin_s() < rule_.min_s || values_.size() - begin() < min_count_) return false;
  return 4 * values_.size() >= 5 * unsteady_ && unsteady_ < values_.size();
}

bool Measurement::is_precise() const {
  const auto interval = mean_interval(std::span(values_).subspan(begin()));
  const auto relative = interval ? interval->relative() : std::nullopt;
  return relative && *relative <= *rule_.precision;
}

void Measurement::look_at_precision() {
  next_look_ = values_.size() + values_.size() / 10 + 1;
  const bool precise = is_precise() && unsteady_ < values_.size();
  precise_looks_ = precise ? precise_looks_ + 1 : 0;
}

}  // namespace doetune::measurement
