// What the commands print with --json, and the documents that they write: one table.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "cli/json_shape.h"

namespace doetune::cli {

struct Document {
  std::string_view name;  ///< a command, or a file: "status", "fit.json"
  Shape (*shape)();
};

/// A command that prints a new document has a line here.
std::span<const Document> documents();

/// The JSON Schema of a document. Throws UsageError, naming the nearest, where none has the name.
std::string document_schema(const std::string& name);

Shape fit_document();
Shape optimum_document();
Shape report_document();  ///< report.json
Shape evaluation_basics();

}  // namespace doetune::cli
