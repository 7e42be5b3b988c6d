#include "workloads/engines/cudnn/plan_chooser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "workloads/engines/cudnn/kernels.h"

namespace doetune::workloads::cudnn {
namespace {

constexpr int kRounds = 3;               // the fastest counts
constexpr int kRunsInRound = 3;          // one run of a small layer is too short to time
constexpr std::size_t kCompiledNow = 2;  // run-time compiled proposals, half a second each

std::int64_t tensor_bytes(const ConvolutionCase& problem, const Shape& shape, int pitch) {
  return std::int64_t{problem.images} * shape.height * shape.width * pitch *
         bytes_of(problem.precision);
}

/// Memory for timing one case.
class Bench {
 public:
  Bench(const ConvolutionCase& problem, cudnnHandle_t handle, cudaStream_t stream)
      : problem_(problem),
        handle_(handle),
        stream_(stream),
        input_(filled(tensor_bytes(problem, problem.input, problem.input_pitch))),
        weights_(filled(std::int64_t{problem.output.channels} * problem.input.channels *
                        problem.kernel.height * problem.kernel.width *
                        bytes_of(problem.precision))),
        bias_(filled(std::int64_t{problem.output.channels} * bytes_of(problem.precision))),
        residual_(filled(tensor_bytes(problem, problem.output, problem.residual_pitch))),
        output_(filled(tensor_bytes(problem, problem.output, problem.output_pitch))),
        workspace_(kMaxWorkspaceBytes, "timing convolutions") {}

  double seconds(const ChosenPlan& chosen) {
    run(chosen);  // loads the kernels
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < kRounds; ++round) {
      start_.record(stream_);
      for (int i = 0; i < kRunsInRound; ++i) run(chosen);
      end_.record(stream_);
      end_.wait();
      best = std::min(best, end_.seconds_since(start_));
    }
    return best;
  }

 private:
  DeviceBuffer filled(std::int64_t bytes) const {
    DeviceBuffer buffer(bytes, "timing convolutions");
    fill_with_numbers({problem_.precision, problem_.images, stream_}, buffer.data(),
                      bytes / bytes_of(problem_.precision));
    return buffer;
  }

  View view(const DeviceBuffer& buffer, int pitch) const {
    const Shape& shape = problem_.output;
    return {buffer.data(), shape.channels, shape.height, shape.width, pitch};
  }

  void run(const ChosenPlan& chosen) const {
    chosen.plan.run(handle_, {input_.data(), weights_.data(), bias_.data(), residual_.data(),
                              output_.data(), workspace_.data()});
    if (chosen.fusion == Fusion::everything || !has_more_than_bias(problem_)) return;
    const View out = view(output_, problem_.output_pitch);
    const View added =
        problem_.residual_pitch > 0 ? view(residual_, problem_.residual_pitch) : View{};
    add_and_activate({problem_.precision, problem_.images, stream_}, problem_.activation, out,
                     added, out);
  }

  ConvolutionCase problem_;
  cudnnHandle_t handle_;
  cudaStream_t stream_;
  DeviceBuffer input_, weights_, bias_, residual_, output_, workspace_;
  Event start_{Event::Kind::timing};
  Event end_{Event::Kind::timing};
};

std::vector<Choice> choices_of(const std::vector<Candidate>& from, bool compiled_now,
                               Fusion fusion) {
  std::vector<Choice> choices;
  for (const Candidate& candidate : from)
    if (candidate.compiled_at_run_time == compiled_now)
      choices.push_back({fusion, candidate.configuration});
  return choices;
}

std::vector<Choice> joined(std::vector<Choice> first, const std::vector<Choice>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

}  // namespace

int proposals_to_time() {
  constexpr int kUsual = 8;
  const char* text = std::getenv("DOETUNE_CUDNN_TIMED");
  if (text == nullptr || *text == '\0') return kUsual;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  if (*end != '\0' || value < 0 || value > 1000)
    throw std::invalid_argument(
        fmt::format("DOETUNE_CUDNN_TIMED must be a number from 0 to 1000, not '{}'", text));
  return static_cast<int>(value);
}

std::shared_ptr<const ChosenPlan> PlanChooser::choose(const ConvolutionCase& problem) {
  auto& chosen = chosen_[problem.key()];
  if (chosen == nullptr) chosen = from_cache(problem);
  if (chosen != nullptr) return chosen;
  const Proposals proposed = proposals(problem);
  Choice best;
  bool timed = timed_ > 0;
  try {
    if (timed) chosen = fastest(problem, proposed, best);
  } catch (const CannotRun&) {  // not enough memory for timing
    timed = false;
  }
  if (!timed) chosen = first_usable(problem, proposed, best);
  if (chosen == nullptr)
    throw CannotRun("cuDNN has no engine for the convolution " + problem.key() + " on this GPU");
  if (timed) cache_.add(cache_key(problem), best);
  return chosen;
}

std::string PlanChooser::cache_key(const ConvolutionCase& problem) const {
  return stream_.multiprocessors == 0
             ? problem.key()
             : fmt::format("{} on {}", problem.key(), stream_.multiprocessors);
}

std::shared_ptr<const ChosenPlan> PlanChooser::from_cache(const ConvolutionCase& problem) const {
  const auto choice = timed_ > 0 ? cache_.find(cache_key(problem)) : std::nullopt;
  return choice ? make(problem, *choice) : nullptr;
}

PlanChooser::Proposals PlanChooser::proposals(const ConvolutionCase& problem) const {
  // All precompiled ones: whether the workspace is too large is known only when a plan is made.
  const auto whole = candidates(problem, target_);
  Proposals proposed{choices_of(whole, /*compiled_now=*/false, Fusion::everything), {}};
  if (!proposed.precompiled.empty()) return proposed;
  proposed.compiled_now = choices_of(whole, /*compiled_now=*/true, Fusion::everything);
  if (proposed.compiled_now.size() > kCompiledNow) proposed.compiled_now.resize(kCompiledNow);
  if (has_more_than_bias(problem))
    proposed.precompiled = choices_of(candidates(split(problem), target_), false, Fusion::bias);
  return proposed;
}

/// Null where the engine refuses, or needs too much workspace.
std::shared_ptr<const ChosenPlan> PlanChooser::make(const ConvolutionCase& problem,
                                                    const Choice& choice) const {
  try {
    const ConvolutionCase part = choice.fusion == Fusion::bias ? split(problem) : problem;
    auto made = std::make_shared<const ChosenPlan>(
        ChosenPlan{choice.fusion, Plan(part, choice.configuration, target_)});
    return made->plan.workspace_bytes() <= kMaxWorkspaceBytes ? made : nullptr;
  } catch (const Error&) {
    return nullptr;
  }
}

std::shared_ptr<const ChosenPlan> PlanChooser::first_usable(const ConvolutionCase& problem,
                                                            const Proposals& proposed,
                                                            Choice& best) {
  for (const Choice& choice : joined(proposed.precompiled, proposed.compiled_now))
    if (auto made = make(problem, choice)) {
      best = choice;
      return made;
    }
  return nullptr;
}

std::shared_ptr<const ChosenPlan> PlanChooser::fastest(const ConvolutionCase& problem,
                                                       const Proposals& proposed, Choice& best) {
  Bench bench(problem, target_.handle, stream_.stream);
  std::shared_ptr<const ChosenPlan> winner;
  double shortest = std::numeric_limits<double>::infinity();
  // Those compiled at run time come first: of the precompiled ones there are enough for all turns.
  for (int ran = 0; const Choice& choice : joined(proposed.compiled_now, proposed.precompiled)) {
    if (ran == timed_) break;
    const auto made = make(problem, choice);
    if (made == nullptr) continue;
    double seconds = 0;
    try {
      seconds = bench.seconds(*made);
    } catch (const Error&) {  // some engines refuse only when they run
      continue;
    }
    ++ran;
    if (seconds < shortest) {
      shortest = seconds;
      best = choice;
      winner = made;
    }
  }
  return winner;
}

}  // namespace doetune::workloads::cudnn
