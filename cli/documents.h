// What the commands print with --json, and the documents that they write: one table.
#pragma once

#include <string>
#include <vector>

#include "cli/json_shape.h"

namespace doetune::cli {

/// Commands, and files: "status", "fit.json".
std::vector<std::string> document_names();

/// The JSON Schema of a document of that name.
std::string document_schema(const std::string& name);

Shape fit_document();
Shape optimum_document();
Shape confirm_document();
Shape report_document();   ///< report.json
Shape dry_run_document();  ///< of run and confirm
Shape evaluation_basics();

}  // namespace doetune::cli
