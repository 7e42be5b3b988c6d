// Matrix products and copies against their definitions, and what is counted of them.
#include <catch2/catch.hpp>

#include <cmath>

#include "workloads/ceilings/gemm.h"
#include "workloads/ceilings/operation.h"

using namespace doetune::workloads;

namespace {

/// Element (row, column) of A and B in double precision, from the order in memory.
double a_at(const Gemm& gemm, std::int64_t row, std::int64_t i) {
  return static_cast<double>(gemm_a(row * gemm.k + i));
}
double b_at(const Gemm& gemm, std::int64_t i, std::int64_t column) {
  return static_cast<double>(gemm_b(gemm.transpose_b ? column * gemm.k + i : i * gemm.n + column));
}

/// Whether every element obeys the bound of Higham (2002), "Accuracy and Stability", section 3.5:
/// |error| <= (2 u + k 2^-24) sum |a| |b|, and u of the result for its own rounding; u = 0 for
/// operands that are not rounded.
bool within_bound(const Gemm& gemm, const std::vector<float>& product) {
  const double rounding = gemm.precision == Precision::bf16 ? 0x1p-8 : 0;
  const double sums = static_cast<double>(gemm.k + 1) * 0x1p-24;
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

std::vector<float> product_of(Device& device, const Gemm& gemm) {
  const auto operation = device.prepare(gemm);
  operation->seconds(2);
  return operation->result();
}

}  // namespace

TEST_CASE("products on the CPU agree with double precision within the rounding of theirs",
          "[operation]") {
  for (const int threads : {1, 2}) {
    const auto device = open_device("cpu", threads);
    for (const bool transposed : {false, true})
      for (const Precision precision : {Precision::fp32, Precision::bf16})
        for (const Gemm& gemm :
             {Gemm{1, 1, 1}, Gemm{7, 5, 3}, Gemm{33, 17, 65}, Gemm{128, 64, 96}}) {
          const Gemm wanted{gemm.m, gemm.n, gemm.k, precision, transposed};
          CAPTURE(gemm.m, gemm.n, gemm.k, transposed, name_of(precision), threads);
          try {
            CHECK(within_bound(wanted, product_of(*device, wanted)));
          } catch (const CannotRun& error) {
            REQUIRE(precision == Precision::bf16);
            WARN("bf16 is not tested: " << error.what());
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

TEST_CASE("copies on the CPU leave what STREAM's kernels say", "[operation]") {
  constexpr std::int64_t kBytes = 64 * 25;
  const auto device = open_device("cpu", 2);
  for (const CopyKind kind : {CopyKind::copy, CopyKind::scale, CopyKind::add, CopyKind::triad}) {
    CAPTURE(name_of(kind));
    const auto operation = device->prepare(Copy{kind, kBytes});
    CHECK(operation->result() == std::vector<float>(kBytes / 4, 0.0F));
    operation->seconds(1);
    const std::vector<float> z = operation->result();
    for (std::int64_t i = 0; i < kBytes / 4; ++i) {
      const double x = static_cast<double>(copy_x(i));
      const double y = static_cast<double>(copy_y(i));
      const double expected = kind == CopyKind::copy    ? x
                              : kind == CopyKind::scale ? 3 * x
                              : kind == CopyKind::add   ? x + y
                                                        : x + 3 * y;
      REQUIRE(std::abs(static_cast<double>(z[static_cast<std::size_t>(i)]) - expected) <= 0x1p-22);
    }
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
  // McCalpin's table: copy and scale move 16 bytes a pair of doubles, add and triad 24 for three.
  CHECK(Copy{CopyKind::copy, 64}.bytes_moved() == 128);
  CHECK(Copy{CopyKind::scale, 64}.bytes_moved() == 128);
  CHECK(Copy{CopyKind::add, 64}.bytes_moved() == 192);
  CHECK(Copy{CopyKind::triad, 64}.bytes_moved() == 192);
  CHECK(Copy{CopyKind::host_to_device, 64}.bytes_moved() == 64);
}

TEST_CASE("the roofline of a product: bytes decide below the ridge, operations above",
          "[operation]") {
  const Ceilings ceilings{1000, 10};  // ridge at 100 operations a byte
  for (const std::int64_t n : {8, 8192}) {
    const Gemm square{n, n, n};  // n / 6 operations a byte in fp32
    const double intensity = square.operations() / square.bytes();
    CHECK(intensity == Approx(static_cast<double>(n) / 6));
    const double rate = square.operations() / roofline_seconds(square, ceilings);
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
