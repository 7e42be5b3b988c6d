// The page that shows a study while its runs are made.
#pragma once

#include <string>

namespace doetune::reports {

/// One self-contained page for a study of this name. It asks for `state.json` beside it every two
/// seconds, shows that (progress, the best run so far, what failed), and under it `report.html`
/// (report_page.h) in a frame. A newer report takes its place with the reader's view kept:
/// settings, section and scroll position; not while the reader is using it.
std::string live_page(const std::string& study);

}  // namespace doetune::reports
