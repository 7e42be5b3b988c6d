#include "workloads/engines/cudnn/cudnn_training.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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
               proposals_to_time()),
      uploads_(*gpu.multiprocessors) {
  const int batch = options.batch;
  const auto words = static_cast<std::int64_t>(sizeof(std::int32_t)) * batch;
  const Shape& in = network_.input;
  for (Slot& slot : slots_) make(slot);
  host_losses_ = PinnedBuffer(words);
  host_correct_ = PinnedBuffer(words);
  host_step_ = PinnedBuffer(sizeof(std::int64_t));
  host_logits_ = PinnedBuffer(float_bytes(network_.output(), batch));
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
  cudaStreamSynchronize(uploads_);
  cudaStreamSynchronize(compute_);
}

void CudnnTrainable::enter() const { gpu_.multiprocessors->enter(); }

// -- a batch --------------------------------------------------------------------------------------

void CudnnTrainable::make(Slot& slot) const {
  const std::int64_t bytes = float_bytes(network_.input, options_.batch);
  slot.labels = PinnedBuffer(static_cast<std::int64_t>(sizeof(std::int32_t)) * options_.batch);
  slot.staging = DeviceBuffer(bytes, "input");
  if (options_.input_memory == HostMemory::pinned)
    slot.pinned = PinnedBuffer(bytes);
  else
    slot.pageable.resize(static_cast<std::size_t>(network_.input.elements() * options_.batch));
}

std::span<float> CudnnTrainable::input() {
  loaded_ = false;
  slot().on_gpu = 0;
  converted_ = 0;
  return slot().images();
}

void CudnnTrainable::load(std::span<const float> images, std::span<const std::int32_t> labels) {
  enter();
  Slot& next = slots_[1 - current_];
  if (images.size() > next.images().size() ||
      images.size() != labels.size() * static_cast<std::size_t>(network_.input.elements()))
    throw std::invalid_argument("load: more images than a batch, or other than labels");
  loaded_ = false;
  next.uploaded.wait();  // of a batch that was replaced
  std::ranges::copy(images, next.images().begin());
  std::ranges::copy(labels, next.labels.as<std::int32_t>().begin());
  upload(next, static_cast<int>(labels.size()));
  loaded_ = true;
}

/// The images alone: labels may change while these stay.
void CudnnTrainable::upload(Slot& slot, int images) const {
  copy_async(slot.images().data(), slot.staging.data(), float_bytes(network_.input, images),
             uploads_);
  slot.uploaded.record(uploads_);
  slot.on_gpu = images;
}

void CudnnTrainable::check_labels(int images) {
  if (images < 1 || images > options_.batch) throw std::invalid_argument("images outside 1..batch");
  const int classes = network_.output().channels;
  for (const std::int32_t label : labels().first(static_cast<std::size_t>(images)))
    if (label < 0 || label >= classes)
      throw std::invalid_argument(fmt::format("a label is {}, outside 0..{}", label, classes - 1));
}

/// Brings the batch of a pass to the GPU, as far as it is not there.
CudnnTrainable::Prepared& CudnnTrainable::begin(int images) {
  enter();
  if (std::exchange(loaded_, false)) {
    current_ = 1 - current_;
    converted_ = 0;
  }
  check_labels(images);
  Prepared& pass = prepared(images);
  if (images > converted_) {
    const Shape& in = network_.input;
    if (images > slot().on_gpu) upload(slot(), images);
    slot().uploaded.hold(compute_);
    write_input({options_.precision, images, compute_},
                static_cast<const float*>(slot().staging.data()), in.channels,
                {image_.data(), plan_.image.channels, in.height, in.width, plan_.image.pitch});
    converted_ = images;
  }
  copy_async(slot().labels.data(), labels_.data(),
             images * static_cast<std::int64_t>(sizeof(std::int32_t)), compute_);
  host_step_.as<std::int64_t>()[0] = updates_;
  copy_async(host_step_.data(), step_.data(), host_step_.bytes(), compute_);
  logits_copied_ = false;
  under_way_ = images;
  return pass;
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

void CudnnTrainable::run_evaluation(Prepared& prepared) {
  if (!prepared.evaluation) {
    const Preparation alone;
    prepared.pass->evaluate(run_of(prepared));  // loads the kernels
    compute_.wait();
    prepared.evaluation =
        CapturedGraph(compute_, [&] { prepared.pass->evaluate(run_of(prepared)); });
  }
  prepared.evaluation.launch(compute_);
}

void CudnnTrainable::prepare_gradients(Prepared& prepared) {
  if (!prepared.learned_before) {
    const Preparation alone;
    // A first run outside a graph loads the kernels, and reports errors where they occur.
    TrainingPass::Run trial = run_of(prepared);
    trial.statistics_momentum = 0;
    learn_whole(trial, *prepared.pass);
    compute_.wait();
    prepared.learned_before = true;
  }
  parameters_.set_current(Block::gradients, false);
  parameters_.set_current(Block::statistics, false);
}

void CudnnTrainable::start(Pass pass, int images) {
  Prepared& prepared = begin(images);
  if (pass == Pass::evaluation) return run_evaluation(prepared);
  prepare_gradients(prepared);
  run_whole(prepared);
}

BatchScore CudnnTrainable::finish() {
  enter();
  compute_.wait();
  return score(under_way_);
}

BatchScore CudnnTrainable::gradients(int images, const GradientsReady& ready) {
  if (!ready) {
    start(Pass::gradients, images);
    return finish();
  }
  Prepared& prepared = begin(images);
  prepare_gradients(prepared);
  run_parts(prepared, ready);
  return finish();
}

void CudnnTrainable::update(float learning_rate) {
  enter();
  parameters_.set_current(Block::parameters, false);
  parameters_.set_current(Block::momentum, false);
  ++updates_;
  parameters_.sgd_step({learning_rate, options_.momentum, options_.weight_decay});
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
