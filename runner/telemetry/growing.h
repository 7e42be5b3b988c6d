// Total growth of a counter that may be reset.
#pragma once

#include <optional>

namespace doetune::runner {

/// The growth since the first reading of a counter that may fall, because it was restarted or part
/// of what it counts disappeared. A fall counts as no growth.
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
