#include "runner/loop/early_endings.h"

#include <limits>
#include <utility>

#include "runner/attempts/early_end.h"

namespace doetune::runner {

double EarlyEndings::pause_s() const {
  return ends_early_ ? 0.2 : std::numeric_limits<double>::infinity();
}

bool EarlyEndings::is_due(double now_s) {
  if (!ends_early_ || now_s - looked_s_ < pause_s()) return false;
  looked_s_ = now_s;
  return true;
}

bool EarlyEndings::ends(const study::PlannedRun& run,
                        const std::filesystem::path& attempt_directory) {
  if (ended_.contains(attempt_directory)) return false;
  const auto latest = study::last_progress(attempt_directory);
  const auto end = latest ? ends_early_(run, *latest) : std::nullopt;
  if (!end) return false;
  write_early_end(attempt_directory, *end);
  ended_.insert(attempt_directory);
  return true;
}

}  // namespace doetune::runner
