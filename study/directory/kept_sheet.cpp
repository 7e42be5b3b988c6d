#include "study/directory/kept_sheet.h"

#include "study/directory/directory.h"

namespace doetune::study {

KeptSheet sheet_of(const StudyDirectory& directory) {
  const std::string csv = plan_csv(directory.study, directory.plan);
  return {sheet_hash(directory.study, csv),
          directory.plan_hash,
          directory.study.name,
          directory.working_directory.string(),
          directory.plan.notes,
          directory.study.text,
          csv};
}

}  // namespace doetune::study
