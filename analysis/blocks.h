// Which runs are measured under common circumstances that shift their responses together.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "doe/response.h"
#include "study/plan.h"
#include "study/run_record.h"

namespace doetune::analysis {

/// The blocks of runs for a fit.
struct Blocks {
  std::vector<int> numbers;          ///< n, from 1
  std::map<int, std::string> names;  ///< of the numbers; empty where they are the plan's
};

/// By kPlan, the run sheet's blocks; kHost; kGpu, the GPUs assigned (with their host where there
/// are several hosts); kDay, of the start in UTC. Where the plan has blocks of its own they are
/// told apart besides: "block 2, host n1". Names are numbered in their alphabetical order; runs
/// whose record does not tell are a block "not recorded".
Blocks blocks_of(doe::BlockType kind, const std::vector<const study::PlannedRun*>& runs,
                 const std::map<int, study::RunRecord>& records);

/// A text of a fit with its "block[2]" as "block[host n1]"; as it is where blocks have no names.
std::string with_block_names(std::string text, const std::map<int, std::string>& names);

}  // namespace doetune::analysis
