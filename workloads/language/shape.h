// Shapes of decoder-only transformers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace doetune::workloads {

/// The transformer of LLaMA (Touvron et al. 2023, arXiv:2302.13971). A token t at position p begins
/// as x = E[t]. Each layer adds to it
///   x += O attention(rotate(Q n, p), rotate(K n, p), V n),  n = norm(x, g)
///   x += D (silu(G m) * (U m)),                             m = norm(x, h)
/// and the logits of the next token are L norm(x, f), where L is E if the embeddings are tied.
///   norm(x, g) = g x / sqrt(mean(x^2) + kNormEpsilon)     RMSNorm: Zhang & Sennrich 2019
///   silu(z) = z / (1 + exp(-z)), of the gate G m          SwiGLU: Shazeer 2020, arXiv:2002.05202
///   rotate: elements i and i + d/2 of a head of d elements are turned by the angle
///     p rotary_base^(-2 i / d)                            rotary embeddings: Su et al. 2021,
///                                                         arXiv:2104.09864
///   attention: sums of values v, weighted by softmax(q . k / sqrt(d)) over the positions up to p;
///     each key and value is shared by heads / kv_heads queries, head j by those from
///     j heads / kv_heads on                               grouped queries: Ainslie et al. 2023,
///                                                         arXiv:2305.13245
struct DecoderShape {
  int layers = 0;
  int width = 0;
  int heads = 0;
  int kv_heads = 0;
  int ffn_width = 0;
  int vocabulary = 0;
  int positions = 0;  ///< maximum length of prompt and answer together
  double rotary_base = 10000;
  bool tied_embeddings = false;

  int head_width() const { return width / heads; }
  int group() const { return heads / kv_heads; }  ///< queries for each key
  int kv_width() const { return kv_heads * head_width(); }
};

inline constexpr float kNormEpsilon = 1e-5F;

/// The widths of heads and of feed-forward layers are multiples of this, so that vectors fit.
inline constexpr int kWidthMultiple = 16;

struct NamedShape {
  std::string_view name;
  DecoderShape shape;
};

/// Published shapes, the smallest first.
std::span<const NamedShape> named_shapes();

/// The cosine and the sine of the angle of every position and pair of elements, as `rotate` uses
/// them: positions x head_width / 2 x 2.
std::vector<float> rotary_turns(const DecoderShape& shape);

/// Throws std::invalid_argument with the reason if the numbers do not fit each other.
void check_shape(const DecoderShape& shape);

}  // namespace doetune::workloads
