#include "cli/runs/search_directory.h"

#include "analysis/format.h"
#include "cli/options/search_options.h"
#include "cli/runs/program_check.h"
#include "cli/terminal/terminal.h"
#include "study/directory/original_file.h"
#include "study/directory/patience.h"
#include "study/files.h"
#include "tuning/search.h"

namespace doetune::cli {
namespace {

/// With what was edited in the study file since, if that is newer.
study::StudyDirectory continued(const std::filesystem::path& place,
                                const std::filesystem::path& path, const study::Study& study) {
  auto [directory, edited] = tuning::continue_search(place, study, study::is_newer(path, place));
  if (!edited.empty()) {
    print_message("Written to {}: {} of {}\n", (place / "study.yaml").string(),
                  analysis::listed(edited), path.string());
  }
  return std::move(directory);
}

}  // namespace

study::StudyDirectory search_directory(
    const Options& options, Executes by,
    const std::function<void(const study::Study&)>& check_options) {
  const std::filesystem::path path = options.required("PATH");
  if (study::is_study_directory(path)) return study::open_directory(path);
  const std::filesystem::path place = options.text("output", path.stem().string());
  const study::Study study = study::load_study(path);
  const std::filesystem::path folder = std::filesystem::absolute(path).parent_path();
  return study::when_free([&] {
    if (study::is_study_directory(place)) return continued(place, path, study);
    const int budget = limits_given(options, study).budget;
    if (check_options) check_options(study);
    try {
      return tuning::create_search(place, study, budget, [&](const study::Plan& plan) {
        if (by == Executes::kDoetune) check_program({place, study, plan, "", folder});
      });
    } catch (const study::DirectoryInUse&) {
      throw;
    } catch (const study::DirectoryError&) {
      if (!study::is_study_directory(place)) throw;
      return continued(place, path, study);  // another one was faster
    }
  });
}

}  // namespace doetune::cli
