// What the commands print with --json, and the documents that they write: one table of schemas.
// Each comes from the table of fields that writes the document, in the command's own source.
#pragma once

#include <string>
#include <vector>

#include "base/json_format_fwd.h"

namespace doetune::runner {
struct RunCounts;
}

namespace doetune::cli {

/// Commands, and files: "status", "fit.json".
std::vector<std::string> document_names();

/// The JSON Schema of a document of that name.
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
json::Schema doctor_schema();
json::Schema designs_schema();
json::Schema workloads_schema();
json::Schema completion_schema();
json::Schema man_schema();
json::Schema dry_run_schema();  ///< of run and confirm

json::Format<runner::RunCounts> counts_format();  ///< of run and status

}  // namespace doetune::cli
