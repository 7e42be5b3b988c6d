// Data sets: reproducibility, informative labels, and rejection of malformed files.
#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/hash.h"
#include "workloads/data/augmentation.h"
#include "workloads/data/cifar100.h"
#include "workloads/data/generated_images.h"
#include "workloads/protocol/protocol.h"

namespace {

using namespace doetune;
using namespace doetune::workloads;
namespace fs = std::filesystem;
using Catch::Contains;

using Image = std::vector<float>;

Image image_of(const DataSet& data, std::int64_t index, int* label = nullptr) {
  Image image(static_cast<std::size_t>(data.shape().elements()));
  const int its_label = data.fill(index, image);
  if (label != nullptr) *label = its_label;
  return image;
}

std::uint64_t fingerprint(const DataSet& data, int images) {
  std::string levels;
  for (int i = 0; i < images; ++i)
    for (const float value : image_of(data, i))
      levels += static_cast<char>(static_cast<unsigned char>(value * 64 + 128));
  return fnv1a(levels);
}

struct DataDirectory {
  fs::path path = fs::temp_directory_path() / ("doetune-data-" + std::to_string(getpid()));
  DataDirectory() { fs::create_directories(path); }
  ~DataDirectory() { fs::remove_all(path); }
};

constexpr std::int64_t kRecord = 3074;

/// Image i has superclass i % 20, class i % 100 and red, green and blue of 10, 20 and 30, except
/// that red of its second pixel is i % 256.
void write_cifar(const fs::path& file, std::int64_t sources) {
  std::string bytes;
  for (std::int64_t i = 0; i < sources; ++i) {
    std::string record(kRecord, '\0');
    record[0] = static_cast<char>(i % 20);
    record[1] = static_cast<char>(i % 100);
    for (std::size_t c = 0; c < 3; ++c)
      std::fill_n(record.begin() + 2 + static_cast<std::ptrdiff_t>(1024 * c), 1024,
                  static_cast<char>(10 * (c + 1)));
    record[3] = static_cast<char>(i % 256);
    bytes += record;
  }
  std::ofstream(file, std::ios::binary) << bytes;
}

}  // namespace

TEST_CASE("a generated image depends on seed and index alone", "[data]") {
  const GeneratedImages all(20, 7, 0, 1000);
  const GeneratedImages tail(20, 7, 900, 100);
  CHECK(image_of(all, 950) == image_of(tail, 50));
  CHECK(image_of(all, 3) == image_of(all, 3));
  CHECK(image_of(all, 3) != image_of(all, 4));
  CHECK(image_of(all, 3) != image_of(GeneratedImages(20, 8, 0, 1000), 3));
}

TEST_CASE("generated images are what they were", "[data]") {
  // A golden value: machines and releases must not compare different data.
  CHECK(fingerprint(GeneratedImages(20, 1, 0, 50), 50) == 0x81ABAB6D0D9C0221ULL);
}

TEST_CASE("a memory-resident set has the images of its indices, whatever made it", "[data]") {
  const GeneratedImages source(100, 3, 0, 500);
  const std::vector<std::int64_t> indices{499, 0, 17, 17, 250};
  const ResidentImages one(Subset(source, indices), 1);
  const ResidentImages four(Subset(source, indices), 4);
  REQUIRE(one.count() == 5);
  for (std::int64_t i = 0; i < one.count(); ++i) {
    int expected = 0, label_one = 0, label_four = 0;
    const Image image = image_of(source, indices[static_cast<std::size_t>(i)], &expected);
    CHECK(image_of(one, i, &label_one) == image);
    CHECK(image_of(four, i, &label_four) == image);
    CHECK(label_one == expected);
    CHECK(label_four == expected);
  }
}

TEST_CASE("images that memory cannot hold are refused before it is used", "[data]") {
  // 2^44 images are 192 PiB, more than a 64-bit processor addresses.
  const GeneratedImages endless(20, 1, 0, std::int64_t{1} << 44);
  CHECK_THROWS_AS(ResidentImages(endless, 1), Infeasible);
  CHECK_THROWS_WITH(ResidentImages(endless, 1),
                    Contains("17592186044416 images") && Contains("216172782113783808 bytes"));
}

TEST_CASE("labels of generated images are 5 % wrong and classes as likely", "[data]") {
  constexpr int kCount = 20000;
  const GeneratedImages fine(100, 1, 0, kCount);
  const GeneratedImages super(20, 1, 0, kCount);
  std::array<int, 20> shown{};
  int wrong = 0;
  Image image(3072);
  for (int i = 0; i < kCount; i += 10) {
    const int label = fine.fill(i, image);
    CHECK(super.fill(i, image) == label / 5);
    wrong += label / 5 != fine.shown(i) / 5 ? 1 : 0;
    CHECK((label == fine.shown(i) || label / 5 != fine.shown(i) / 5));
  }
  for (int i = 0; i < kCount; ++i) ++shown[static_cast<std::size_t>(fine.shown(i) / 5)];
  // Binomial: 2,000 images, 5 %: 100 with a standard deviation of 9.7.
  CHECK(std::abs(wrong - 100) < 4 * 9.7);
  // Multinomial: 20,000 images, 20 superclasses: 1,000 each with a standard deviation of 30.8.
  for (const int count : shown) CHECK(std::abs(count - 1000) < 4.5 * 30.8);
}

TEST_CASE("a generated image resembles its class more than others", "[data]") {
  // Phases are random, so the mean image of a class carries no information. Mean products of values
  // a few pixels apart do: they depend only on direction, frequency and colour.
  constexpr int kTrain = 2000, kTest = 400;
  constexpr std::array<std::pair<int, int>, 6> kColours{
      {{0, 0}, {0, 1}, {0, 2}, {1, 1}, {1, 2}, {2, 2}}};
  constexpr std::array<std::pair<int, int>, 6> kShifts{
      {{3, 0}, {0, 3}, {3, 3}, {3, -3}, {6, 0}, {0, 6}}};
  using Features = std::array<double, kColours.size() * kShifts.size()>;
  const GeneratedImages data(20, 1, 0, kTrain + kTest);
  const auto features = [&](std::int64_t index, int* label) {
    const Image image = image_of(data, index, label);
    const auto value = [&](int y, int x, int colour) {
      return double{image[static_cast<std::size_t>(3 * (32 * y + x) + colour)]};
    };
    Features found{};
    auto feature = found.begin();
    for (const auto& [down, across] : kShifts)
      for (const auto& [here, there] : kColours) {
        for (int y = 0; y < 26; ++y)
          for (int x = 3; x < 26; ++x)
            *feature += value(y, x, here) * value(y + down, x + across, there) / 400;
        ++feature;
      }
    return found;
  };
  std::array<Features, 20> means{};
  std::array<int, 20> counts{};
  int label = 0;
  for (int i = 0; i < kTrain; ++i) {
    const Features each = features(i, &label);
    Features& mean = means[static_cast<std::size_t>(label)];
    const int count = ++counts[static_cast<std::size_t>(label)];
    for (std::size_t f = 0; f < each.size(); ++f) mean[f] += (each[f] - mean[f]) / count;
  }
  int correct = 0;
  for (int i = kTrain; i < kTrain + kTest; ++i) {
    const Features each = features(i, &label);
    const auto distance = [&](const Features& mean) {
      double sum = 0;
      for (std::size_t f = 0; f < each.size(); ++f) sum += std::pow(each[f] - mean[f], 2);
      return sum;
    };
    correct += std::ranges::min_element(means, {}, distance) - means.begin() == label ? 1 : 0;
  }
  INFO(correct << " of " << kTest);
  CHECK(correct > 3 * kTest / 20);  // chance level: 20 of 400, standard deviation 4.4
}

TEST_CASE("an order is a permutation, begins alike for all lengths of a sample", "[data]") {
  const auto order = random_order(1000, 5);
  CHECK(std::set<std::int64_t>(order.begin(), order.end()).size() == 1000);
  CHECK(*std::ranges::max_element(order) == 999);
  CHECK(random_order(1000, 5) == order);
  CHECK(random_order(1000, 6) != order);
  CHECK(random_order(0, 5).empty());
  // For a uniform permutation the position of 0 has mean 499.5 and standard deviation 288.7; over
  // 200 keys, 20.4.
  double mean = 0;
  for (std::uint64_t key = 0; key < 200; ++key) {
    const auto each = random_order(1000, key);
    mean += static_cast<double>(std::ranges::find(each, 0) - each.begin()) / 200;
  }
  CHECK(std::abs(mean - 499.5) < 4 * 20.4);
}

TEST_CASE("CIFAR-100 is read as its publication lays it out", "[data]") {
  const DataDirectory scratch;
  write_cifar(scratch.path / "test.bin", 10000);
  const Cifar100 super(scratch.path, Cifar100::Part::test, 20);
  const Cifar100 fine(scratch.path, Cifar100::Part::test, 100);
  CHECK(super.count() == 10000);
  int label = 0;
  const Image image = image_of(fine, 1234, &label);
  CHECK(label == 34);
  image_of(super, 1234, &label);
  CHECK(label == 14);
  CHECK(image[0] == standardised(10));
  CHECK(image[3] == standardised(1234 % 256));
  CHECK(image[4] == standardised(20));
  CHECK(image[3 * 1023 + 2] == standardised(30));
}

TEST_CASE("files that are not CIFAR-100 are refused with what was expected", "[data]") {
  const DataDirectory scratch;
  const auto open = [&] { return Cifar100(scratch.path, Cifar100::Part::test, 20); };
  CHECK_THROWS_WITH(open(), Contains("cannot read") && Contains("test.bin: No such file"));
  for (const auto& make : {+[](const char* path) { return mkdir(path, 0755); },
                           +[](const char* path) { return mkfifo(path, 0644); }}) {
    REQUIRE(make((scratch.path / "test.bin").c_str()) == 0);
    CHECK_THROWS_AS(open(), UsageError);
    CHECK_THROWS_WITH(open(), Contains("test.bin: it is not a regular file"));
    fs::remove(scratch.path / "test.bin");
  }
  std::ofstream(scratch.path / "test.bin");
  CHECK_THROWS_WITH(open(), Contains("has 0 bytes") && Contains("30740000"));
  write_cifar(scratch.path / "test.bin", 10000);
  fs::resize_file(scratch.path / "test.bin", 10000 * kRecord - 1);
  CHECK_THROWS_AS(open(), UsageError);
  write_cifar(scratch.path / "test.bin", 10000);
  std::fstream file(scratch.path / "test.bin", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(77 * kRecord + 1).put(100);
  file.close();
  CHECK_THROWS_WITH(open(), Contains("image 77 has superclass 17 and class 100"));
}

TEST_CASE("augmentation shifts by up to 4 pixels, mirrors half, and depends on its key", "[data]") {
  const Shape shape{3, 32, 32};
  Image from(3072);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<float>(i + 1);
  const auto augmented = [&](Augmentation augmentation, std::uint64_t key) {
    Image to(from.size());
    augment(augmentation, shape, key, from, to);
    return to;
  };
  CHECK(augmented(Augmentation::none, 1) == from);
  CHECK(augmented(Augmentation::crop_flip, 1) == augmented(Augmentation::crop_flip, 1));
  std::map<int, int> across, down;
  int mirrored = 0;
  for (std::uint64_t key = 0; key < 1000; ++key) {
    const Image to = augmented(Augmentation::crop_flip, key);
    // The middle pixel is never padding: its value shows its origin, its neighbour's whether the
    // image is mirrored.
    const auto middle = static_cast<std::size_t>(3 * (16 * 32 + 16));
    const bool mirror = to[middle + 3] < to[middle];
    const int source = static_cast<int>(to[middle] - 1) / 3;
    mirrored += mirror ? 1 : 0;
    ++down[source / 32 - 16];
    ++across[source % 32 - (mirror ? 15 : 16)];
    CHECK(to[middle + 1] == to[middle] + 1);
  }
  CHECK(std::abs(mirrored - 500) < 4 * 15.8);
  for (const auto& shifts : {across, down}) {
    CHECK(shifts.size() == 9);
    CHECK(shifts.begin()->first == -4);
    CHECK(shifts.rbegin()->first == 4);
    for (const auto& [shift, count] : shifts) CHECK(std::abs(count - 111) < 4.5 * 9.9);
  }
  CHECK_THROWS_AS(augmentation_named("flip"), std::invalid_argument);
}
