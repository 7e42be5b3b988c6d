// A count that only grows, from one that may fall.
#pragma once

#include <optional>

namespace doetune::runner {

/// The growth since the first reading of something that counts up, but falls where a part of what
/// is counted goes away or the counter starts again. A fall counts as no growth.
class Growing {
 public:
  explicit Growing(std::optional<double> first = std::nullopt) : last_(first) {}

  void see(double now) {
    if (last_ && now > *last_) total_ += now - *last_;
    last_ = now;
  }
  double total() const { return total_; }

 private:
  std::optional<double> last_;
  double total_ = 0;
};

}  // namespace doetune::runner
