// Blocks of runs that share nuisance conditions (host, GPU, day), for block effects in fits.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doe/response.h"
#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::analysis {

/// Block assignment of the runs of a fit.
struct Blocks {
  std::vector<int> numbers;          ///< block of each of the n runs, from 1
  std::map<int, std::string> names;  ///< by block number; empty for the blocks of the plan
};

/// kPlan: the blocks of the run sheet; kHost; kGpu: the assigned GPUs (with their host if there are
/// several); kDay: the UTC day of the start. If the plan has blocks, they are crossed with these:
/// "block 2, host n1". Blocks are numbered in the alphabetical order of their names; runs whose
/// record lacks the information form a block "not recorded".
Blocks blocks_of(doe::BlockType kind, const std::vector<const study::PlannedRun*>& runs,
                 const std::map<int, study::RunRecord>& records);

/// Replaces "block[2]" in a text about a fit by "block[host n1]"; unchanged if blocks have no
/// names.
std::string with_block_names(std::string text, const std::map<int, std::string>& names);

}  // namespace doetune::analysis
