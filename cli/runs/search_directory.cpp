#include "cli/runs/search_directory.h"

#include "analysis/format.h"
#include "cli/options/search_options.h"
#include "cli/runs/program_check.h"
#include "cli/terminal/terminal.h"
#include "study/files.h"
#include "tuning/search.h"

namespace doetune::cli {

study::StudyDirectory search_directory(
    const Options& options, Executes by,
    const std::function<void(const study::Study&)>& check_options) {
  const std::filesystem::path path = options.required("PATH");
  if (study::is_study_directory(path)) return study::open_directory(path);
  const std::filesystem::path place = options.text("output", path.stem().string());
  const study::Study study = study::load_study(path);
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  const auto create = [&] {
    const int budget = limits_given(options, study).budget;
    if (check_options) check_options(study);
    return tuning::create_search(place, study, budget, [&](const study::Plan& plan) {
      if (by == Executes::kDoetune) check_program({place, study, plan, "", folder});
    });
  };
  auto [directory, edited] = tuning::begin_search(place, study, path, create);
  if (!edited.empty()) {
    print_message("Written to {}: {} of {}\n", (place / "study.yaml").string(),
                  analysis::listed(edited), path.string());
  }
  return std::move(directory);
}

}  // namespace doetune::cli
