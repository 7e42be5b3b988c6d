#include "workloads/communication/ranked_training.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/random.h"
#include "workloads/communication/pipeline.h"
#include "workloads/networks/stages.h"

namespace doetune::workloads {
namespace {

/// Initial state, the same on all ranks.
struct Start {
  Network network;
  InitialState state;
};

Network trained_network(const Inputs& in) {
  const NetworkType& type = network_type(in.text("network"));
  return make_network(type.name,
                      in.has("input_size") ? in.integer("input_size") : type.default_height);
}

Start start_of(const Request& request) {
  const Network network = trained_network(request.inputs);
  return {network, initial_state(network, request.seed)};
}

TrainingOptions training_options(const Request& request, int images) {
  const Inputs& in = request.inputs;
  TrainingOptions options;
  options.seed = request.seed;
  options.batch = images;
  options.precision = precision_named(in.text("precision"));
  options.threads = in.has("threads") ? in.integer("threads") : omp_get_max_threads();
  return options;
}

std::unique_ptr<Engine> engine_of(const Communicator& communicator, const Inputs& in) {
  return make_engine(in.text("device"), {.gpu = communicator.local_rank()});
}

/// Draws the images of the batch from `first` on.
void draw_images(std::uint64_t seed, std::int64_t elements, int first, std::span<float> images) {
  const float width = std::sqrt(12.0F);
  for (std::size_t i = 0; i < images.size(); ++i)
    images[i] = width * (random_unit(seed, static_cast<std::size_t>(first * elements) + i) - 0.5F);
}

void draw_labels(std::uint64_t seed, int classes, int first, std::span<std::int32_t> labels) {
  const std::uint64_t label_seed = random_bits(seed, 0);
  for (std::size_t i = 0; i < labels.size(); ++i)
    labels[i] =
        static_cast<std::int32_t>(random_bits(label_seed, static_cast<std::uint64_t>(first) + i) %
                                  static_cast<std::uint64_t>(classes));
}

/// A network whose input holds the images of this rank's part of the batch.
std::unique_ptr<TrainableNetwork> network_with_images(const Communicator& communicator,
                                                      const Request& request, BatchShare share,
                                                      bool gradients_on_device) {
  const Start start = start_of(request);
  TrainingOptions options = training_options(request, share.count);
  options.first_image = share.first;
  options.gradients_on_device = gradients_on_device;
  auto network =
      engine_of(communicator, request.inputs)
          ->train(start.network, start.state.parameters, start.state.statistics, options);
  draw_images(request.seed, start.network.input.elements(), share.first, network->input());
  draw_labels(request.seed, start.network.output().channels, share.first, network->labels());
  return network;
}

RankTraining data_parallel_training(Communicator& communicator, const Request& request) {
  const Inputs& in = request.inputs;
  const int batch = in.integer("batch_size");
  const BatchShare share = batch_share(batch, communicator.rank(), communicator.size());
  const bool on_device = communicator.size() == 1 ||
                         (communicator.on_gpus() && resolve_device(in.text("device")) == "cuda");
  // Members are destroyed in reverse: the sums must end before the network whose block they use.
  struct Learning {
    std::unique_ptr<TrainableNetwork> network;
    std::optional<DataParallel> parallel;
  };
  const auto learning = std::make_shared<Learning>();
  learning->network = network_with_images(communicator, request, share, on_device);
  const auto bucket = static_cast<std::int64_t>(in.number("bucket_mb") * (1 << 20) / 4);
  learning->parallel.emplace(
      communicator, *learning->network,
      DataParallelOptions{bucket, communication_type_named(in.text("communication_type")),
                          on_device});
  const auto rate = static_cast<float>(in.number("learning_rate"));
  const double part = static_cast<double>(share.count) / batch;
  const auto step = [learning, batch, rate, part] {
    const DataParallel::Step done = learning->parallel->step(batch, rate);
    return RankStep{part * done.score.loss, done.waited_s};
  };
  return {step, [learning] {
            const std::span<const float> all = learning->network->parameters();
            return std::vector<float>(all.begin(), all.end());
          }};
}

std::span<const float> part(const std::vector<float>& all, std::int64_t first, std::int64_t count) {
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(count));
}

std::shared_ptr<TrainableStage> engine_stage(const Communicator& communicator,
                                             const Request& request, const Start& start,
                                             const NetworkStage& own,
                                             const PipelineOptions& pipeline) {
  TrainingOptions options = training_options(request, largest_micro_batch(pipeline));
  options.first_layer = own.first_layer;
  return engine_of(communicator, request.inputs)
      ->train_stage(
          own.network, part(start.state.parameters, own.first_parameter, parameters(own.network)),
          part(start.state.statistics, own.first_statistic, statistics_count(own.network)), options,
          pipeline_slots(communicator.rank(), communicator.size(), pipeline));
}

/// The parameters of the whole network, each rank contributing its stage's.
std::vector<float> parameters_of_all(Communicator& communicator, TrainableStage& stage,
                                     std::int64_t first, std::int64_t count) {
  std::vector<float> all(static_cast<std::size_t>(count), 0.0F);
  std::ranges::copy(stage.parameters(), all.begin() + first);
  communicator.all_reduce(all);
  return all;
}

RankTraining model_parallel_training(Communicator& communicator, const Request& request) {
  const Inputs& in = request.inputs;
  const PipelineOptions pipeline{in.integer("batch_size"), in.integer("micro_batches"),
                                 communication_type_named(in.text("communication_type"))};
  const Start start = start_of(request);
  const NetworkStage own = network_stages(start.network, communicator.size())
                               .at(static_cast<std::size_t>(communicator.rank()));
  const auto stage = engine_stage(communicator, request, start, own, pipeline);
  const auto elements = start.network.input.elements();
  std::vector<float> images(
      communicator.rank() == 0 ? static_cast<std::size_t>(elements * pipeline.batch) : 0);
  std::vector<std::int32_t> labels(static_cast<std::size_t>(pipeline.batch));
  draw_images(request.seed, elements, 0, images);
  draw_labels(request.seed, start.network.output().channels, 0, labels);
  const auto parallel = std::make_shared<PipelineOfStages>(communicator, *stage, pipeline);
  const auto rate = static_cast<float>(in.number("learning_rate"));
  const auto step = [stage, parallel, rate, images = std::move(images),
                     labels = std::move(labels)] {
    const PipelineOfStages::Step done = parallel->step(images, labels, rate);
    return RankStep{done.loss, done.waited_s};
  };
  return {step,
          [&communicator, stage, first = own.first_parameter, count = parameters(start.network)] {
            return parameters_of_all(communicator, *stage, first, count);
          }};
}

}  // namespace

void check_shares(const Request& request, int ranks) {
  const Inputs& in = request.inputs;
  const int batch = in.integer("batch_size");
  const bool model = in.text("parallelism") == "model";
  if (model && batch < in.integer("micro_batches"))
    throw UsageError(
        fmt::format("batch_size = {} is less than one image for each of {} "
                    "micro_batches",
                    batch, in.integer("micro_batches")));
  if (!model && batch < ranks)
    throw UsageError(
        fmt::format("batch_size = {} is less than one image for each of {} ranks", batch, ranks));
  try {
    const Network network = trained_network(in);
    if (model) network_stages(network, ranks);
  } catch (const std::invalid_argument& error) {
    throw UsageError(error.what());
  }
}

RankTraining make_rank_training(Communicator& communicator, const Request& request,
                                std::string_view parallelism) {
  return parallelism == "model" ? model_parallel_training(communicator, request)
                                : data_parallel_training(communicator, request);
}

}  // namespace doetune::workloads
