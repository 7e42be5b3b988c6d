#include "workloads/training/trainer.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "workloads/memory.h"

namespace doetune::workloads {
namespace {

constexpr int kCandidates = 4;  // assessed for each image to be added

/// The independent streams of random numbers.
enum Purpose : std::uint64_t { kFirstChoice, kCandidateOrder, kEpochOrder, kAugmentation };

std::uint64_t key_of(std::uint64_t seed, Purpose purpose, int epoch) {
  return random_bits(random_bits(seed, purpose), static_cast<std::uint64_t>(epoch));
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Loads images `first` .. `last` - 1 of the data set, without augmentation.
void load(const DataSet& data, std::int64_t first, std::int64_t last, Batch& batch) {
  const std::int64_t size = data.shape().elements();
  batch.images.resize(static_cast<std::size_t>((last - first) * size));
  batch.labels.resize(static_cast<std::size_t>(last - first));
  for (std::int64_t i = first; i < last; ++i)
    batch.labels[static_cast<std::size_t>(i - first)] = data.fill(
        i,
        std::span(batch.images)
            .subspan(static_cast<std::size_t>((i - first) * size), static_cast<std::size_t>(size)));
}

/// Each reader has one in progress, and another is ready.
int depth_for(int readers) { return readers + 1; }

/// Returns the number of images.
int give(const Batch& batch, TrainableNetwork& network) {
  network.load(batch.images, batch.labels);
  return static_cast<int>(batch.labels.size());
}

}  // namespace

std::int64_t data_size_at(const TrainingPlan& plan, int epoch) {
  const std::int64_t round = std::int64_t{epoch} * (plan.rounds + 1) / plan.epochs;
  return plan.data_size * (round + 1) / (plan.rounds + 1);
}

double margin(std::span<const float> logits) {
  float first = -INFINITY, second = -INFINITY;
  for (const float logit : logits) {
    second = std::max(second, std::min(first, logit));
    first = std::max(first, logit);
  }
  double sum = 0;
  for (const float logit : logits) sum += std::exp(double{logit} - first);
  return (1 - std::exp(double{second} - first)) / sum;
}

Trainer::Trainer(TrainableNetwork& network, const DataSet& data, const DataSet& held_out,
                 const TrainingPlan& plan, TrainingState state)
    : network_(network), data_(data), held_out_(held_out), plan_(plan), state_(std::move(state)) {
  for (const std::int64_t index : state_.chosen)
    if (index < 0 || index >= data.count())
      throw std::invalid_argument("the checkpoint is of a training run with other data");
  const std::int64_t batches = depth_for(plan.readers) + 1;
  require_memory(
      batches * plan.batch * data.shape().elements() * static_cast<std::int64_t>(sizeof(float)),
      std::to_string(batches) + " batches");
  network_.continue_after(state_.steps);
}

bool Trainer::finished() const {
  if (state_.diverged_at_step) return true;
  if (state_.epochs.empty()) return false;
  return static_cast<int>(state_.epochs.size()) == plan_.epochs ||
         (plan_.target_accuracy && state_.epochs.back().accuracy >= *plan_.target_accuracy);
}

void Trainer::run_epoch() {
  const auto epoch = static_cast<int>(state_.epochs.size());
  grow();
  const double train_loss = train(epoch);
  if (state_.diverged_at_step) return;
  const BatchScore score = evaluate(held_out_);
  if (diverged(score.loss)) return;
  state_.epochs.push_back({100.0 * score.correct / static_cast<double>(held_out_.count()),
                           score.loss, train_loss, state_.time_s});
}

/// Records the step of the divergence.
bool Trainer::diverged(double loss) {
  if (loss < kDivergedLoss * std::log(data_.classes())) return false;
  state_.diverged_at_step = state_.steps;
  return true;
}

/// Selects this epoch's data if they are more than the previous epoch's.
void Trainer::grow() {
  const auto epoch = static_cast<int>(state_.epochs.size());
  const auto wanted = static_cast<std::size_t>(data_size_at(plan_, epoch));
  if (state_.chosen.empty()) {
    state_.chosen = random_order(data_.count(), key_of(plan_.seed, kFirstChoice, 0));
    state_.chosen.resize(wanted);
  } else if (wanted > state_.chosen.size()) {
    const std::unordered_set<std::int64_t> known(state_.chosen.begin(), state_.chosen.end());
    auto candidates = random_order(data_.count(), key_of(plan_.seed, kCandidateOrder, epoch));
    std::erase_if(candidates, [&](std::int64_t index) { return known.contains(index); });
    const std::size_t missing = wanted - state_.chosen.size();
    candidates.resize(std::min(candidates.size(), kCandidates * missing));
    const ResidentImages pool(Subset(data_, candidates), plan_.threads);
    const Clock::time_point start = Clock::now();
    const auto added = min_sure(pool, candidates, missing);
    state_.chosen.insert(state_.chosen.end(), added.begin(), added.end());
    state_.selection_s += seconds_since(start);
    state_.time_s += seconds_since(start);
  } else if (learnt_from_) {
    return;
  }
  learnt_from_.emplace(Subset(data_, state_.chosen), plan_.threads);
}

std::vector<std::int64_t> Trainer::min_sure(const DataSet& data,
                                            const std::vector<std::int64_t>& candidates,
                                            std::size_t count) {
  std::vector<double> margins;
  const auto classes = static_cast<std::size_t>(data_.classes());
  evaluate(data, [&](int images) {
    for (std::size_t i = 0; i < static_cast<std::size_t>(images); ++i)
      margins.push_back(margin(network_.logits().subspan(i * classes, classes)));
  });
  std::vector<std::size_t> order(candidates.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return margins[i]; });
  std::vector<std::int64_t> chosen;
  for (const std::size_t i : std::span(order).first(count)) chosen.push_back(candidates[i]);
  return chosen;
}

void Trainer::pass_over(BatchLoader& loader, std::int64_t batches, TrainableNetwork::Pass pass,
                        const Each& each) {
  int next = batches == 0 ? 0 : give(loader.next(), network_);
  for (std::int64_t number = 1; next > 0; ++number) {
    const int images = std::exchange(next, 0);
    network_.start(pass, images);
    if (number < batches) next = give(loader.next(), network_);
    if (!each(images, network_.finish())) return;
  }
}

/// Runs the steps of an epoch; returns the mean of their losses.
double Trainer::train(int epoch) {
  const std::int64_t steps = learnt_from_->count() / plan_.batch;
  const auto order = random_order(learnt_from_->count(), key_of(plan_.seed, kEpochOrder, epoch));
  const std::uint64_t augmentation_key = key_of(plan_.seed, kAugmentation, epoch);
  const Shape shape = data_.shape();
  const auto size = static_cast<std::size_t>(shape.elements());
  std::vector<std::vector<float>> plain_of(static_cast<std::size_t>(plan_.readers),
                                           std::vector<float>(size));
  const auto make = [&](int reader, std::int64_t number, Batch& batch) {
    std::vector<float>& plain = plain_of[static_cast<std::size_t>(reader)];
    batch.images.resize(static_cast<std::size_t>(plan_.batch) * size);
    batch.labels.resize(static_cast<std::size_t>(plan_.batch));
    for (std::size_t i = 0; i < batch.labels.size(); ++i) {
      const std::int64_t index = order[static_cast<std::size_t>(number * plan_.batch) + i];
      batch.labels[i] = learnt_from_->fill(index, plain);
      const auto identity =
          static_cast<std::uint64_t>(state_.chosen[static_cast<std::size_t>(index)]);
      augment(plan_.augmentation, shape, random_bits(augmentation_key, identity), plain,
              std::span(batch.images).subspan(i * size, size));
    }
  };
  double losses = 0;
  std::int64_t step = 0;
  const Clock::time_point start = Clock::now();
  const double time_before = state_.time_s;
  BatchLoader loader(steps, plan_.readers, depth_for(plan_.readers), make);
  pass_over(loader, steps, TrainableNetwork::Pass::gradients,
            [&](int images, const BatchScore& score) {
              if (diverged(score.loss)) return false;
              network_.update(static_cast<float>(plan_.learning_rate.at(epoch, step++, steps)));
              losses += score.loss;
              state_.images += images;
              ++state_.steps;
              return true;
            });
  state_.time_s = time_before + seconds_since(start);
  return losses / static_cast<double>(steps);
}

/// Loss and number of correct predictions on a data set; `each` is called after each batch.
BatchScore Trainer::evaluate(const DataSet& data, const std::function<void(int images)>& each) {
  const std::int64_t batches = (data.count() + plan_.batch - 1) / plan_.batch;
  const auto make = [&](int, std::int64_t number, Batch& batch) {
    load(data, number * plan_.batch, std::min(data.count(), (number + 1) * plan_.batch), batch);
  };
  BatchScore all;
  BatchLoader loader(batches, plan_.readers, depth_for(plan_.readers), make);
  pass_over(loader, batches, TrainableNetwork::Pass::evaluation,
            [&](int images, const BatchScore& score) {
              all.loss += score.loss * images / static_cast<double>(data.count());
              all.correct += score.correct;
              if (each) each(images);
              return true;
            });
  return all;
}

}  // namespace doetune::workloads
