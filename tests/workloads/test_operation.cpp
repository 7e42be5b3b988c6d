// Matrix products and copies compared with their definitions, and their operation and byte counts.
#include <catch2/catch.hpp>

#include <cmath>

#include "workloads/peak_rates/operation.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

/// Element (row, column) of A and B in double precision, from the storage order.
double a_at(const Gemm& gemm, std::int64_t row, std::int64_t i) {
  return static_cast<double>(gemm_a(row * gemm.k + i));
}
double b_at(const Gemm& gemm, std::int64_t i, std::int64_t column) {
  return static_cast<double>(gemm_b(gemm.transpose_b ? column * gemm.k + i : i * gemm.n + column));
}

/// Unit roundoff of an operand: 8, 11 and 11 bits (tf32 may be truncated instead of rounded).
double roundoff(Precision precision) {
  switch (precision) {
    case Precision::bf16:
      return 0x1p-8;
    case Precision::fp16:
      return 0x1p-11;
    case Precision::tf32:
      return 0x1p-10;
    default:
      return 0;
  }
}

/// Whether every element satisfies the bound of Higham (2002), "Accuracy and Stability", section
/// 3.5: |error| <= (2 u + k v) sum |a| |b|, plus u of the result for its own rounding; v = 2^-23
/// for sums in fp32 whose terms may be truncated, u = 0 for operands that are not rounded.
bool within_bound(const Gemm& gemm, const std::vector<float>& product) {
  const double rounding = roundoff(gemm.precision);
  const double sums = static_cast<double>(gemm.k + 1) * 0x1p-23;
  bool all = product.size() == static_cast<std::size_t>(gemm.m * gemm.n);
  for (std::int64_t row = 0; all && row < gemm.m; ++row)
    for (std::int64_t column = 0; column < gemm.n; ++column) {
      double exact = 0;
      double size = 0;
      for (std::int64_t i = 0; i < gemm.k; ++i) {
        const double term = a_at(gemm, row, i) * b_at(gemm, i, column);
        exact += term;
        size += std::abs(term);
      }
      const double bound = 1.01 * ((2 * rounding + sums) * size + rounding * std::abs(exact));
      const double got =
          static_cast<double>(product[static_cast<std::size_t>(row * gemm.n + column)]);
      all = all && std::abs(got - exact) <= bound;
    }
  return all;
}

constexpr Precision kPrecisions[] = {Precision::fp32, Precision::tf32, Precision::bf16,
                                     Precision::fp16};

/// Device names and threads: the CPU, and a GPU where there is one.
std::vector<std::pair<const char*, int>> devices() {
  std::vector<std::pair<const char*, int>> all{{"cpu", 1}, {"cpu", 2}};
  if (resolve_device("auto") == "cuda") all.emplace_back("cuda", 1);
  return all;
}

std::vector<float> product_of(Device& device, const Gemm& gemm) {
  const auto operation = device.prepare(gemm);
  operation->seconds(2);
  return operation->result();
}

}  // namespace

TEST_CASE("products agree with double precision within the rounding of theirs", "[operation]") {
  for (const auto& [name, threads] : devices()) {
    const auto device = open_device(name, threads);
    for (const bool transposed : {false, true})
      for (const Precision precision : kPrecisions)
        for (const Gemm& shape :
             {Gemm{1, 1, 1}, Gemm{7, 5, 3}, Gemm{33, 17, 65}, Gemm{128, 64, 96}}) {
          const Gemm gemm{shape.m, shape.n, shape.k, precision, transposed};
          CAPTURE(gemm.m, gemm.n, gemm.k, transposed, name_of(precision), name, threads);
          try {
            const std::vector<float> product = product_of(*device, gemm);
            CHECK(within_bound(gemm, product));
          } catch (const CannotRun& error) {
            REQUIRE(precision != Precision::fp32);
          }
        }
  }
}

TEST_CASE("the check of products sees a wrong one", "[operation]") {
  const auto device = open_device("cpu", 1);
  const Gemm gemm{7, 5, 3};
  std::vector<float> product = product_of(*device, gemm);
  product[11] += 1e-5F;
  CHECK_FALSE(within_bound(gemm, product));
}

TEST_CASE("a CPU refuses precisions that its library has no products in", "[operation]") {
  const auto device = open_device("cpu", 1);
  for (const Precision precision : {Precision::tf32, Precision::fp16})
    CHECK_THROWS_AS(device->prepare(Gemm{8, 8, 8, precision}), CannotRun);
}

TEST_CASE("copies leave what STREAM's kernels say", "[operation]") {
  constexpr std::int64_t kBytes = 64 * 25;
  for (const auto& [name, threads] : devices())
    for (const CopyKind kind : {CopyKind::copy, CopyKind::scale, CopyKind::add, CopyKind::triad}) {
      CAPTURE(name_of(kind), name);
      const auto device = open_device(name, threads);
      const auto operation = device->prepare(Copy{kind, kBytes});
      operation->seconds(1);
      const std::vector<float> z = operation->result();
      REQUIRE(z.size() == kBytes / 4);
      for (std::int64_t i = 0; i < kBytes / 4; ++i) {
        const double x = static_cast<double>(copy_x(i));
        const double y = static_cast<double>(copy_y(i));
        const double expected = kind == CopyKind::copy    ? x
                                : kind == CopyKind::scale ? 3 * x
                                : kind == CopyKind::add   ? x + y
                                                          : x + 3 * y;
        REQUIRE(std::abs(static_cast<double>(z[static_cast<std::size_t>(i)]) - expected) <=
                0x1p-22);
      }
    }
}

TEST_CASE("copies between host and device arrive", "[operation]") {
  for (const auto& [name, threads] : devices())
    for (const CopyKind kind : {CopyKind::host_to_device, CopyKind::device_to_host})
      for (const bool pinned : {true, false}) {
        if (std::string(name) == "cpu") continue;
        const auto operation = open_device(name, threads)->prepare(Copy{kind, 6400, pinned});
        operation->seconds(2);
        const std::vector<float> written = operation->result();
        REQUIRE(written.size() == 1600);
        for (std::int64_t i = 0; i < 1600; ++i)
          REQUIRE(written[static_cast<std::size_t>(i)] == copy_x(i));
      }
}

TEST_CASE("a CPU has no copies between host and device", "[operation]") {
  const auto device = open_device("cpu", 1);
  CHECK_THROWS_AS(device->prepare(Copy{CopyKind::host_to_device, 64}), CannotRun);
  CHECK_THROWS_AS(device->prepare(Copy{CopyKind::device_to_host, 64}), CannotRun);
}

TEST_CASE("operations and bytes of a product by theory", "[operation]") {
  const Gemm gemm{2, 3, 4};
  CHECK(gemm.operations() == 48);                      // 2 m n k
  CHECK(gemm.bytes() == 4 * (2 * 4 + 4 * 3 + 2 * 3));  // A, B, C
  CHECK(Gemm{2, 3, 4, Precision::bf16}.bytes() == gemm.bytes() / 2);
  CHECK(Gemm{65536, 65536, 65536}.operations() == 0x1p49);
}

TEST_CASE("bytes of copies as STREAM counts them", "[operation]") {
  // McCalpin's table: copy and scale move 16 bytes for two doubles, add and triad 24 for three.
  CHECK(Copy{CopyKind::copy, 64}.bytes_moved() == 128);
  CHECK(Copy{CopyKind::scale, 64}.bytes_moved() == 128);
  CHECK(Copy{CopyKind::add, 64}.bytes_moved() == 192);
  CHECK(Copy{CopyKind::triad, 64}.bytes_moved() == 192);
  CHECK(Copy{CopyKind::host_to_device, 64}.bytes_moved() == 64);
}

TEST_CASE("the roofline of a product: bytes decide below the ridge, operations above",
          "[operation]") {
  const PeakRates peak_rates{1000, 10};  // ridge point at 100 operations per byte
  for (const std::int64_t n : {8, 8192}) {
    const Gemm square{n, n, n};  // n / 6 operations per byte in fp32
    const double intensity = square.operations() / square.bytes();
    CHECK(intensity == Approx(static_cast<double>(n) / 6));
    const double rate = square.operations() / roofline_seconds(square, peak_rates);
    CHECK(rate == Approx(std::min(1000.0, 10 * intensity)));  // Williams et al. (2009), figure 1
  }
}

TEST_CASE("kinds of copies have names, and an unknown one is refused", "[operation]") {
  for (const CopyKind kind : {CopyKind::copy, CopyKind::triad, CopyKind::device_to_host})
    CHECK(copy_kind_named(name_of(kind)) == kind);
  CHECK_THROWS_WITH(copy_kind_named("tread"), Catch::Contains("tread"));
}

TEST_CASE("a device that is not there is refused", "[operation]") {
  CHECK_THROWS_AS(open_device("abacus", 1), NoDevice);
}
