// Chooses cuDNN's engine for each convolution: from the cache, by timing, or as heuristics say.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/engines.h"
#include "workloads/engines/cudnn/plan_cache.h"

namespace doetune::workloads::cudnn {

/// Plans with more workspace are not considered: executors share the memory.
inline constexpr std::int64_t kMaxWorkspaceBytes = std::int64_t{256} << 20;

/// A plan and how much of its case it does: with Fusion::bias, a kernel of our own adds and
/// activates after it.
struct ChosenPlan {
  Fusion fusion;
  Plan plan;
};

/// How many of cuDNN's proposals are timed for each case: $DOETUNE_CUDNN_TIMED, 8 without it. 0
/// takes the heuristics' favourite.
int proposals_to_time();

/// Where plans run: a stream, and how many multiprocessors it has to itself (0: all). cuDNN can be
/// told that number too (CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET), but for most numbers it then has
/// no compiled engine at all (9.19, H200); timing on the stream itself says which is best there.
struct PlanStream {
  cudaStream_t stream = nullptr;
  int multiprocessors = 0;
};

/// Equal cases share a plan.
class PlanChooser {
 public:
  PlanChooser(const Target& target, const PlanStream& stream, PlanCache& cache, int timed)
      : target_(target), stream_(stream), cache_(cache), timed_(timed) {}

  /// Compiled engines that do everything are preferred; where cuDNN has none (leaky ReLU), one that
  /// is compiled now competes with one that adds the bias alone. Throws CannotRun where no engine
  /// can be used.
  std::shared_ptr<const ChosenPlan> choose(const ConvolutionCase& problem);

 private:
  std::shared_ptr<const ChosenPlan> from_cache(const ConvolutionCase& problem) const;
  std::vector<Choice> proposals(const ConvolutionCase& problem) const;
  std::shared_ptr<const ChosenPlan> first_usable(const ConvolutionCase& problem,
                                                 const std::vector<Choice>& choices, Choice& best);
  std::shared_ptr<const ChosenPlan> fastest(const ConvolutionCase& problem,
                                            const std::vector<Choice>& choices, Choice& best);
  std::shared_ptr<const ChosenPlan> make(const ConvolutionCase& problem,
                                         const Choice& choice) const;
  std::string cache_key(const ConvolutionCase& problem) const;

  Target target_;
  PlanStream stream_;
  PlanCache& cache_;
  int timed_;
  std::map<std::string, std::shared_ptr<const ChosenPlan>> chosen_;
};

}  // namespace doetune::workloads::cudnn
