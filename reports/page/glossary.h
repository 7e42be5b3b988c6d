// The words that a report uses, for readers who do not design experiments every day.
#pragma once

#include "reports/markup/markup.h"

namespace doetune::reports {

/// Opened on demand.
void write_glossary(Markup& out);

}  // namespace doetune::reports
