// Orthogonal arrays: all except those from Hadamard matrices are developed from difference schemes.
//
// An r x c difference scheme over a group of s elements: in the difference of any two columns every
// element is equally frequent. Adding each group element in turn to the whole scheme gives an array
// of r s runs and c columns. Each row of the scheme becomes s runs in which every column has all
// levels, so an array of r runs, each repeated s times, can be appended as further columns.
//
// Source: Bose & Bush (1952), "Orthogonal arrays of strength two and three", Annals of Mathematical
// Statistics 23; Hedayat, Sloane & Stufken (1999), Orthogonal Arrays, ch. 6.
#include "doe/optimal/orthogonal_array.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "doe/classical/finite_field.h"
#include "doe/classical/orthogonal_matrices.h"

namespace doetune::doe {
namespace {

using Eigen::MatrixXi;

constexpr int kMaxOrder = 112;  ///< of a Hadamard matrix; all orders up to here are known

bool is_power(int n, int p) {
  while (n > 1 && n % p == 0) n /= p;
  return n == 1;
}

/// The first columns of the multiplication table of a field of q elements. Reduced modulo s, which
/// divides q and preserves sums, it is a scheme over s elements.
MatrixXi multiplication_scheme(int q, int columns) {
  const FiniteField field(q);
  return MatrixXi::NullaryExpr(q, std::min(q, columns), [&](auto i, auto j) {
    return field.product(static_cast<int>(i), static_cast<int>(j));
  });
}

/// The first columns of a 2q x 2q scheme, q odd, from four quadratic forms in i and j:
///
///   [ i^2 + ij + (1 - 1/n) j^2 / 4     ij                       ]
///   [ n i^2 + ij                       n ij + (1 - n) j^2 / 4   ]   n no square.
///
/// Two columns of the same half differ by a linear function of i in both block rows, two of
/// different halves by i'^2 + c in one and n i'^2 + c in the other, with the same c: together twice
/// every element.
MatrixXi quadratic_scheme(int q, int columns) {
  const FiniteField field(q);
  const int one = 1, n = field.power_of_generator(1);
  const int two = field.sum(one, one), four = field.sum(two, two);
  const int first = field.quotient(field.difference(one, field.quotient(one, n)), four);
  const int last = field.quotient(field.difference(one, n), four);
  return MatrixXi::NullaryExpr(2 * q, std::min(2 * q, columns), [&](auto row, auto column) {
    const int i = static_cast<int>(row) % q, j = static_cast<int>(column) % q;
    const int ij = field.product(i, j), jj = field.product(j, j);
    if (row < q && column >= q) return ij;
    if (row >= q && column >= q) return field.sum(field.product(n, ij), field.product(last, jj));
    const int ii = field.product(i, i);
    if (row >= q) return field.sum(field.product(n, ii), ij);
    return field.sum(field.sum(ii, ij), field.product(first, jj));
  });
}

/// i j modulo s, with fewer columns than the smallest prime divisor of s: for s not a prime power.
MatrixXi cyclic_scheme(int s) {
  int columns = 2;
  while (s % columns != 0) ++columns;
  MatrixXi scheme(s, columns);
  for (int i = 0; i < s; ++i) {
    for (int j = 0; j < columns; ++j) scheme(i, j) = i * j % s;
  }
  return scheme;
}

/// The arrays of s levels that are not stacked from smaller ones.
class Family {
 public:
  Family(int factors, int levels) : k_(factors), s_(levels), p_(prime_base(levels)) {}

  /// The sizes up to n of arrays with enough columns.
  std::vector<int> sizes(int n) const {
    if (k_ == 1) return {s_};
    std::vector<int> found;
    for (int size = s_; size <= n; size += s_) {
      if (columns(size) >= k_) found.push_back(size);
    }
    return found;
  }

  /// Columns of the array with this many runs; 0 if there is none.
  int columns(int runs) const {
    if (is_hadamard(runs)) return runs - 1;
    if (runs % s_ != 0) return 0;
    const int rows = runs / s_;
    const int scheme = scheme_columns(rows);
    return scheme == 0 ? 1 : scheme + columns(rows);
  }

  MatrixXi build(int runs) const {
    if (is_hadamard(runs)) {
      return ((hadamard_matrix(runs)->rightCols(runs - 1).array() + 1) / 2).cast<int>();
    }
    const int rows = runs / s_;
    if (scheme_columns(rows) == 0)
      return MatrixXi::NullaryExpr(runs, 1, [&](auto i) { return static_cast<int>(i) % s_; });
    const MatrixXi developed = develop(scheme(rows));
    if (columns(rows) == 0 || developed.cols() == k_) return developed;
    const MatrixXi beside = build(rows);
    MatrixXi array(runs, developed.cols() + beside.cols());
    array.leftCols(developed.cols()) = developed;
    for (int i = 0; i < runs; ++i) array.row(i).tail(beside.cols()) = beside.row(i / s_);
    return array;
  }

  const char* source(int runs) const {
    if (k_ == 1) return "";
    if (is_hadamard(runs)) return "Plackett & Burman (1946)";
    if (p_ == 0) return "Euler (1782)";
    if (is_power(runs, s_)) return "Rao (1947)";
    return is_power(runs, p_) ? "Bose & Bush (1952)" : "Addelman & Kempthorne (1961)";
  }

 private:
  bool is_hadamard(int runs) const { return s_ == 2 && runs % 4 == 0 && runs <= kMaxOrder; }

  /// Columns of the difference scheme with this many rows; 0 if there is none.
  int scheme_columns(int rows) const {
    if (p_ == 0) return rows == s_ ? static_cast<int>(cyclic_scheme(s_).cols()) : 0;
    const bool plain = rows >= s_ && is_power(rows, p_);
    const bool doubled = p_ > 2 && rows % 2 == 0 && rows / 2 >= s_ && is_power(rows / 2, p_);
    return plain || doubled ? rows : 0;
  }

  MatrixXi scheme(int rows) const {
    if (p_ == 0) return cyclic_scheme(s_);
    return is_power(rows, p_) ? multiplication_scheme(rows, k_) : quadratic_scheme(rows / 2, k_);
  }

  MatrixXi develop(const MatrixXi& scheme) const {
    MatrixXi array(scheme.rows() * s_, scheme.cols());
    const auto field = p_ == 0 ? std::nullopt : std::optional<FiniteField>(s_);
    for (int i = 0; i < array.rows(); ++i) {
      for (int j = 0; j < array.cols(); ++j) {
        const int entry = scheme(i / s_, j) % s_;
        array(i, j) = field ? field->sum(entry, i % s_) : (entry + i) % s_;
      }
    }
    return array;
  }

  int k_, s_, p_;
};

/// The fewest sizes with the largest sum up to n, largest first.
std::vector<int> fewest(const std::vector<int>& sizes, int n) {
  constexpr int kNever = std::numeric_limits<int>::max() - 1;
  std::vector<int> count(n + 1, kNever), last(n + 1, 0);
  count[0] = 0;
  for (int sum = 1; sum <= n; ++sum) {
    for (const int size : sizes) {
      if (size > sum || count[sum - size] + 1 > count[sum]) continue;
      count[sum] = count[sum - size] + 1;
      last[sum] = size;
    }
  }
  while (count[n] == kNever) --n;
  std::vector<int> parts;
  for (int rest = n; rest > 0; rest -= parts.back()) parts.push_back(last[rest]);
  return parts;
}

}  // namespace

std::optional<OrthogonalArray> orthogonal_array(int factors, int levels, int max_runs,
                                                RandomStream& random) {
  const Family family(factors, levels);
  const std::vector<int> parts = fewest(family.sizes(max_runs), max_runs);
  if (parts.empty()) return std::nullopt;
  const int runs = std::accumulate(parts.begin(), parts.end(), 0);
  OrthogonalArray array{Eigen::MatrixXd(runs, factors), family.source(parts.front())};
  int first = 0;
  for (const int part : parts) {
    const MatrixXi rows = family.build(part);
    for (int f = 0; f < factors; ++f) {
      std::vector<int> names = random_permutation(levels, random);
      if (first == 0) std::sort(names.begin(), names.end());
      for (int i = 0; i < part; ++i) array.levels(first + i, f) = names[rows(i, f)];
    }
    first += part;
  }
  return array;
}

}  // namespace doetune::doe
