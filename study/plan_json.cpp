#include "study/plan_json.h"

#include <fmt/chrono.h>

#include <ctime>
#include <nlohmann/json.hpp>

#include "base/json.h"
#include "base/version.h"
#include "study/evaluation_json.h"
#include "study/experimental_region.h"

namespace doetune::study {
namespace {

using nlohmann::ordered_json;

ordered_json search_document(const std::optional<doe::SearchReport>& search) {
  if (!search) return nullptr;
  return {{"criterion", search->criterion},
          {"best", search->best},
          {"bound", or_null(search->bound)},
          {"starts", search->starts},
          {"best_found", search->best_found},
          {"seconds", search->seconds},
          {"stopped_by_time", search->stopped_by_time}};
}

}  // namespace

std::string plan_json(const StudyDirectory& directory, const std::vector<std::string>& sheets) {
  const Study& study = directory.study;
  const ordered_json json{
      {"format", kPlanFormat},
      {"doetune", version()},
      {"study", study.name},
      {"created", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
      {"seed", study.seed},
      {"design", study.design.type},
      {"model", study.model.term_names()},
      {"hash", directory.plan_hash},
      {"sheets", sheets},
      {"region", experimental_region(study)},
      {"working_directory", directory.working_directory.string()},
      {"evaluation", evaluation_document(directory.plan.evaluation)},
      {"search", search_document(directory.plan.search)},
      {"notes", directory.plan.notes}};
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace doetune::study
