// Selects the journal records that belong to the run sheet of a study.
#pragma once

#include "study/directory/directory.h"
#include "study/directory/journal.h"

namespace doetune::study {

/// Moves to `left_out`, each kind with a warning, the records of runs that are not in the sheet and
/// of runs measured at other settings than the sheet has. Records of older versions do not state
/// their settings.
void leave_out_others(const StudyDirectory& directory, JournalContent& content);

/// Throws DirectoryError unless the directory's sheet is that of the journal, possibly with more
/// runs after it: otherwise pending runs could have the numbers of recorded ones.
void check_sheet(const StudyDirectory& directory, const JournalContent& content);

/// Like check_sheet; also throws if the journal has records of runs that the sheet lacks.
void check_run_numbers(const StudyDirectory& directory, const JournalContent& content);

}  // namespace doetune::study
