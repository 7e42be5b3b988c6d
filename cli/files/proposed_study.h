// A study file for results that exist.
#pragma once

#include <string>
#include <vector>

#include "study/tables/run_table.h"

namespace doetune::cli {

/// A study file whose factors and responses are columns of the table, to be edited. A parameter
/// that varies is a factor: numbers with their range or, if there are few, their levels, on a log
/// scale if they span a factor of 8 or more; texts as levels. Of the metrics, the first that is
/// more the better by its name (throughput, requests per second, accuracy) and the first that is
/// less the better (latency, time, loss) get a goal; the others are listed as comments. In a table
/// that no tool reports, a column is a parameter if every value occurs twice on average.
///
/// Throws study::StudyError if nothing varies, or nothing is measured.
std::string propose_study(const study::RunTable& table, const std::string& name,
                          const std::vector<std::string>& files);

}  // namespace doetune::cli
