#include "doe/space_filling/sobol.h"

#include <fmt/format.h>

#include <bit>
#include <limits>
#include <stdexcept>

#include "base/random.h"

namespace doetune::doe {
namespace {

constexpr std::uint64_t kFirstDigit = std::uint64_t{1} << (kSobolBits - 1);
constexpr std::uint64_t kSearchSeed = 1967;  // a seed for which every dimension has candidates
constexpr int kCandidates = 8;
constexpr int kMinPoints = 2;  // log2 of the sizes of the nets compared
constexpr int kMaxPoints = 9;

int degree_of(std::uint32_t polynomial) { return std::bit_width(polynomial) - 1; }

/// a b modulo p, for polynomials over GF(2).
std::uint32_t product_modulo(std::uint32_t a, std::uint32_t b, std::uint32_t p) {
  std::uint32_t product = 0;
  for (; b != 0; b >>= 1) {
    if ((b & 1) != 0) product ^= a;
    a <<= 1;
    if (degree_of(a) == degree_of(p)) a ^= p;
  }
  return product;
}

/// x^exponent modulo p.
std::uint32_t x_to(std::uint32_t exponent, std::uint32_t p) {
  std::uint32_t power = 1;
  std::uint32_t square = degree_of(p) == 1 ? 1 : 2;  // x itself modulo p
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) power = product_modulo(power, square, p);
    square = product_modulo(square, square, p);
  }
  return power;
}

bool is_primitive(std::uint32_t p) {
  const std::uint32_t order = (1U << degree_of(p)) - 1;
  if (x_to(order, p) != 1) return false;
  for (std::uint32_t prime = 2, rest = order; rest > 1; ++prime) {
    if (rest % prime != 0) continue;
    if (x_to(order / prime, p) == 1) return false;
    while (rest % prime == 0) rest /= prime;
  }
  return true;
}

/// Random initial values, continued: m_i = 2 a_1 m_{i-1} ^ ... ^ 2^s m_{i-s} ^ m_{i-s}.
SobolDirections continued(std::uint32_t polynomial, RandomStream& random) {
  const int degree = degree_of(polynomial);
  std::array<std::uint64_t, kSobolBits> m{};
  for (int i = 0; i < kSobolBits; ++i) {
    if (i < degree) {
      m[i] = 2 * random.below(std::uint64_t{1} << i) + 1;
      continue;
    }
    m[i] = m[i - degree];
    for (int back = 1; back <= degree; ++back) {
      if ((polynomial >> (degree - back) & 1) != 0) m[i] ^= m[i - back] << back;
    }
  }
  for (int i = 0; i < kSobolBits; ++i) m[i] <<= kSobolBits - 1 - i;
  return m;
}

SobolDirections van_der_corput() {
  SobolDirections directions{};
  for (int i = 0; i < kSobolBits; ++i) directions[i] = kFirstDigit >> i;
  return directions;
}

/// Reduced rows of bits, to test whether a further row is linearly dependent on them.
class BitRows {
 public:
  /// Adds a row; false if it is a sum of earlier rows, which are then unchanged.
  bool add(std::uint64_t row) {
    row = reduced(row);
    if (row == 0) return false;
    rows_[count_++] = row;
    return true;
  }

 private:
  std::uint64_t reduced(std::uint64_t row) const {
    for (int i = 0; i < count_; ++i) {
      if ((row & std::bit_floor(rows_[i])) != 0) row ^= rows_[i];
    }
    return row;
  }

  std::array<std::uint64_t, 64> rows_{};
  int count_ = 0;
};

/// Digit `digit` (from 0) of the first m direction numbers, one bit each.
std::uint64_t generator_row(const SobolDirections& directions, int digit, int m) {
  std::uint64_t row = 0;
  for (int i = 0; i < m; ++i) row |= (directions[i] >> (kSobolBits - 1 - digit) & 1) << i;
  return row;
}

/// Whether the first d rows of a and the first s - d rows of b are independent for all d.
bool all_independent(const SobolDirections& a, const SobolDirections& b, int s, int m) {
  for (int d = 0; d <= s; ++d) {
    BitRows rows;
    for (int digit = 0; digit < s; ++digit) {
      if (!rows.add(digit < d ? generator_row(a, digit, m) : generator_row(b, digit - d, m))) {
        return false;
      }
    }
  }
  return true;
}

/// Property A of the first d dimensions: their first digits in d direction numbers are independent.
bool has_property_a(const std::vector<SobolDirections>& directions, const SobolDirections& next) {
  const int d = static_cast<int>(directions.size()) + 1;
  BitRows rows;
  for (const SobolDirections& one : directions) rows.add(generator_row(one, 0, d));
  // Earlier dimensions are known to be independent: they have the property with fewer numbers.
  return rows.add(generator_row(next, 0, d));
}

int badness(const std::vector<SobolDirections>& directions, const SobolDirections& next) {
  int sum = 0;
  for (const SobolDirections& one : directions) {
    for (int m = kMinPoints; m <= kMaxPoints; ++m) {
      const int t = sobol_t_value(one, next, m);
      sum += t * t;
    }
  }
  return sum;
}

/// The best of the candidates with property A for the next dimension.
SobolDirections best_directions(const std::vector<SobolDirections>& directions,
                                std::uint32_t polynomial) {
  RandomStream random(kSearchSeed, directions.size());
  SobolDirections best{};
  int least = std::numeric_limits<int>::max();
  for (int found = 0; found < kCandidates;) {
    const SobolDirections candidate = continued(polynomial, random);
    if (!has_property_a(directions, candidate)) continue;
    ++found;
    const int bad = badness(directions, candidate);
    if (bad >= least) continue;
    least = bad;
    best = candidate;
  }
  return best;
}

/// Multiplies the digits by a random lower triangular matrix with unit diagonal.
SobolDirections scrambled(const SobolDirections& directions, RandomStream& random) {
  SobolDirections result{};
  for (int digit = 0; digit < kSobolBits; ++digit) {
    // Row of the matrix: a random selection of earlier digits, and the digit itself.
    const std::uint64_t own = kFirstDigit >> digit;
    const std::uint64_t before = (2 * kFirstDigit - 1) & ~(2 * own - 1);
    const std::uint64_t row = (random.next() & before) | own;
    for (int i = 0; i < kSobolBits; ++i) {
      if (std::popcount(directions[i] & row) % 2 == 1) result[i] |= own;
    }
  }
  return result;
}

}  // namespace

std::vector<std::uint32_t> primitive_polynomials(int count) {
  std::vector<std::uint32_t> polynomials;
  for (std::uint32_t p = 3; static_cast<int>(polynomials.size()) < count; p += 2) {
    if (is_primitive(p)) polynomials.push_back(p);
  }
  return polynomials;
}

int sobol_t_value(const SobolDirections& a, const SobolDirections& b, int m) {
  int s = 0;
  while (s < m && all_independent(a, b, s + 1, m)) ++s;
  return m - s;
}

std::vector<SobolDirections> sobol_directions(int dimensions) {
  if (dimensions > kSobolDimensions) {
    throw std::invalid_argument(
        fmt::format("{} dimensions of Sobol' points; at most {}", dimensions, kSobolDimensions));
  }
  std::vector<SobolDirections> directions;
  const std::vector<std::uint32_t> polynomials = primitive_polynomials(dimensions - 1);
  for (int d = 0; d < dimensions; ++d) {
    directions.push_back(d == 0 ? van_der_corput()
                                : best_directions(directions, polynomials[d - 1]));
  }
  return directions;
}

SobolSequence::SobolSequence(int dimensions, std::uint64_t seed)
    : directions_(sobol_directions(dimensions)) {
  for (int d = 0; d < dimensions; ++d) {
    RandomStream random(seed, d);
    directions_[d] = scrambled(directions_[d], random);
    shifts_.push_back(random.next() & (2 * kFirstDigit - 1));
  }
}

Eigen::VectorXd SobolSequence::point(std::uint64_t index) const {
  Eigen::VectorXd point(directions_.size());
  for (std::size_t d = 0; d < directions_.size(); ++d) {
    std::uint64_t digits = shifts_[d];
    for (int i = 0; index >> i != 0; ++i) {
      if ((index >> i & 1) != 0) digits ^= directions_[d][i];
    }
    point[d] = static_cast<double>(digits) * 0x1.0p-52;
  }
  return point;
}

}  // namespace doetune::doe
