#include "study/directory/plan_json.h"

#include <fmt/chrono.h>

#include <ctime>

#include "base/json_format.h"
#include "base/version.h"
#include "study/evaluation_json.h"
#include "study/experimental_region.h"

namespace doetune::study {
namespace {

json::Format<doe::SearchReport> search_format() {
  using doe::SearchReport;
  return json::object<SearchReport>({{"criterion", &SearchReport::criterion},
                                     {"best", &SearchReport::best},
                                     {"bound", &SearchReport::bound},
                                     {"starts", &SearchReport::starts},
                                     {"best_found", &SearchReport::best_found},
                                     {"seconds", &SearchReport::seconds},
                                     {"stopped_by_time", &SearchReport::stopped_by_time}});
}

}  // namespace

json::Format<StudyDirectory> plan_format(const std::vector<std::string>& sheets) {
  const auto study = json::object<Study>(
      {{"study", &Study::name},
       {"created",
        [](const Study&) {
          return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
        }},
       {"seed", &Study::seed},
       {"design", [](const Study& planned) { return planned.design.type; }},
       {"model", [](const Study& planned) { return planned.model.term_names(); }}});
  const auto plan = json::object<Plan>({{"evaluation", &Plan::evaluation, evaluation_format()},
                                        {"search", &Plan::search, search_format()},
                                        {"notes", &Plan::notes}});
  return json::object<StudyDirectory>(
      {{"format", [](const StudyDirectory&) { return kPlanFormat; }},
       {"doetune", [](const StudyDirectory&) { return version(); }},
       {&StudyDirectory::study, study},
       {"hash", &StudyDirectory::plan_hash},
       {"sheets", [sheets](const StudyDirectory&) { return sheets; }},
       {"region",
        [](const StudyDirectory& directory) { return experimental_region(directory.study); }},
       {"working_directory", &StudyDirectory::working_directory},
       {&StudyDirectory::plan, plan}});
}

std::string plan_json(const StudyDirectory& directory, const std::vector<std::string>& sheets) {
  return plan_format(sheets).text(directory);
}

}  // namespace doetune::study
