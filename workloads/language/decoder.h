// The device-independent interface of language models. It names no device library.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/engines/engine.h"
#include "workloads/language/shape.h"

namespace doetune::workloads {

/// How cached keys and values are stored. int8 and fp8 have a scale for each token and head, by
/// which the largest magnitude is that of the format: 127, and 448 in fp8, which is E4M3
/// (Micikevicius et al. 2022, arXiv:2209.05433).
enum class CacheType { fp32, bf16, int8, fp8 };
/// Throws std::invalid_argument for an unknown name.
CacheType cache_type_named(std::string_view name);
std::vector<std::string> cache_type_names();

/// Bytes of the keys and values of one token, in all layers.
std::int64_t cache_bytes_per_token(const DecoderShape& shape, CacheType type);

/// Block sizes are multiples of this, so that vectors fit.
inline constexpr int kBlockSizeMultiple = 16;

struct DecoderOptions {
  CacheType cache = CacheType::fp32;
  int block_size = 16;   ///< tokens in a block of the cache
  int blocks = 0;        ///< in the cache
  int max_tokens = 0;    ///< of all segments of a step
  int max_segments = 0;  ///< of a step
  int threads = 1;
};

/// New tokens of a sequence, in a step.
struct Segment {
  std::span<const int> tokens;
  int position = 0;  ///< of the first of them: the number of tokens in the cache before the step
  /// The blocks of the sequence in the cache, in order (paged attention: Kwon et al. 2023,
  /// arXiv:2309.06180): position p is in blocks[p / block_size]. They have room for the new tokens.
  std::span<const int> blocks;
  bool predict = true;  ///< whether the next token is wanted
};

/// Runs steps of a model with a cache of its own. Used by one thread at a time.
class Decoder {
 public:
  virtual ~Decoder() = default;

  /// Adds the segments' tokens to the cache and sets next[i] to the most likely token after segment
  /// i, the first of equals; to -1 where it is not wanted. Sequences are distinct.
  virtual void step(std::span<const Segment> segments, std::span<int> next) = 0;

  /// Logits of the last step for the i-th segment that has a prediction.
  virtual std::span<const float> logits(int i) const = 0;

  virtual std::int64_t cache_bytes() const = 0;
};

/// The weights of a model on a device, shared by its decoders.
class LanguageModel {
 public:
  virtual ~LanguageModel() = default;

  /// The model must outlive its decoders. Throws CannotRun.
  virtual std::unique_ptr<Decoder> decoder(const DecoderOptions& options) const = 0;

  virtual std::int64_t weight_bytes() const = 0;

  /// Names of library and device, for the notes of a run.
  virtual std::string description() const = 0;
};

/// The model with random weights (decoder_weights.h) on a device by name. `precision` is that of
/// the weights, fp32 or bf16, and on a GPU of what is multiplied by them; sums are fp32. Throws
/// NoDevice and CannotRun.
std::unique_ptr<LanguageModel> make_language_model(std::string_view device,
                                                   const DecoderShape& shape, std::uint64_t seed,
                                                   Precision precision, int threads);

/// The devices that have an engine for language models.
std::vector<std::string> language_devices();

}  // namespace doetune::workloads
