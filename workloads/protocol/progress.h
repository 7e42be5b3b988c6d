// What a workload reports while it measures, for searches that end runs early.
#pragma once

#include <map>
#include <string>

namespace doetune::workloads {

/// Appends a line to the file that DOETUNE_PROGRESS names, if the runner has set it:
///   {"step": x, "responses": {name: number}}
/// the estimates, at this step, of what the workload will have measured at its end. A file that
/// cannot be written is no error: progress is no result.
void report_progress(double step, const std::map<std::string, double>& responses);

}  // namespace doetune::workloads
