#include "workloads/data/generated_images.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "base/random.h"

namespace doetune::workloads {
namespace {

constexpr int kSize = 32;
constexpr int kPixels = kSize * kSize;
constexpr int kFinePerSuper = GeneratedImages::kFineClasses / GeneratedImages::kSuperclasses;
constexpr std::uint64_t kClassSeed = 0x1009;  // fixes the patterns of the classes

// Contrasts and noise, in levels 0..255.
constexpr int kClassContrast = 36;
constexpr int kDistractorContrast = 26;
constexpr int kNoise = 32;  // standard deviation

/// A sequence of random numbers drawn from a key.
class Draws {
 public:
  explicit Draws(std::uint64_t key) : key_(key) {}
  std::int64_t between(std::int64_t low, std::int64_t high) {  // both inclusive
    return low + static_cast<std::int64_t>(
                     random_below(key_, next_++, static_cast<std::uint64_t>(high - low + 1)));
  }

 private:
  std::uint64_t key_;
  std::uint64_t next_ = 0;
};

/// A turn has 1,024 steps; sines and cosines have 14 fractional bits.
constexpr int kTurn = 1024;
constexpr int kUnit = 1 << 14;

const std::array<int, kTurn>& sines() {
  static const auto table = [] {
    std::array<int, kTurn> values{};
    for (int i = 0; i < kTurn; ++i)
      values[i] = static_cast<int>(std::lround(kUnit * std::sin(2 * std::numbers::pi * i / kTurn)));
    return values;
  }();
  return table;
}

int sine(std::int64_t step) { return sines()[static_cast<std::size_t>(step & (kTurn - 1))]; }
int cosine(std::int64_t step) { return sine(step + kTurn / 4); }

struct Grating {
  std::int64_t direction;  // in steps of a turn
  std::int64_t frequency;  // cycles per pixel, 16 fractional bits
  std::array<int, 3> colour;
};

using Pattern = std::array<Grating, 3>;

Grating draw_grating(std::uint64_t key) {
  Draws draws(random_bits(kClassSeed, key));
  const auto direction = draws.between(0, kTurn / 2 - 1);
  const auto frequency = draws.between(65536 / 14, 65536 / 5);  // a cycle in 5 to 14 pixels
  // A colour is a unit vector in RGB space, so that all have equal contrast.
  const auto around = draws.between(0, kTurn - 1);
  const auto up = draws.between(-kTurn / 8, kTurn / 8);
  return {direction,
          frequency,
          {cosine(up) * cosine(around) / kUnit, cosine(up) * sine(around) / kUnit, sine(up)}};
}

/// The patterns of all fine classes.
const std::array<Pattern, GeneratedImages::kFineClasses>& patterns() {
  static const auto table = [] {
    std::array<Pattern, GeneratedImages::kFineClasses> all{};
    for (std::size_t fine = 0; fine < all.size(); ++fine) {
      const std::uint64_t super = fine / kFinePerSuper;
      all[fine] = {draw_grating(2 * super), draw_grating(2 * super + 1), draw_grating(1000 + fine)};
    }
    return all;
  }();
  return table;
}

/// exp(-(i - centre)^2 / (2 width^2)) along one side, positions in 1/16 pixel. Rounding to 14 bits
/// hides the differences between math libraries.
std::array<int, kSize> window(std::int64_t centre, std::int64_t width) {
  std::array<int, kSize> values{};
  for (int i = 0; i < kSize; ++i) {
    const double z = static_cast<double>(16 * i - centre) / static_cast<double>(width);
    values[i] = static_cast<int>(std::lround(kUnit * std::exp(-z * z / 2)));
  }
  return values;
}

std::array<int, kSize> draw_window(Draws& draws) {
  const auto width = draws.between(16 * 5, 16 * 9);
  const auto centre = draws.between(16 * 9, 16 * 22);
  return window(centre, width);
}

/// A fine class of another superclass than that of `fine`.
int other_class(int fine, Draws& draws) {
  const auto step = draws.between(kFinePerSuper, GeneratedImages::kFineClasses - 1);
  const int first = fine - fine % kFinePerSuper;
  return static_cast<int>((first + step) % GeneratedImages::kFineClasses);
}

using Levels = std::array<int, 3 * kPixels>;

void add_pattern(const Pattern& pattern, int contrast, Draws& draws, Levels& levels) {
  const auto scale = draws.between(85, 118);  // per cent
  const auto across = draw_window(draws);
  const auto down = draw_window(draws);
  for (const Grating& grating : pattern) {
    const std::int64_t phase = draws.between(0, kTurn - 1) << 20;
    const std::int64_t frequency = grating.frequency * scale / 100;
    // Steps per pixel, 20 fractional bits: frequency (16 bits) x direction (14 bits) x 2^10.
    const std::int64_t step_x = frequency * cosine(grating.direction);
    const std::int64_t step_y = frequency * sine(grating.direction);
    for (int y = 0; y < kSize; ++y) {
      for (int x = 0; x < kSize; ++x) {
        const int wave = sine((phase + x * step_x + y * step_y) >> 20);
        const int here = across[x] * down[y] / kUnit * contrast;
        for (int c = 0; c < 3; ++c)
          levels[3 * (y * kSize + x) + c] += static_cast<int>(
              std::int64_t{wave} * grating.colour[c] / kUnit * here / kUnit * 64 / kUnit);
      }
    }
  }
}

/// The content of an image, and its label.
struct Drawn {
  int fine;
  int label;  // the fine class shown, or one of another superclass
  Draws draws;
};

Drawn draw_classes(std::uint64_t key) {
  Draws draws(key);
  const int fine = static_cast<int>(draws.between(0, GeneratedImages::kFineClasses - 1));
  const bool mistaken =
      static_cast<double>(draws.between(0, 9999)) < 10000 * GeneratedImages::kLabelNoise;
  return {fine, mistaken ? other_class(fine, draws) : fine, draws};
}

/// Approximately normal: the sum of four uniform numbers (Irwin & Hall).
int noise(std::uint64_t bits) {
  constexpr int kMean = 2 * 65535;
  constexpr double kSpread = 37837.0;  // 65536 sqrt(4 / 12)
  constexpr int kScale = static_cast<int>(64 * 65536.0 * kNoise / kSpread);
  const int sum = static_cast<int>((bits & 0xFFFF) + (bits >> 16 & 0xFFFF) + (bits >> 32 & 0xFFFF) +
                                   (bits >> 48));
  return static_cast<int>(std::int64_t{sum - kMean} * kScale / 65536);
}

}  // namespace

int GeneratedImages::shown(std::int64_t index) const {
  return draw_classes(random_bits(seed_, static_cast<std::uint64_t>(first_ + index))).fine;
}

int GeneratedImages::fill(std::int64_t index, std::span<float> image) const {
  const std::uint64_t key = random_bits(seed_, static_cast<std::uint64_t>(first_ + index));
  auto [fine, label, draws] = draw_classes(key);
  Levels levels{};
  add_pattern(patterns()[static_cast<std::size_t>(fine)], kClassContrast, draws, levels);
  const int distractor = other_class(fine, draws);
  add_pattern(patterns()[static_cast<std::size_t>(distractor)], kDistractorContrast, draws, levels);
  for (std::size_t i = 0; i < levels.size(); ++i) {
    const int level = 128 + (levels[i] + noise(random_bits(~key, i))) / 64;
    image[i] = standardised(std::clamp(level, 0, 255));
  }
  return classes_ == kFineClasses ? label : label / kFinePerSuper;
}

}  // namespace doetune::workloads
