// The glossary of a report, for readers who rarely design experiments.
#pragma once

#include "reports/markup/markup.h"

namespace doetune::reports {

/// Collapsed by default.
void write_glossary(Markup& out);

}  // namespace doetune::reports
