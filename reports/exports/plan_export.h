// A plan as the input of another tool, which executes it; `doetune import` takes the results back.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "study/directory/directory.h"

namespace doetune::reports {

struct ExportedFile {
  std::string name;
  std::string content;
};

/// Names of factors in the other tool, where it has others.
using TheirNames = std::map<std::string, std::string>;

/// The input of `vllm bench sweep serve` (vLLM 0.33): serve-params.json has the servers, one for
/// each whole plot (or run, if there are none), bench-params.json the runs, and sweep.sh the
/// command. The server's command and options are those of run.set_up. The sweep makes all
/// combinations of servers and runs but those that `--link-vars` excludes: server and runs of a
/// whole plot have the same seed. Throws study::StudyError for a study that another tool cannot
/// execute.
std::vector<ExportedFile> export_vllm_sweep(const study::StudyDirectory& directory,
                                            const TheirNames& names);

/// Experiments of llm-d-benchmark, which combines each setup treatment with all run treatments: one
/// file for each whole plot (or run, if there are none). Factors of run.set_up, else those that are
/// hard to change, belong to the setup. Throws like export_vllm_sweep.
std::vector<ExportedFile> export_llm_d(const study::StudyDirectory& directory,
                                       const TheirNames& names);

}  // namespace doetune::reports
