// A decoder on the CPU.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "workloads/language/cpu/cpu_cache.h"
#include "workloads/language/cpu/cpu_weights.h"
#include "workloads/language/decoder.h"

namespace doetune::workloads::language {

class CpuDecoder final : public Decoder {
 public:
  /// The weights must outlive the decoder. Throws CannotRun.
  CpuDecoder(const DecoderShape& shape, const CpuWeights& weights, const DecoderOptions& options);

  void step(std::span<const Segment> segments, std::span<int> next) override;
  std::span<const float> logits(int i) const override;
  std::int64_t cache_bytes() const override { return cache_.bytes(); }

 private:
  struct Layer {
    const float* attention_gains;
    Matrix query_key_value;
    Matrix output;
    const float* ffn_gains;
    Matrix gate_up;
    Matrix down;
  };

  /// A token of a step.
  struct Row {
    const Segment* segment;
    int position;
  };

  /// Rows of one segment, for one head of keys and values.
  struct AttentionTask {
    int kv_head;
    int first;
    int end;
  };

  void gather(std::span<const Segment> segments);
  void run_layer(const Layer& layer, int number);
  void normalise(const float* gains, std::span<const int> rows);
  void rotate_and_keep(int layer);
  void attend(const AttentionTask& task, int layer);
  void rotate(float* head, int position) const;
  void gate();
  void predict(std::span<const Segment> segments, std::span<int> next);

  Rows rows_in(const onednn::Buffer& buffer, std::int64_t stride) const {
    return {buffer.floats(), static_cast<int>(rows_.size()), stride};
  }
  /// Queries, keys and values of a row.
  float* projected(int row) const { return projected_.floats() + row * projected_width_; }
  std::int64_t projected_width_;

  DecoderShape shape_;
  const CpuWeights& weights_;
  DecoderOptions options_;
  CpuCache cache_;
  std::vector<Layer> layers_;
  std::vector<float> turns_;  // for each position and pair of elements, cosine and sine
  // Of the step:
  std::vector<Row> rows_;
  std::vector<int> all_rows_;
  std::vector<AttentionTask> tasks_;
  // Activations, a row for each token:
  onednn::Buffer x_;
  onednn::Buffer normalised_;
  onednn::Buffer projected_;
  onednn::Buffer attended_;
  onednn::Buffer gates_;  // G m, then U m
  onednn::Buffer gated_;
  onednn::Buffer logits_;  // a row for each prediction
};

}  // namespace doetune::workloads::language
