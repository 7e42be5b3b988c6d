#include "workloads/language/cuda/gpu_decoder.h"

#include <cuda_profiler_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "workloads/engines/cudnn/device_memory.h"
#include "workloads/language/continuous_batch.h"
#include "workloads/language/cuda/tile_attention.cuh"

namespace doetune::workloads::language {
namespace {

using cudnn::check;
using cudnn::DeviceBuffer;

constexpr int kMaxRows = 65535;  // of a launch
constexpr int kMinPart = 32;     // positions of a part of a sequence
constexpr int kFewPredictions = 64;

/// The most rows of a step that is a graph. One of more is submitted kernel by kernel, as its
/// kernels take as long as their launches or longer. That is arithmetic, not a measurement: with
/// 512 rows, a layer of the small model SmolLM2-135M has products of 3.6 GFLOP, which take 18 us at
/// a fifth of an H100's peak rate, and five other kernels of about 3 us. Nine launches of about 4
/// us take 36 us.
constexpr int kGraphRows = 512;

constexpr const char* kActivations = "the activations";

DeviceBuffer numbers(std::int64_t rows, std::int64_t width, int bytes) {
  return {rows * width * bytes, kActivations};
}
DeviceBuffer floats(std::int64_t rows, std::int64_t width) {
  return numbers(rows, width, sizeof(float));
}

/// For each position and pair of elements, cosine and sine.
DeviceBuffer turns_of(const DecoderShape& shape) {
  const std::vector<float> turns = rotary_turns(shape);
  DeviceBuffer buffer(static_cast<std::int64_t>(turns.size() * sizeof(float)),
                      "the angles of positions");
  check(cudaMemcpy(buffer.data(), turns.data(), turns.size() * sizeof(float), cudaMemcpyDefault),
        "copying the angles of positions");
  return buffer;
}

float* floats_of(const DeviceBuffer& buffer) { return static_cast<float*>(buffer.data()); }

/// The largest power of two that is not larger.
int power_below(int number) {
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(std::max(number, 1))));
}

/// The numbers of rows of steps with up to `most` tokens or predictions.
std::vector<int> all_padded(int most) {
  std::vector<int> all;
  for (int count = 1; count <= most; count = all.back() + 1) all.push_back(padded(count));
  return all;
}

/// Blocks of the attention that keep an H100 busy; it has 132 multiprocessors.
int wanted_blocks(bool tiled) { return (tiled ? kTileBlocks : 8) * 132; }

/// Into how many parts the longest sequence is divided, so that a launch of few rows has enough
/// blocks.
int splits_for(bool tiled, int blocks, int longest) {
  return std::clamp(
      std::min(power_below(wanted_blocks(tiled) / blocks), power_below(longest / kMinPart)), 1,
      kMaxSplits);
}

/// The most bytes of parts that any launch needs: with the fewest blocks for its rows.
std::int64_t max_parts(const HeadShape& heads, bool tiled, int max_rows, int positions) {
  std::int64_t most = 0;
  for (int count = 1; count <= max_rows; ++count) {
    const int tiles = padded((count + tile_rows(heads) - 1) / tile_rows(heads));
    const int splits = splits_for(tiled, tiles * heads.kv_heads, positions);
    if (splits == 1) break;
    most = std::max(most, attention_bytes(heads, padded(count), splits));
  }
  return most;
}

/// The parts of a step in memory, one after another. Of the blocks, which are last, only those in
/// use are copied.
class StepMemory {
 public:
  StepMemory(void* first, int rows, int predictions)
      : first_(static_cast<std::byte*>(first)), rows_(rows), predictions_(predictions) {}

  StepHeader* header() const { return reinterpret_cast<StepHeader*>(first_); }
  StepRow* rows() const { return reinterpret_cast<StepRow*>(header() + 1); }
  StepTile* tiles() const { return reinterpret_cast<StepTile*>(rows() + rows_); }
  int* last() const { return reinterpret_cast<int*>(tiles() + rows_); }
  int* blocks() const { return last() + predictions_; }
  std::int64_t bytes(int used_blocks) const {
    return static_cast<std::int64_t>(sizeof(StepHeader)) +
           rows_ * static_cast<std::int64_t>(sizeof(StepRow) + sizeof(StepTile)) +
           (std::int64_t{predictions_} + used_blocks) * static_cast<std::int64_t>(sizeof(int));
  }

 private:
  std::byte* first_;
  int rows_;
  int predictions_;
};

}  // namespace

GpuDecoder::GpuDecoder(const DecoderShape& shape, const GpuWeights& weights, Precision precision,
                       const DecoderOptions& options, ProductChoices& choices)
    : shape_(shape),
      heads_{shape.heads, shape.kv_heads, shape.head_width()},
      weights_(weights),
      precision_(precision),
      options_(options),
      tiled_(has_tiles(precision, options.cache, heads_)),
      // The kernel for few rows reads so many.
      max_rows_(std::max(padded(options.max_tokens), kMaxFewRows)),
      max_predictions_(std::max(padded(options.max_segments), kMaxFewRows)),
      stream_(cudnn::Multiprocessors(0)),
      products_(precision, stream_, choices),
      head_bytes_(cache_bytes_per_token(shape, options.cache) * options.block_size /
                  (std::int64_t{shape.layers} * shape.kv_heads)),
      layer_bytes_(head_bytes_ * shape.kv_heads * options.blocks),
      cache_(layer_bytes_ * shape.layers, "the cache"),
      turns_(turns_of(shape)),
      given_(StepMemory(nullptr, max_rows_, max_predictions_).bytes(options.blocks)),
      step_(given_.bytes(), "a step"),
      next_(max_predictions_ * static_cast<std::int64_t>(sizeof(int))),
      x_(floats(max_rows_, shape.width)),
      normalised_(numbers(std::max(max_rows_, max_predictions_), shape.width, bytes_of(precision))),
      projected_(floats(max_rows_, shape.width + 2LL * shape.kv_width())),
      attended_(numbers(max_rows_, shape.width, bytes_of(precision))),
      parts_(max_parts(heads_, tiled_, max_rows_, shape.positions), kActivations),
      gates_(floats(max_rows_, 2LL * shape.ffn_width)),
      gated_(numbers(max_rows_, shape.ffn_width, bytes_of(precision))),
      logits_(floats(max_predictions_, shape.vocabulary)),
      chosen_(next_.bytes(), kActivations) {
  if (max_rows_ > kMaxRows)
    throw CannotRun(
        fmt::format("a step of {} tokens: a GPU takes at most {}", max_rows_, kMaxRows));
  if (heads_.width > kMaxHeadWidth)
    throw CannotRun(fmt::format("heads of {} elements: the GPU's engine takes at most {}",
                                heads_.width, kMaxHeadWidth));
  describe_products();
  prepare();
}

void GpuDecoder::describe_products() {
  using enum TensorKind;
  const auto gains = [&](TensorKind kind) {
    std::vector<const void*> all;
    for (int layer = 0; layer < shape_.layers; ++layer) all.push_back(weights_.tensor(kind, layer));
    return all;
  };
  query_key_value_ = {.matrices = weights_.matrices(query, value),
                      .from = normalised_.data(),
                      .to = floats_of(projected_),
                      .x = floats_of(x_),
                      .gains = gains(attention_norm)};
  output_ = {.matrices = weights_.matrices(output, output),
             .from = attended_.data(),
             .to = floats_of(x_),
             .add = true};
  gate_up_ = {.matrices = weights_.matrices(TensorKind::gate, up),
              .from = normalised_.data(),
              .to = floats_of(gates_),
              .x = floats_of(x_),
              .gains = gains(ffn_norm),
              .gated = gated_.data()};
  down_ = {.matrices = weights_.matrices(down, down),
           .from = gated_.data(),
           .to = floats_of(x_),
           .add = true};
  logits_product_ = {.matrices = weights_.logits(),
                     .from = normalised_.data(),
                     .to = floats_of(logits_),
                     .x = floats_of(x_),
                     .gains = {weights_.tensor(final_norm, 0)},
                     .last_rows = true};
}

void GpuDecoder::step(std::span<const Segment> segments, std::span<int> next) {
  cudnn::Multiprocessors(0).enter();
  read_logits_.clear();
  const Size size = size_of(segments);
  cudnn::copy_async(given_.data(), step_.data(), gather(segments), stream_);
  if (const auto graph = graphs_.find(size); graph != graphs_.end())
    graph->second.launch(stream_);
  else
    submit(launch_of(size));
  cudnn::copy_async(chosen_.data(), next_.data(), size.predictions * std::int64_t{sizeof(int)},
                    stream_);
  stream_.wait();
  const int* chosen = next_.as<int>().data();
  for (std::size_t i = 0; i < segments.size(); ++i) next[i] = segments[i].predict ? *chosen++ : -1;
}

std::span<const float> GpuDecoder::logits(int i) const {
  const auto width = static_cast<std::size_t>(shape_.vocabulary);
  if (read_logits_.empty()) {
    read_logits_.resize(static_cast<std::size_t>(max_predictions_) * width);
    check(cudaMemcpy(read_logits_.data(), logits_.data(), read_logits_.size() * sizeof(float),
                     cudaMemcpyDefault),
          "reading the logits");
  }
  return std::span(read_logits_).subspan(static_cast<std::size_t>(i) * width, width);
}

std::int64_t GpuDecoder::gather(std::span<const Segment> segments) {
  const StepMemory to(given_.data(), max_rows_, max_predictions_);
  StepHeader& header = *to.header();
  header = {};
  int table = 0;
  for (const Segment& segment : segments) {
    const auto count = static_cast<int>(segment.tokens.size());
    for (int i = 0; i < count; i += tile_rows(heads_))
      to.tiles()[header.tiles++] = {header.rows + i, std::min(tile_rows(heads_), count - i)};
    int position = segment.position;
    for (const int token : segment.tokens) to.rows()[header.rows++] = {token, position++, table, 0};
    const int used = blocks_for(position, options_.block_size);
    std::ranges::copy(segment.blocks.first(static_cast<std::size_t>(used)), to.blocks() + table);
    table += used;
    if (segment.predict) to.last()[header.predictions++] = header.rows - 1;
  }
  return to.bytes(table);
}

StepView GpuDecoder::view() const {
  const StepMemory at(step_.data(), max_rows_, max_predictions_);
  return {at.header(), at.rows(), at.tiles(), at.last(), at.blocks()};
}

GpuDecoder::Size GpuDecoder::size_of(std::span<const Segment> segments) const {
  int tokens = 0;
  int predictions = 0;
  int longest = 0;
  for (const Segment& segment : segments) {
    const auto count = static_cast<int>(segment.tokens.size());
    tokens += count;
    predictions += segment.predict;
    longest = std::max(longest, segment.position + count);
  }
  return tokens == predictions ? decoding_size(tokens, longest) : reading_size(tokens, predictions);
}

/// Of a step in which each sequence has one token and a prediction.
GpuDecoder::Size GpuDecoder::decoding_size(int sequences, int longest) const {
  const int rows = padded(sequences);
  return {rows, tiled_ ? rows : 0, rows, splits_of(rows, rows, longest)};
}

/// Of another step: by its rows, with the most tiles that they may have, the splits of long
/// sequences and one of few numbers of predictions, so that all sizes can be prepared. The spare
/// blocks of the attention end at once; and up to 64 predictions take hardly longer than one, since
/// the weights are read once.
GpuDecoder::Size GpuDecoder::reading_size(int tokens, int predictions) const {
  const int rows = padded(tokens);
  const int per_tile = tile_rows(heads_);
  const int tiles =
      padded(std::min(rows, (rows + per_tile - 1) / per_tile + options_.max_segments));
  const int most = std::min(rows, padded(options_.max_segments));
  const int wanted = std::max(kFewPredictions,
                              static_cast<int>(std::bit_ceil(static_cast<unsigned>(predictions))));
  return {rows, tiled_ ? tiles : 0, predictions == 0 ? 0 : std::min(most, wanted),
          splits_of(rows, tiles, most_positions())};
}

int GpuDecoder::splits_of(int rows, int tiles, int longest) const {
  return splits_for(tiled_, (tiled_ ? tiles : rows) * shape_.kv_heads, longest);
}

/// Of a sequence.
int GpuDecoder::most_positions() const {
  return static_cast<int>(std::min<std::int64_t>(
      shape_.positions, std::int64_t{options_.blocks} * options_.block_size));
}

StepLaunch GpuDecoder::launch_of(const Size& size) const {
  return {.stream = stream_,
          .rows = size.rows,
          .predictions = size.predictions,
          .tiles = size.tiles,
          .splits = size.splits,
          .precision = precision_,
          .cache = options_.cache};
}

/// All of it before the first step: a run that is measured would contain it.
void GpuDecoder::prepare() {
  for (const int rows : all_padded(options_.max_tokens))
    choose({.rows = rows}, {&query_key_value_, &output_, &gate_up_, &down_});
  for (const int predictions : all_padded(options_.max_segments))
    choose({.predictions = predictions}, {&logits_product_});
  load_kernels();
  for (const Size& size : graph_sizes())
    graphs_.try_emplace(size, stream_, [&] { submit(launch_of(size)); });
  cudaProfilerStart();  // for a profiler that leaves out the preparation (bench/gpu/run.py)
}

/// Chooses the ways of products, with rows of the first sequence's first token.
void GpuDecoder::choose(const Size& size, std::initializer_list<const Product*> products) {
  auto* header = static_cast<StepHeader*>(given_.data());
  *header = {size.rows, size.predictions, 0, 0};
  check(cudaMemsetAsync(step_.data(), 0, static_cast<std::size_t>(step_.bytes()), stream_),
        "clearing a step");
  cudnn::copy_async(header, step_.data(), sizeof(StepHeader), stream_);
  for (const Product* each : products) products_.prepare(launch_of(size), view(), *each);
  stream_.wait();
}

/// Loads the kernels that the products did not, by steps of no rows, with one part and with two.
void GpuDecoder::load_kernels() {
  check(cudaMemsetAsync(step_.data(), 0, sizeof(StepHeader), stream_), "clearing a step");
  for (const int splits : {1, 2})
    submit(launch_of({.rows = 1, .tiles = tiled_ ? 1 : 0, .predictions = 1, .splits = splits}));
  stream_.wait();
}

/// The sizes of all steps of at most kGraphRows rows.
std::set<GpuDecoder::Size> GpuDecoder::graph_sizes() const {
  std::set<Size> all;
  for (const int rows : all_padded(std::min(options_.max_tokens, kGraphRows))) {
    if (rows <= padded(options_.max_segments))
      for (int longest = 1; longest <= most_positions(); longest *= 2)
        all.insert(decoding_size(rows, longest));
    for (int predictions = 0; predictions <= std::min(rows, options_.max_segments);) {
      const Size size = reading_size(rows, predictions);
      all.insert(size);
      predictions = size.predictions + 1;
    }
  }
  return all;
}

void GpuDecoder::submit(const StepLaunch& launch) const {
  const StepView step = view();
  embed(launch, step, weights_.tensor(TensorKind::embedding, 0), shape_.width, floats_of(x_));
  for (int layer = 0; layer < shape_.layers; ++layer) submit_layer(launch, layer);
  if (launch.predictions == 0) return;
  products_.multiply(launch, step, logits_product_, 0);
  most_likely(launch, step, floats_of(logits_), shape_.vocabulary,
              static_cast<int*>(chosen_.data()));
}

void GpuDecoder::submit_layer(const StepLaunch& launch, int layer) const {
  const StepView step = view();
  products_.multiply(launch, step, query_key_value_, layer);
  rotate_and_keep(launch, step, heads_, static_cast<const float2*>(turns_.data()),
                  floats_of(projected_), cache(layer));
  attend(launch, step, heads_, floats_of(projected_), cache(layer), floats_of(parts_),
         attended_.data());
  products_.multiply(launch, step, output_, layer);
  products_.multiply(launch, step, gate_up_, layer);
  products_.multiply(launch, step, down_, layer);
}

LayerCache GpuDecoder::cache(int layer) const {
  const auto size = static_cast<std::uint32_t>(options_.block_size);
  const auto reciprocal = static_cast<std::uint32_t>(((std::uint64_t{1} << 32) + size - 1) / size);
  return {cache_.at(layer * layer_bytes_), head_bytes_, size, reciprocal};
}

}  // namespace doetune::workloads::language
