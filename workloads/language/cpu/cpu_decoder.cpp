#include "workloads/language/cpu/cpu_decoder.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "workloads/engines/onednn/onednn_calls.h"
#include "workloads/language/cpu/kernels.h"

namespace doetune::workloads::language {
namespace {

constexpr int kRowsPerTask = 16;

std::size_t floats(std::int64_t rows, std::int64_t width) {
  return static_cast<std::size_t>(rows * width) * sizeof(float);
}

}  // namespace

CpuDecoder::CpuDecoder(const DecoderShape& shape, const CpuWeights& weights,
                       const DecoderOptions& options)
    : projected_width_(shape.width + 2 * shape.kv_width()),
      shape_(shape),
      weights_(weights),
      options_(options),
      cache_(shape, options),
      turns_(rotary_turns(shape)),
      x_(floats(options.max_tokens, shape.width)),
      normalised_(floats(options.max_tokens, shape.width)),
      projected_(floats(options.max_tokens, projected_width_)),
      attended_(floats(options.max_tokens, shape.width)),
      gates_(floats(options.max_tokens, 2LL * shape.ffn_width)),
      gated_(floats(options.max_tokens, shape.ffn_width)),
      logits_(floats(options.max_segments, shape.vocabulary)) {
  using enum TensorKind;
  for (int layer = 0; layer < shape.layers; ++layer)
    layers_.push_back({weights.gains(attention_norm, layer), weights.matrix(query, value, layer),
                       weights.matrix(output, output, layer), weights.gains(ffn_norm, layer),
                       weights.matrix(gate, up, layer), weights.matrix(down, down, layer)});
}

void CpuDecoder::step(std::span<const Segment> segments, std::span<int> next) {
  onednn::use_threads(options_.threads);
  gather(segments);
  for (std::size_t layer = 0; layer < layers_.size(); ++layer)
    run_layer(layers_[layer], static_cast<int>(layer));
  predict(segments, next);
}

std::span<const float> CpuDecoder::logits(int i) const {
  const auto width = static_cast<std::size_t>(shape_.vocabulary);
  return {logits_.floats() + static_cast<std::size_t>(i) * width, width};
}

void CpuDecoder::gather(std::span<const Segment> segments) {
  rows_.clear();
  tasks_.clear();
  for (const Segment& segment : segments) {
    const auto first = static_cast<int>(rows_.size());
    for (const int token : segment.tokens) {
      const auto row = static_cast<int>(rows_.size());
      weights_.embed(token, x_.floats() + std::int64_t{row} * shape_.width);
      rows_.push_back({&segment, segment.position + row - first});
    }
    const auto end = static_cast<int>(rows_.size());
    for (int head = 0; head < shape_.kv_heads; ++head)
      for (int row = first; row < end; row += kRowsPerTask)
        tasks_.push_back({head, row, std::min(row + kRowsPerTask, end)});
  }
  all_rows_.resize(rows_.size());
  std::iota(all_rows_.begin(), all_rows_.end(), 0);
}

void CpuDecoder::run_layer(const Layer& layer, int number) {
  const int threads = options_.threads;
  const Rows x = rows_in(x_, shape_.width);
  normalise(layer.attention_gains, all_rows_);
  weights_.multiply(layer.query_key_value, normalised_.floats(),
                    rows_in(projected_, projected_width_), false, threads);
  rotate_and_keep(number);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (const AttentionTask& task : tasks_) attend(task, number);
  weights_.multiply(layer.output, attended_.floats(), x, true, threads);
  normalise(layer.ffn_gains, all_rows_);
  weights_.multiply(layer.gate_up, normalised_.floats(), rows_in(gates_, 2LL * shape_.ffn_width),
                    false, threads);
  gate();
  weights_.multiply(layer.down, gated_.floats(), x, true, threads);
}

/// Normalises rows of x into consecutive rows.
void CpuDecoder::normalise(const float* gains, std::span<const int> rows) {
  const int width = shape_.width;
#pragma omp parallel for num_threads(options_.threads)
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const float* x = x_.floats() + std::int64_t{rows[i]} * width;
    float* to = normalised_.floats() + static_cast<std::int64_t>(i) * width;
    float squares = 0;
#pragma omp simd reduction(+ : squares)
    for (int j = 0; j < width; ++j) squares += x[j] * x[j];
    const float factor = 1 / std::sqrt(squares / static_cast<float>(width) + kNormEpsilon);
    for (int j = 0; j < width; ++j) to[j] = x[j] * factor * gains[j];
  }
}

void CpuDecoder::rotate(float* head, int position) const {
  const int pairs = shape_.head_width() / 2;
  const float* turn = turns_.data() + std::int64_t{position} * pairs * 2;
  for (int i = 0; i < pairs; ++i, turn += 2) {
    const float a = head[i], b = head[i + pairs];
    head[i] = a * turn[0] - b * turn[1];
    head[i + pairs] = b * turn[0] + a * turn[1];
  }
}

void CpuDecoder::rotate_and_keep(int layer) {
  const int width = shape_.head_width();
#pragma omp parallel for num_threads(options_.threads)
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const auto& [segment, position] = rows_[static_cast<std::size_t>(row)];
    float* query = projected(row);
    float* key = query + shape_.width;
    const float* value = key + shape_.kv_width();
    for (int head = 0; head < shape_.heads; ++head) rotate(query + head * width, position);
    for (int head = 0; head < shape_.kv_heads; ++head) {
      rotate(key + head * width, position);
      cache_.put(layer, head, segment->blocks, position, key + head * width, value + head * width);
    }
  }
}

void CpuDecoder::attend(const AttentionTask& task, int layer) {
  const int group = shape_.group(), width = shape_.head_width();
  const auto kernel = kernels().attend[static_cast<std::size_t>(options_.cache)];
  std::vector<Query> queries;
  for (int row = task.first; row < task.end; ++row)
    for (int head = task.kv_head * group; head < (task.kv_head + 1) * group; ++head)
      queries.push_back({projected(row) + head * width,
                         attended_.floats() + std::int64_t{row} * shape_.width + head * width,
                         rows_[static_cast<std::size_t>(row)].position + 1});
  kernel({cache_.head(layer, task.kv_head),
          rows_[static_cast<std::size_t>(task.first)].segment->blocks.data(), queries.data(),
          static_cast<int>(queries.size())});
}

void CpuDecoder::gate() {
  const int width = shape_.ffn_width;
#pragma omp parallel for num_threads(options_.threads)
  for (int row = 0; row < static_cast<int>(rows_.size()); ++row) {
    const float* gates = gates_.floats() + 2LL * row * width;
    kernels().gate(gates, gates + width, gated_.floats() + std::int64_t{row} * width, width);
  }
}

void CpuDecoder::predict(std::span<const Segment> segments, std::span<int> next) {
  std::vector<int> last_rows;
  std::vector<std::size_t> predicting;
  int row = -1;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    row += static_cast<int>(segments[i].tokens.size());
    next[i] = -1;
    if (!segments[i].predict) continue;
    last_rows.push_back(row);
    predicting.push_back(i);
  }
  if (predicting.empty()) return;
  normalise(weights_.gains(TensorKind::final_norm, 0), last_rows);
  weights_.multiply(weights_.logits(), normalised_.floats(),
                    {logits_.floats(), static_cast<int>(last_rows.size()), shape_.vocabulary},
                    false, options_.threads);
#pragma omp parallel for num_threads(options_.threads)
  for (std::size_t i = 0; i < predicting.size(); ++i) {
    const std::span<const float> values = logits(static_cast<int>(i));
    next[predicting[i]] = static_cast<int>(std::ranges::max_element(values) - values.begin());
  }
}

}  // namespace doetune::workloads::language
