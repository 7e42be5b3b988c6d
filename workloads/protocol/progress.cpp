#include "workloads/protocol/progress.h"

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>

namespace doetune::workloads {

void report_progress(double step, const std::map<std::string, double>& responses) {
  const char* const file = std::getenv("DOETUNE_PROGRESS");
  if (file == nullptr) return;
  const nlohmann::json line{{"step", step}, {"responses", responses}};
  std::ofstream(file, std::ios::app) << line.dump() + '\n' << std::flush;
}

}  // namespace doetune::workloads
