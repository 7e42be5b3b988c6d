#include "workloads/engines/cudnn/cudnn_training.h"

#include <fmt/format.h>

#include "workloads/cache.h"

namespace doetune::workloads::cudnn {
namespace {

using Block = ParameterBlocks::Block;

/// Checks the options before any memory is allocated.
const Network& trainable(const Network& network, Precision precision) {
  if (!std::holds_alternative<ClassificationHead>(network.head))
    throw CannotRun(network.name + " is not a classifier: only classifiers can be trained");
  if (precision == Precision::fp16)
    throw CannotRun("the GPU trains in fp32, tf32 and bf16, not in fp16");
  return network;
}

}  // namespace

CudnnTrainable::CudnnTrainable(const Gpu& gpu, const Network& network,
                               std::span<const float> parameters, std::span<const float> statistics,
                               const TrainingOptions& options)
    : gpu_(gpu),
      network_(trainable(network, options.precision)),
      options_(options),
      plan_(plan_tensors(network_, channel_multiple(options.precision))),
      compute_(*gpu.multiprocessors),
      handle_(compute_),
      parameters_(ParameterLayout(network_, plan_, options.precision), options.precision, compute_,
                  parameters, statistics),
      cache_(cache_directory(), gpu.name, cudnnGetVersion()),
      chooser_({handle_, nullptr}, {compute_, gpu.multiprocessors->count()}, cache_,
               proposals_to_time()) {
  const int batch = options.batch;
  const auto words = static_cast<std::int64_t>(sizeof(std::int32_t)) * batch;
  const Shape& in = network_.input;
  if (options.input_memory == HostMemory::pinned)
    pinned_input_ = PinnedBuffer(float_bytes(in, batch));
  else
    pageable_input_.resize(static_cast<std::size_t>(in.elements() * batch));
  host_labels_ = PinnedBuffer(words);
  host_losses_ = PinnedBuffer(words);
  host_correct_ = PinnedBuffer(words);
  host_step_ = PinnedBuffer(sizeof(std::int64_t));
  host_logits_ = PinnedBuffer(float_bytes(network_.output(), batch));
  staging_ = DeviceBuffer(float_bytes(in, batch), "input");
  const std::int64_t image_bytes =
      std::int64_t{batch} * in.height * in.width * plan_.image.pitch * bytes_of(options.precision);
  image_ = DeviceBuffer(image_bytes, "input");
  labels_ = DeviceBuffer(words, "labels");
  step_ = DeviceBuffer(host_step_.bytes(), "step");
  logits_ = DeviceBuffer(host_logits_.bytes(), "logits");
  // The padding channels stay zero, and the initial labels are valid classes.
  check(cudaMemsetAsync(image_.data(), 0, static_cast<std::size_t>(image_bytes), compute_),
        "clearing input");
  check(cudaMemsetAsync(labels_.data(), 0, static_cast<std::size_t>(words), compute_),
        "clearing labels");
  prepared(batch);
}

CudnnTrainable::~CudnnTrainable() {
  cudaSetDevice(gpu_.index);
  cudaStreamSynchronize(compute_);
}

void CudnnTrainable::enter() const { gpu_.multiprocessors->enter(); }

// -- a batch --------------------------------------------------------------------------------------

std::span<float> CudnnTrainable::host_input() {
  return pageable_input_.empty() ? pinned_input_.as<float>() : std::span(pageable_input_);
}

std::span<float> CudnnTrainable::input() {
  uploaded_ = 0;
  return host_input();
}

void CudnnTrainable::check_labels(int images) {
  if (images < 1 || images > options_.batch) throw std::invalid_argument("images outside 1..batch");
  const int classes = network_.output().channels;
  for (const std::int32_t label : labels().first(static_cast<std::size_t>(images)))
    if (label < 0 || label >= classes)
      throw std::invalid_argument(fmt::format("a label is {}, outside 0..{}", label, classes - 1));
}

void CudnnTrainable::upload(int images) {
  if (images > uploaded_) {
    const Shape& in = network_.input;
    copy_async(host_input().data(), staging_.data(), float_bytes(in, images), compute_);
    write_input({options_.precision, images, compute_}, static_cast<const float*>(staging_.data()),
                in.channels,
                {image_.data(), plan_.image.channels, in.height, in.width, plan_.image.pitch});
    uploaded_ = images;
  }
  copy_async(host_labels_.data(), labels_.data(),
             images * static_cast<std::int64_t>(sizeof(std::int32_t)), compute_);
  host_step_.as<std::int64_t>()[0] = updates_;
  copy_async(host_step_.data(), step_.data(), host_step_.bytes(), compute_);
}

BatchScore CudnnTrainable::score(int images) const {
  const auto losses = host_losses_.as<const float>();
  const auto correct = host_correct_.as<const std::int32_t>();
  BatchScore score;
  for (int image = 0; image < images; ++image) {
    score.loss += static_cast<double>(losses[image]) / images;
    score.correct += correct[image];
  }
  return score;
}

std::span<const float> CudnnTrainable::logits() {
  if (!logits_copied_) {
    enter();
    copy_async(logits_.data(), host_logits_.data(), logits_.bytes(), compute_);
    compute_.wait();
    logits_copied_ = true;
  }
  return host_logits_.as<const float>();
}

// -- steps ----------------------------------------------------------------------------------------

CudnnTrainable::Prepared& CudnnTrainable::prepared(int images) {
  const auto found = prepared_.find(images);
  if (found != prepared_.end()) return found->second;
  const Preparation alone;
  Prepared made;
  made.pass = std::make_unique<TrainingPass>(
      TrainedLayers{network_, plan_, parameters_.layout(), options_}, images, chooser_);
  cache_.save();
  made.arena = arenas_.of(made.pass->arena_bytes());
  return prepared_.emplace(images, std::move(made)).first->second;
}

TrainingPass::Run CudnnTrainable::run_of(const Prepared& prepared) const {
  return {{image_.data(), static_cast<const std::int32_t*>(labels_.data()),
           static_cast<const std::int64_t*>(step_.data()), prepared.arena,
           static_cast<float*>(logits_.data()), host_losses_.as<float>().data(),
           host_correct_.as<std::int32_t>().data()},
          parameters_,
          handle_,
          compute_,
          /*learning=*/true,
          options_.statistics_momentum};
}

void CudnnTrainable::learn_whole(const TrainingPass::Run& run, const TrainingPass& pass) const {
  pass.learn(run, 0, pass.points().back().end);
  parameters_.unpack(0, parameters_.layout().count());
}

void CudnnTrainable::learn_part(const TrainingPass::Run& run, const TrainingPass& pass,
                                std::size_t part) {
  const auto& points = pass.points();
  const TrainingPass::Point before =
      part == 0 ? TrainingPass::Point{0, parameters_.layout().count()} : points[part - 1];
  pass.learn(run, before.end, points[part].end);
  parameters_.unpack(points[part].offset, before.offset);
  if (!options_.gradients_on_device)
    parameters_.fetch_gradients(points[part].offset, before.offset);
}

void CudnnTrainable::run_whole(Prepared& prepared) {
  if (!prepared.whole) {
    const Preparation alone;
    prepared.whole = CapturedGraph(
        compute_, [this, &prepared] { learn_whole(run_of(prepared), *prepared.pass); });
  }
  prepared.whole.launch(compute_);
}

void CudnnTrainable::run_parts(Prepared& prepared, const GradientsReady& ready) {
  const auto& points = prepared.pass->points();
  if (prepared.parts.empty()) {
    const Preparation alone;
    if (!options_.gradients_on_device) parameters_.host_memory(Block::gradients);
    std::vector<CapturedGraph> parts;
    for (std::size_t part = 0; part < points.size(); ++part)
      parts.emplace_back(compute_, [this, &prepared, part] {
        learn_part(run_of(prepared), *prepared.pass, part);
      });
    prepared.parts = std::move(parts);
  }
  while (events_.size() < points.size()) events_.push_back(std::make_unique<Event>());
  for (std::size_t part = 0; part < points.size(); ++part) {
    prepared.parts[part].launch(compute_);
    events_[part]->record(compute_);
  }
  if (!options_.gradients_on_device) parameters_.set_current(Block::gradients, true);
  for (std::size_t part = 0; part < points.size(); ++part) {
    events_[part]->wait();
    ready(points[part].offset);
  }
}

BatchScore CudnnTrainable::gradients(int images, const GradientsReady& ready) {
  enter();
  check_labels(images);
  Prepared& step = prepared(images);
  upload(images);
  if (!step.learned_before) {
    const Preparation alone;
    // A first run outside a graph loads the kernels, and reports errors where they occur.
    TrainingPass::Run trial = run_of(step);
    trial.statistics_momentum = 0;
    learn_whole(trial, *step.pass);
    compute_.wait();
    step.learned_before = true;
  }
  logits_copied_ = false;
  parameters_.set_current(Block::gradients, false);
  parameters_.set_current(Block::statistics, false);
  if (ready)
    run_parts(step, ready);
  else
    run_whole(step);
  compute_.wait();
  return score(images);
}

void CudnnTrainable::update(float learning_rate) {
  enter();
  parameters_.set_current(Block::parameters, false);
  parameters_.set_current(Block::momentum, false);
  ++updates_;
  parameters_.sgd_step({learning_rate, options_.momentum, options_.weight_decay});
}

BatchScore CudnnTrainable::evaluate(int images) {
  enter();
  check_labels(images);
  Prepared& step = prepared(images);
  upload(images);
  logits_copied_ = false;
  if (!step.evaluation) {
    const Preparation alone;
    step.pass->evaluate(run_of(step));  // loads the kernels
    compute_.wait();
    step.evaluation = CapturedGraph(compute_, [this, &step] { step.pass->evaluate(run_of(step)); });
  }
  step.evaluation.launch(compute_);
  compute_.wait();
  return score(images);
}

// -- blocks ---------------------------------------------------------------------------------------

std::span<float> CudnnTrainable::block(Block which) {
  enter();
  return parameters_.on_host(which);
}

std::span<float> CudnnTrainable::gradients_block() {
  if (!options_.gradients_on_device) return block(Block::gradients);
  return {parameters_.on_gpu(Block::gradients),
          static_cast<std::size_t>(parameters_.layout().count())};
}

void CudnnTrainable::changed() {
  enter();
  parameters_.upload();
}

}  // namespace doetune::workloads::cudnn
