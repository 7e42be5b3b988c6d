#include "workloads/video/scene.h"

#include <algorithm>
#include <cmath>

#include "base/random.h"

namespace doetune::workloads {
namespace {

constexpr int kThings = 12;
constexpr int kNoise = 16;  // grey levels, peak to peak

/// The position of a point that starts at `start` and is reflected at 0 and `length`.
float bounced(float start, float speed, int frame, float length) {
  const float unfolded = std::fmod(std::abs(start + speed * static_cast<float>(frame)), 2 * length);
  return unfolded < length ? unfolded : 2 * length - unfolded;
}

}  // namespace

Scene::Scene(int width, int height, std::uint64_t seed)
    : width_(width), height_(height), seed_(seed) {
  std::uint64_t index = 0;
  const auto uniform = [&](float low, float high) {
    return low + (high - low) * random_unit(seed, index++);
  };
  const auto level = [&] { return static_cast<std::uint8_t>(uniform(30, 226)); };
  const auto w = static_cast<float>(width);
  const auto h = static_cast<float>(height);
  for (int i = 0; i < kThings; ++i)
    things_.push_back({uniform(0, w), uniform(0, h), uniform(-w / 60, w / 60),
                       uniform(-h / 90, h / 90), uniform(w / 60, w / 9), uniform(h / 40, h / 6),
                       i % 2 == 0, level(), level(), level()});
}

void Scene::draw(int frame, YcbcrImage& image) const {
  draw_background(image);
  for (const Thing& thing : things_) draw_thing(thing, frame, image);
  add_noise(frame, image);
}

void Scene::draw_background(YcbcrImage& image) const {
  for (int y = 0; y < height_; ++y)
    for (int x = 0; x < width_; ++x)
      image.luma_row(y)[x] =
          static_cast<std::uint8_t>(60 + 120 * y / height_ + (x / 16 + y / 16) % 2 * 12);
  for (int y = 0; y < height_ / 2; ++y)
    for (int x = 0; x < width_ / 2; ++x) {
      image.blue_row(y)[x] = static_cast<std::uint8_t>(112 + 64 * x / width_);
      image.red_row(y)[x] = static_cast<std::uint8_t>(144 - 64 * y / height_);
    }
}

void Scene::draw_thing(const Thing& thing, int frame, YcbcrImage& image) const {
  const float centre_x = bounced(thing.x, thing.speed_x, frame, static_cast<float>(width_));
  const float centre_y = bounced(thing.y, thing.speed_y, frame, static_cast<float>(height_));
  const int top = std::max(0, static_cast<int>(centre_y - thing.half_height));
  const int bottom = std::min(height_ - 1, static_cast<int>(centre_y + thing.half_height));
  for (int y = top; y <= bottom; ++y) {
    const float v = (static_cast<float>(y) - centre_y) / thing.half_height;
    const float reach =
        thing.half_width * (thing.disc ? std::sqrt(std::max(0.0F, 1 - v * v)) : 1.0F);
    const int left = std::max(0, static_cast<int>(centre_x - reach));
    const int right = std::min(width_ - 1, static_cast<int>(centre_x + reach));
    for (int x = left; x <= right; ++x) {
      image.luma_row(y)[x] = thing.luma;
      image.blue_row(y / 2)[x / 2] = thing.blue;
      image.red_row(y / 2)[x / 2] = thing.red;
    }
  }
}

void Scene::add_noise(int frame, YcbcrImage& image) const {
  const std::uint64_t noise_seed = random_bits(seed_, static_cast<std::uint64_t>(frame));
  std::uint64_t index = 0;
  for (int y = 0; y < height_; ++y) {
    std::uint8_t* row = image.luma_row(y);
    for (int x = 0; x < width_; x += 8) {
      const std::uint64_t bits = random_bits(noise_seed, index++);
      for (int i = 0; i < std::min(8, width_ - x); ++i)
        row[x + i] += static_cast<std::uint8_t>((bits >> (8 * i)) % kNoise - kNoise / 2);
    }
  }
}

}  // namespace doetune::workloads
