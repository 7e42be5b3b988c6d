#include "workloads/engines/cudnn/engines.h"

#include <algorithm>
#include <array>
#include <set>

namespace doetune::workloads::cudnn {
namespace {

/// The numerical notes that exclude an engine, by precision.
std::vector<cudnnBackendNumericalNote_t> ruled_out(Precision precision) {
  std::vector<cudnnBackendNumericalNote_t> notes{
      CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION, CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC,
      CUDNN_NUMERICAL_NOTE_FFT, CUDNN_NUMERICAL_NOTE_WINOGRAD};
  if (precision == Precision::fp32)  // tensor cores compute fp32 as tf32
    notes.insert(notes.end(),
                 {CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS, CUDNN_NUMERICAL_NOTE_TENSOR_CORE});
  return notes;
}

bool has_any(const std::vector<cudnnBackendNumericalNote_t>& notes,
             const std::vector<cudnnBackendNumericalNote_t>& unwanted) {
  return std::ranges::any_of(
      notes, [&](auto note) { return std::ranges::find(unwanted, note) != unwanted.end(); });
}

EngineConfiguration read(const Descriptor& configuration, const Descriptor& engine) {
  EngineConfiguration result;
  result.engine = engine.get<std::int64_t>(CUDNN_ATTR_ENGINE_GLOBAL_INDEX);
  const auto knobs =
      configuration.descriptors(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES,
                                CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR, CUDNN_KNOB_TYPE_COUNTS);
  for (const Descriptor& knob : knobs)
    result.knobs[knob.get<cudnnBackendKnobType_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE)] =
        knob.get<std::int64_t>(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE);
  return result;
}

/// The proposals of one heuristic; none where it knows no engine for the graph.
std::vector<Descriptor> proposals(const ConvolutionGraph& graph, cudnnBackendHeurMode_t mode,
                                  const Target& target) {
  try {
    Descriptor heuristics(CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR);
    heuristics.set(CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH, graph.graph())
        .set(CUDNN_ATTR_ENGINEHEUR_MODE, mode);
    if (target.properties != nullptr)
      heuristics.set(CUDNN_ATTR_ENGINEHEUR_DEVICEPROP, *target.properties);
    heuristics.finalize();
    const std::int64_t count =
        heuristics.count(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_TYPE_BACKEND_DESCRIPTOR);
    return heuristics.descriptors(CUDNN_ATTR_ENGINEHEUR_RESULTS, CUDNN_BACKEND_ENGINECFG_DESCRIPTOR,
                                  count);
  } catch (const Error& error) {
    if (CUDNN_STATUS_CATEGORY(error.status) != CUDNN_STATUS_NOT_SUPPORTED) throw;
    return {};
  }
}

/// The engine of a configuration. The descriptor must exist before cuDNN fills it in.
Descriptor engine_of(const Descriptor& configuration) {
  auto engines =
      configuration.descriptors(CUDNN_ATTR_ENGINECFG_ENGINE, CUDNN_BACKEND_ENGINE_DESCRIPTOR, 1);
  return std::move(engines.at(0));
}

std::vector<Descriptor> knob_choices(const EngineConfiguration& configuration) {
  std::vector<Descriptor> choices;
  for (const auto& [type, value] : configuration.knobs)
    choices.emplace_back(CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR)
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_TYPE, static_cast<cudnnBackendKnobType_t>(type))
        .set(CUDNN_ATTR_KNOB_CHOICE_KNOB_VALUE, value)
        .finalize();
  return choices;
}

}  // namespace

Descriptor device_properties(std::string_view json) {
  Descriptor properties(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR);
  properties.set(CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION,
                 std::span<const char>(json.data(), json.size()));
  properties.finalize();
  return properties;
}

std::vector<Candidate> candidates(const ConvolutionCase& problem, const Target& target) {
  const ConvolutionGraph graph(problem, target.handle);
  const auto unwanted = ruled_out(problem.precision);
  std::vector<Candidate> found;
  for (const auto mode : {CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_FALLBACK})
    for (const Descriptor& proposal : proposals(graph, mode, target)) {
      const Descriptor engine = engine_of(proposal);
      if (has_any(engine.list<cudnnBackendNumericalNote_t>(CUDNN_ATTR_ENGINE_NUMERICAL_NOTE,
                                                           CUDNN_NUMERICAL_NOTE_TYPE_COUNT),
                  unwanted))
        continue;
      const auto behaviour = engine.list<cudnnBackendBehaviorNote_t>(
          CUDNN_ATTR_ENGINE_BEHAVIOR_NOTE, CUDNN_BEHAVIOR_NOTE_TYPE_COUNT);
      Candidate candidate{
          read(proposal, engine),
          std::ranges::find(behaviour, CUDNN_BEHAVIOR_NOTE_RUNTIME_COMPILATION) != behaviour.end()};
      const bool known = std::ranges::any_of(found, [&](const Candidate& other) {
        return other.configuration == candidate.configuration;
      });
      if (!known) found.push_back(std::move(candidate));
    }
  return found;
}

Plan::Plan(const ConvolutionCase& problem, const EngineConfiguration& configuration,
           const Target& target)
    : problem_(problem),
      graph_(problem, target.handle),
      engine_(CUDNN_BACKEND_ENGINE_DESCRIPTOR),
      configuration_(CUDNN_BACKEND_ENGINECFG_DESCRIPTOR),
      plan_(CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR) {
  engine_.set(CUDNN_ATTR_ENGINE_OPERATION_GRAPH, graph_.graph())
      .set(CUDNN_ATTR_ENGINE_GLOBAL_INDEX, configuration.engine);
  if (target.properties != nullptr) engine_.set(CUDNN_ATTR_ENGINE_DEVICEPROP, *target.properties);
  engine_.finalize();
  configuration_.set(CUDNN_ATTR_ENGINECFG_ENGINE, engine_);
  const auto choices = knob_choices(configuration);
  if (!choices.empty())
    configuration_.set(CUDNN_ATTR_ENGINECFG_KNOB_CHOICES, std::span<const Descriptor>(choices));
  configuration_.finalize();
  plan_.set(CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG, configuration_);
  if (target.handle != nullptr) plan_.set(CUDNN_ATTR_EXECUTION_PLAN_HANDLE, target.handle);
  if (target.properties != nullptr)
    plan_.set(CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, *target.properties);
  plan_.finalize();
  workspace_bytes_ = plan_.get<std::int64_t>(CUDNN_ATTR_EXECUTION_PLAN_WORKSPACE_SIZE);
}

void Plan::run(cudnnHandle_t handle, const Pointers& pointers) const {
  std::vector<std::int64_t> ids{kInputId, kWeightsId, kOutputId};
  std::vector<void*> data{pointers.input, pointers.weights, pointers.output};
  const auto add = [&](std::int64_t id, void* its_data) {
    ids.push_back(id);
    data.push_back(its_data);
  };
  if (problem_.pass == Pass::forward) add(kBiasId, pointers.bias);
  if (problem_.residual_pitch > 0) add(kResidualId, pointers.residual);
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, std::span<const std::int64_t>(ids))
      .set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, std::span<void* const>(data))
      .set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, pointers.workspace)
      .finalize();
  check(cudnnBackendExecute(handle, plan_.raw(), pack.raw()), "running a convolution");
}

}  // namespace doetune::workloads::cudnn
