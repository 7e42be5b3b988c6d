#include "reports/exports/export.h"

#include <array>

#include "study/directory/results.h"

namespace doetune::reports {
namespace {

std::string export_csv(const analysis::Analysis& analysis) {
  return study::results_csv(*analysis.directory, analysis.records);
}

constexpr std::array kFormats{
    ExportFormat{"csv", "export.csv", "the table of runs, settings and responses", "", "",
                 export_csv},
    ExportFormat{"r", "export.R", "a script that fits every response with R's lm", "Rscript",
                 "r-base", export_r},
    ExportFormat{"python", "export.py", "a script that fits every response with statsmodels",
                 "python3", "python3-pandas python3-statsmodels", export_python},
    ExportFormat{"vllm-sweep", "vllm-sweep", "the plan, to be executed by vllm bench sweep serve",
                 "", "", nullptr, export_vllm_sweep},
    ExportFormat{"llm-d", "llm-d", "the plan as treatments of llm-d-benchmark", "", "", nullptr,
                 export_llm_d},
};

}  // namespace

std::span<const ExportFormat> export_formats() { return kFormats; }

}  // namespace doetune::reports
