// Which records of a journal are about the run sheet of a study.
#pragma once

#include "study/directory.h"
#include "study/journal.h"

namespace doetune::study {

/// Moves to `left_out` the records of runs that the sheet does not have, and of those that were
/// measured at other settings than it has, with a warning for either; records of older versions do
/// not say their settings.
void leave_out_others(const StudyDirectory& directory, JournalContent& content);

/// Throws DirectoryError where the directory's sheet is not that of the journal, or that with more
/// runs after it: the runs to be made could have the numbers of others.
void check_sheet(const StudyDirectory& directory, const JournalContent& content);

/// The same, and where the journal has records of runs that the sheet lacks.
void check_run_numbers(const StudyDirectory& directory, const JournalContent& content);

}  // namespace doetune::study
