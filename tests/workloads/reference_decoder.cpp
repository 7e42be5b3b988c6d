#include "tests/workloads/reference_decoder.h"

#include <algorithm>
#include <cmath>

#include "workloads/communication/bfloat16.h"
#include "workloads/language/decoder_weights.h"

namespace doetune::workloads {
namespace {

using Vector = std::vector<double>;

double nearest_float8(double number) {
  static const Vector all = float8_numbers();
  const auto distance = [&](double each) { return std::abs(each - std::abs(number)); };
  return std::copysign(*std::ranges::min_element(all, {}, distance), number);
}

class ReferenceDecoder {
 public:
  ReferenceDecoder(const DecoderShape& shape, std::span<const float> weights, CacheType cache)
      : shape_(shape), weights_(weights), cache_(cache), tensors_(tensors_of(shape)) {}

  Vector logits(std::span<const int> tokens) const {
    std::vector<Vector> x;
    for (const int token : tokens) x.push_back(row_of(tensor(TensorKind::embedding, 0), token));
    for (int layer = 0; layer < shape_.layers; ++layer) {
      add_attention(layer, x);
      for (Vector& each : x) add_feed_forward(layer, each);
    }
    const TensorKind kind = shape_.tied_embeddings ? TensorKind::embedding : TensorKind::logits;
    return product(kind, 0, norm(x.back(), TensorKind::final_norm, 0));
  }

 private:
  const Tensor& tensor(TensorKind kind, int layer) const {
    return *std::ranges::find_if(
        tensors_, [&](const Tensor& each) { return each.kind == kind && each.layer == layer; });
  }

  Vector row_of(const Tensor& matrix, std::int64_t row) const {
    const float* first = weights_.data() + matrix.offset + row * matrix.columns;
    return {first, first + matrix.columns};
  }

  Vector product(TensorKind kind, int layer, const Vector& x) const {
    const Tensor& matrix = tensor(kind, layer);
    Vector y(static_cast<std::size_t>(matrix.rows));
    for (std::int64_t r = 0; r < matrix.rows; ++r)
      for (std::size_t c = 0; c < x.size(); ++c)
        y[r] += static_cast<double>(weights_[matrix.offset + r * matrix.columns + c]) * x[c];
    return y;
  }

  Vector norm(Vector x, TensorKind kind, int layer) const {
    const Vector gains = row_of(tensor(kind, layer), 0);
    double squares = 0;
    for (const double each : x) squares += each * each;
    const double size = std::sqrt(squares / static_cast<double>(x.size()) + 1e-5);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] *= gains[i] / size;
    return x;
  }

  /// Of all heads in the vector.
  void rotate(Vector& vector, int position) const {
    const int width = shape_.head_width();
    for (std::size_t head = 0; head < vector.size(); head += width)
      for (int i = 0; i < width / 2; ++i) {
        const double angle = position * std::pow(shape_.rotary_base, -2.0 * i / width);
        double& a = vector[head + i];
        double& b = vector[head + i + width / 2];
        const double turned = a * std::cos(angle) - b * std::sin(angle);
        b = a * std::sin(angle) + b * std::cos(angle);
        a = turned;
      }
  }

  /// As the cache keeps it, head by head.
  void round(Vector& vector) const {
    const int width = shape_.head_width();
    for (std::size_t head = 0; head < vector.size(); head += width) {
      double largest = 0;
      for (int i = 0; i < width; ++i) largest = std::max(largest, std::abs(vector[head + i]));
      for (int i = 0; i < width; ++i) {
        double& number = vector[head + i];
        if (cache_ == CacheType::int8)
          number = std::round(number / largest * 127) * largest / 127;
        else if (cache_ == CacheType::fp8)
          number = nearest_float8(number / largest * 448) * largest / 448;
        else if (cache_ == CacheType::bf16)
          number = static_cast<double>(from_bfloat16(to_bfloat16(static_cast<float>(number))));
      }
    }
  }

  void add_attention(int layer, std::vector<Vector>& x) const {
    std::vector<Vector> keys, values, queries;
    for (std::size_t p = 0; p < x.size(); ++p) {
      const Vector n = norm(x[p], TensorKind::attention_norm, layer);
      queries.push_back(product(TensorKind::query, layer, n));
      keys.push_back(product(TensorKind::key, layer, n));
      values.push_back(product(TensorKind::value, layer, n));
      rotate(queries.back(), static_cast<int>(p));
      rotate(keys.back(), static_cast<int>(p));
      round(keys.back());
      round(values.back());
    }
    for (std::size_t p = 0; p < x.size(); ++p) {
      Vector heads;
      for (int head = 0; head < shape_.heads; ++head)
        for (const double each : attention(queries[p], keys, values, p + 1, head))
          heads.push_back(each);
      const Vector change = product(TensorKind::output, layer, heads);
      for (std::size_t i = 0; i < change.size(); ++i) x[p][i] += change[i];
    }
  }

  Vector attention(const Vector& query, const std::vector<Vector>& keys,
                   const std::vector<Vector>& values, std::size_t count, int head) const {
    const int width = shape_.head_width();
    const int shared = head / (shape_.heads / shape_.kv_heads) * width;
    double total = 0;
    Vector sum(static_cast<std::size_t>(width));
    for (std::size_t p = 0; p < count; ++p) {
      double score = 0;
      for (int i = 0; i < width; ++i) score += query[head * width + i] * keys[p][shared + i];
      const double weight = std::exp(score / std::sqrt(width));
      total += weight;
      for (int i = 0; i < width; ++i) sum[i] += weight * values[p][shared + i];
    }
    for (double& each : sum) each /= total;
    return sum;
  }

  void add_feed_forward(int layer, Vector& x) const {
    const Vector m = norm(x, TensorKind::ffn_norm, layer);
    Vector gated = product(TensorKind::gate, layer, m);
    const Vector up = product(TensorKind::up, layer, m);
    for (std::size_t i = 0; i < gated.size(); ++i)
      gated[i] = gated[i] / (1 + std::exp(-gated[i])) * up[i];
    const Vector change = product(TensorKind::down, layer, gated);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] += change[i];
  }

  DecoderShape shape_;
  std::span<const float> weights_;
  CacheType cache_;
  std::vector<Tensor> tensors_;
};

}  // namespace

std::vector<double> float8_numbers() {
  Vector all;
  for (int code = 0; code < 0x7F; ++code) {
    const int exponent = std::max(code / 8, 1) - 7;
    const int eighths = code % 8 + (code >= 8 ? 8 : 0);
    all.push_back(std::ldexp(eighths / 8.0, exponent));
  }
  return all;
}

std::vector<double> reference_logits(const DecoderShape& shape, std::span<const float> weights,
                                     std::span<const int> tokens, CacheType cache) {
  return ReferenceDecoder(shape, weights, cache).logits(tokens);
}

std::vector<int> reference_answer(const DecoderShape& shape, std::span<const float> weights,
                                  std::vector<int> prompt, int count) {
  std::vector<int> answer;
  while (std::ssize(answer) < count) {
    const Vector logits = reference_logits(shape, weights, prompt);
    answer.push_back(static_cast<int>(std::ranges::max_element(logits) - logits.begin()));
    prompt.push_back(answer.back());
  }
  return answer;
}

}  // namespace doetune::workloads
