// Choice of cuDNN's engine for each convolution: from the cache, by timing, or by heuristics.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "workloads/engines/cudnn/device.h"
#include "workloads/engines/cudnn/engines.h"
#include "workloads/engines/cudnn/plan_cache.h"

namespace doetune::workloads::cudnn {

/// The maximum workspace of a plan, since executors share the memory.
inline constexpr std::int64_t kMaxWorkspaceBytes = std::int64_t{256} << 20;

/// A plan and the operations that it includes: with Fusion::bias, our own kernel adds the residual
/// and applies the activation.
struct ChosenPlan {
  Fusion fusion;
  Plan plan;
};

/// The number of cuDNN's proposals timed for each case, and of cublasLt's for each product of a
/// language model: $DOETUNE_CUDNN_TIMED, by default 8. 0 takes the heuristics' first.
int proposals_to_time();

/// Where plans run: a stream, and the number of multiprocessors reserved for it (0: all). cuDNN
/// accepts that number too (CUDNN_ATTR_ENGINEHEUR_SM_COUNT_TARGET), but for most numbers it then
/// has no precompiled engine at all (9.19, H200); timing on the stream itself finds the best one
/// there.
struct PlanStream {
  cudaStream_t stream = nullptr;
  int multiprocessors = 0;
};

/// Chooses plans; equal cases share one.
class PlanChooser {
 public:
  PlanChooser(const Target& target, const PlanStream& stream, PlanCache& cache, int timed)
      : target_(target), stream_(stream), cache_(cache), timed_(timed) {}

  /// Prefers precompiled engines that include all operations; where cuDNN has none (leaky ReLU), a
  /// run-time compiled one competes with one that adds the bias only. Throws CannotRun where no
  /// engine is usable.
  std::shared_ptr<const ChosenPlan> choose(const ConvolutionCase& problem);

 private:
  std::shared_ptr<const ChosenPlan> from_cache(const ConvolutionCase& problem) const;
  /// All in cuDNN's order of preference.
  struct Proposals {
    std::vector<Choice> precompiled;
    std::vector<Choice> compiled_now;
  };
  Proposals proposals(const ConvolutionCase& problem) const;
  std::shared_ptr<const ChosenPlan> first_usable(const ConvolutionCase& problem,
                                                 const Proposals& proposed, Choice& best);
  std::shared_ptr<const ChosenPlan> fastest(const ConvolutionCase& problem,
                                            const Proposals& proposed, Choice& best);
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
