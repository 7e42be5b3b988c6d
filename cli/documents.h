// JSON schemas of the documents written by commands. Each is derived from the table of fields that
// writes the document, in the source file of the command.
#pragma once

#include <string>
#include <vector>

#include "base/json_format_fwd.h"

namespace doetune::runner {
struct RunCounts;
}

namespace doetune::cli {

/// Names of commands and files: "status", "fit.json".
std::vector<std::string> document_names();

/// The JSON Schema of the document with this name.
std::string document_schema(const std::string& name);

json::Schema init_schema();
json::Schema check_schema();
json::Schema plan_schema();
json::Schema evaluate_schema();
json::Schema run_schema();
json::Schema status_schema();
json::Schema restore_schema();
json::Schema import_schema();
json::Schema confirm_schema();
json::Schema augment_schema();
json::Schema report_schema();
json::Schema export_schema();
json::Schema replay_schema();
json::Schema next_schema();
json::Schema tell_schema();
json::Schema doctor_schema();
json::Schema designs_schema();
json::Schema workloads_schema();
json::Schema completion_schema();
json::Schema man_schema();
json::Schema dry_run_schema();  ///< for run and confirm

json::Format<runner::RunCounts> counts_format();  ///< for run and status

}  // namespace doetune::cli
