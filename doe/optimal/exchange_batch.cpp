// Inner loops of the coordinate exchange, compiled for three vector widths: see DOETUNE_WIDEST.
#include "doe/optimal/exchange_batch.h"

#include "doe/optimal/line_search.h"

namespace doetune::doe {

namespace {

/// Small enough not to change a design, large enough to start from a singular one.
constexpr double kRidge = 1e-6;

/// Searches with a coarser tolerance than this may use the approximate line search.
constexpr double kRough = 1e-6;

/// With this many columns a row of a matrix product takes longer than reading the clock.
constexpr int kPolledColumns = 128;

/// A quadratic form along one coordinate: constant + 2 sum_a linear_a phi_a + sum_ab gram_ab phi_a
/// phi_b, where phi are the coordinate's features. F is their number if known at compile time, else
/// kMaxFeatures.
template <int F>
struct QuadraticForm {
  Lanes constant;
  Lanes linear[F];
  Lanes gram[F][F];
};

/// A linear form along one coordinate: constant + sum_a linear_a phi_a.
template <int F>
struct LinearForm {
  Lanes constant;
  Lanes linear[F];
};

/// Degree of the criterion along a numeric coordinate with F features.
template <int F>
constexpr int kDegree = 2 * (F < kMaxPower ? F : kMaxPower);

template <int F>
DOETUNE_INLINE int count_of(const Coordinate& coordinate) {
  return F == kMaxFeatures ? coordinate.features : F;
}

template <int F>
DOETUNE_INLINE Lanes at(const QuadraticForm<F>& form, const Lanes* phi, int features) {
  Lanes value = form.constant;
  for (int a = 0; a < features; ++a) {
    Lanes inner = 2.0 * form.linear[a];
    for (int b = 0; b < features; ++b) inner += form.gram[a][b] * phi[b];
    value += inner * phi[a];
  }
  return value;
}

template <int F>
DOETUNE_INLINE Lanes at(const LinearForm<F>& form, const Lanes* phi, int features) {
  Lanes value = form.constant;
  for (int a = 0; a < features; ++a) value += form.linear[a] * phi[a];
  return value;
}

/// Index of entry (i, j) of a symmetric matrix stored as its lower triangle, row by row.
DOETUNE_INLINE long entry(long i, long j) {
  return i >= j ? i * (i + 1) / 2 + j : j * (j + 1) / 2 + i;
}

/// y = S x for a symmetric p x p matrix, two rows at a time.
DOETUNE_INLINE void multiply(const Lanes* s, const Lanes* x, int p, Lanes* y) {
  for (int i = 0; i < p; i += 2) {
    const bool pair = i + 1 < p;
    const Lanes* first = s + entry(i, 0);
    const Lanes* second = pair ? s + entry(i + 1, 0) : first;
    const Lanes x_first = x[i];
    const Lanes x_second = pair ? x[i + 1] : Lanes{};
    Lanes sum_first = first[i] * x_first;
    Lanes sum_second{};
    for (int j = 0; j < i; ++j) {
      sum_first += first[j] * x[j];
      sum_second += second[j] * x[j];
      y[j] += first[j] * x_first + second[j] * x_second;
    }
    if (pair) {
      sum_first += second[i] * x_second;
      sum_second += second[i] * x_first + second[i + 1] * x_second;
      y[i + 1] = sum_second;
    }
    y[i] = sum_first;
  }
}

DOETUNE_INLINE Lanes dot(const Lanes* a, const Lanes* b, int p) {
  Lanes sum{};
  for (int i = 0; i < p; ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

/// The loops, in one struct so that they are inlined into each of the compiled versions.
struct ExchangeKernel {
  DOETUNE_INLINE explicit ExchangeKernel(ExchangeBatch& of)
      : batch(of), space(of.problem_.space), p(of.p_) {}

  ExchangeBatch& batch;
  const SearchSpace& space;
  const int p;

  // Of the current run: f'Vf, f'Vg, g'Vg, and the same with B.
  Lanes ff{}, fg{}, gg{}, bff{}, bfg{}, bgg{};

  DOETUNE_INLINE Lanes feature(const Coordinate& coordinate, int a, const Lanes& value) const {
    Lanes result = value;
    if (coordinate.categorical) {
      const double last = static_cast<double>(coordinate.values.size()) - 1;
      const Lanes zero{};
      result = value == a ? zero + 1 : (value == last ? zero - 1 : zero);
    } else {
      for (int i = 0; i < a; ++i) result *= value;
    }
    return result;
  }

  /// The features of all coordinates of a run, and the run's row of the model matrix.
  DOETUNE_INLINE void expand(int run, Lanes* row) const {
    const Lanes* x = batch.x_.data() + static_cast<long>(run) * batch.k_;
    for (int c = 0; c < batch.k_; ++c) {
      const Coordinate& coordinate = space.coordinates()[c];
      Lanes* phi = batch.phi_.data() + coordinate.first_slot;
      for (int a = 0; a < coordinate.features; ++a) phi[a] = feature(coordinate, a, x[c]);
    }
    for (int c = 0; c < p; ++c) row[c] = product_of(space.column(c));
  }

  DOETUNE_INLINE Lanes product_of(const std::vector<int>& slots) const {
    const Lanes* phi = batch.phi_.data();
    Lanes product = all_lanes(1);
    for (const int slot : slots) product *= phi[slot];
    return product;
  }

  /// The sum of S_ij product_i product_j over the columns of one feature, which are in ascending
  /// order.
  DOETUNE_INLINE Lanes form(const std::vector<int>& columns, const Lanes* s) const {
    const Lanes* product = batch.product_.data();
    Lanes sum{};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Lanes* row = s + entry(columns[i], 0);
      Lanes inner{};
      for (std::size_t j = 0; j < i; ++j) inner += row[columns[j]] * product[columns[j]];
      const Lanes& own = product[columns[i]];
      sum += (2.0 * inner + row[columns[i]] * own) * own;
    }
    return sum;
  }

  /// The same over the columns of two features.
  DOETUNE_INLINE Lanes form(const std::vector<int>& left, const std::vector<int>& right,
                            const Lanes* s) const {
    const Lanes* product = batch.product_.data();
    Lanes sum{};
    for (const int i : left) {
      Lanes inner{};
      for (const int j : right) inner += s[entry(i, j)] * product[j];
      sum += inner * product[i];
    }
    return sum;
  }

  template <int F>
  DOETUNE_INLINE void gram(const Coordinate& coordinate, const Lanes* s, Lanes (*result)[F]) const {
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      result[a][a] = form(coordinate.columns[a], s);
      for (int b = a + 1; b < count_of<F>(coordinate); ++b) {
        result[a][b] = result[b][a] = form(coordinate.columns[a], coordinate.columns[b], s);
      }
    }
  }

  /// g'Sg along the coordinate, given S, Sg and the current value.
  template <int F>
  DOETUNE_INLINE void quadratic(const Coordinate& coordinate, const Lanes* s, const Lanes* sg,
                                const Lanes& now, const Lanes* phi, QuadraticForm<F>& form) const {
    const Lanes* product = batch.product_.data();
    gram<F>(coordinate, s, form.gram);
    form.constant = now;
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      Lanes linear{};
      for (const int i : coordinate.columns[a]) linear += product[i] * sg[i];
      form.constant -= 2.0 * linear * phi[a];
      for (int b = 0; b < count_of<F>(coordinate); ++b) linear -= form.gram[a][b] * phi[b];
      form.linear[a] = linear;
    }
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      for (int b = 0; b < count_of<F>(coordinate); ++b) {
        form.constant += form.gram[a][b] * phi[a] * phi[b];
      }
    }
  }

  /// f'Sg along the coordinate.
  template <int F>
  DOETUNE_INLINE void linear(const Coordinate& coordinate, const Lanes* sf, const Lanes& now,
                             const Lanes* phi, LinearForm<F>& form) const {
    const Lanes* product = batch.product_.data();
    form.constant = now;
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      Lanes sum{};
      for (const int i : coordinate.columns[a]) sum += product[i] * sf[i];
      form.linear[a] = sum;
      form.constant -= sum * phi[a];
    }
  }

  /// The criterion's forms along one coordinate.
  template <int F>
  struct Line {
    explicit DOETUNE_INLINE Line(const Coordinate& of)
        : coordinate(of) {}  // the other members are
                             // large and stay
                             // uninitialised

    const Coordinate& coordinate;
    QuadraticForm<F> v, b;
    LinearForm<F> fv, fb;
  };

  /// |M_new| / |M|.
  DOETUNE_INLINE Lanes ratio(const Lanes& new_gg, const Lanes& new_fg) const {
    return (1.0 + new_gg) * (1.0 - ff) + new_fg * new_fg;
  }

  /// The decrease of tr(V W), times ratio().
  DOETUNE_INLINE Lanes fall(const Lanes& new_gg, const Lanes& new_bgg, const Lanes& new_bfg,
                            const Lanes& new_fg) const {
    return (1.0 - ff) * new_bgg + 2.0 * new_fg * new_bfg - (1.0 + new_gg) * bff;
  }

  /// p times the increase of the logarithm of the compound, from ratio() and fall().
  DOETUNE_INLINE Lanes rise(const Lanes& determinant, const Lanes& drop) const {
    const double share = batch.problem_.determinant_weight;
    const Lanes trace = 1.0 - drop / (determinant * batch.total_);
    const Lanes value =
        share * natural_logarithm(determinant) - p * (1 - share) * natural_logarithm(trace);
    return ((determinant > 1e-12) & (trace > 0)) ? value : all_lanes(-1e300);
  }

  /// The criterion at given features: the ratio of determinants, the decrease of the trace, or the
  /// increase of the compound.
  template <int F>
  DOETUNE_INLINE Lanes worth(const Line<F>& line, const Lanes* phi) const {
    const int features = count_of<F>(line.coordinate);
    const Lanes new_gg = at(line.v, phi, features);
    const Lanes new_fg = at(line.fv, phi, features);
    const Lanes determinant = ratio(new_gg, new_fg);
    if (!batch.trace_) return determinant;
    const Lanes drop = fall(new_gg, at(line.b, phi, features), at(line.fb, phi, features), new_fg);
    if (batch.compound_) return rise(determinant, drop);
    return determinant > 1e-12 ? drop / determinant : all_lanes(-1e300);
  }

  template <int F>
  DOETUNE_INLINE void features_at(const Coordinate& coordinate, const Lanes& value,
                                  Lanes* phi) const {
    for (int a = 0; a < count_of<F>(coordinate); ++a) phi[a] = feature(coordinate, a, value);
  }

  /// Coefficients of a form as a polynomial in the coordinate's value.
  template <int F>
  DOETUNE_INLINE void coefficients(const QuadraticForm<F>& form, int power, Lanes* c) const {
    for (int i = 0; i <= 2 * power; ++i) c[i] = Lanes{};
    c[0] = form.constant;
    for (int a = 0; a < power; ++a) {
      c[a + 1] += 2.0 * form.linear[a];
      for (int b = 0; b < power; ++b) c[a + b + 2] += form.gram[a][b];
    }
  }

  template <int F>
  DOETUNE_INLINE void add_product(const LinearForm<F>& first, const LinearForm<F>& second,
                                  int power, const Lanes& scale, Lanes* c) const {
    for (int a = 0; a <= power; ++a) {
      const Lanes left = scale * (a == 0 ? first.constant : first.linear[a - 1]);
      for (int b = 0; b <= power; ++b) {
        c[a + b] += left * (b == 0 ? second.constant : second.linear[b - 1]);
      }
    }
  }

  /// The best value of a numeric coordinate. The decrease of the trace is a ratio of polynomials,
  /// maximised through polynomials alone by Dinkelbach's (1967) iteration.
  template <int F>
  DOETUNE_INLINE Lanes best_number(const Line<F>& line, const Lanes& current) const {
    const int power = count_of<F>(line.coordinate);
    Lanes determinant[kDegree<F> + 1];
    Lanes vgg[kDegree<F> + 1];
    coefficients(line.v, power, vgg);
    for (int i = 0; i <= 2 * power; ++i) determinant[i] = vgg[i] * (1.0 - ff);
    determinant[0] += 1.0 - ff;
    add_product(line.fv, line.fv, power, all_lanes(1), determinant);
    if (!batch.trace_) {
      return polynomial_maximum(determinant, 2 * power, current, batch.roughly_);
    }

    Lanes drop[kDegree<F> + 1];
    coefficients(line.b, power, drop);
    for (int i = 0; i <= 2 * power; ++i) drop[i] = drop[i] * (1.0 - ff) - vgg[i] * bff;
    drop[0] -= bff;
    add_product(line.fv, line.fb, power, all_lanes(2), drop);
    if (batch.compound_) {
      const auto value = [&](const Lanes& x) __attribute__((always_inline)) {
        return rise(polynomial(determinant, 2 * power, x), polynomial(drop, 2 * power, x));
      };
      return sampled_maximum(value, current);
    }
    Lanes best = current;
    for (int step = 0; step < 3; ++step) {
      const Lanes share =
          polynomial(drop, 2 * power, best) / polynomial(determinant, 2 * power, best);
      Lanes difference[kDegree<F> + 1];
      for (int i = 0; i <= 2 * power; ++i) difference[i] = drop[i] - share * determinant[i];
      best = polynomial_maximum(difference, 2 * power, best, batch.roughly_);
    }
    return best;
  }

  DOETUNE_INLINE LaneMask allowed(int run, int c, const Lanes& value,
                                  const LaneMask& wanted) const {
    LaneMask result = wanted;
    if (space.is_box()) return result;
    Eigen::VectorXd point(batch.k_);
    for (int lane = 0; lane < kLanes; ++lane) {
      if (wanted[lane] == 0) continue;
      for (int f = 0; f < batch.k_; ++f)
        point[f] = batch.x_[static_cast<long>(run) * batch.k_ + f][lane];
      point[c] = value[lane];
      if (!space.allows(point)) result[lane] = 0;
    }
    return result;
  }

  /// The best allowed value tried so far.
  struct Best {
    Lanes value;
    Lanes worth;
  };

  template <int F>
  DOETUNE_INLINE LaneMask consider(const Line<F>& line, int run, int c, const Lanes& value,
                                   const LaneMask& active, Best& best) const {
    Lanes phi[F];
    features_at<F>(line.coordinate, value, phi);
    const Lanes now = worth(line, phi);
    const LaneMask better = allowed(run, c, value, (now > best.worth) & active);
    best.value = better ? value : best.value;
    best.worth = better ? now : best.worth;
    return better;
  }

  /// Used if the best value on the line is not allowed: takes the best of a grid of points, and
  /// from there moves towards the best value until the limit.
  template <int F>
  DOETUNE_INLINE void consider_with_limits(const Line<F>& line, int run, int c, const Lanes& aim,
                                           const LaneMask& active, Best& best) const {
    for (int i = -8; i <= 8; ++i) consider(line, run, c, all_lanes(i / 8.0), active, best);
    Lanes inside = best.value;
    Lanes outside = aim;
    for (int step = 0; step < 12; ++step) {
      const Lanes middle = 0.5 * (inside + outside);
      const LaneMask inner = allowed(run, c, middle, active);
      inside = inner ? middle : inside;
      outside = inner ? outside : middle;
    }
    consider(line, run, c, inside, active, best);
  }

  template <int F>
  DOETUNE_INLINE void search(const Line<F>& line, int run, int c, const Lanes& current,
                             const LaneMask& active, Best& best) const {
    if (line.coordinate.kind != Coordinate::Kind::kContinuous) {
      for (const double value : line.coordinate.values) {
        consider(line, run, c, all_lanes(value), active, best);
      }
      return;
    }
    const Lanes aim = best_number(line, current);
    const LaneMask taken = consider(line, run, c, aim, active, best);
    const LaneMask limited = active & ~taken & (aim != current);
    if (!space.is_box() && any(limited)) consider_with_limits(line, run, c, aim, limited, best);
  }

  /// Updates Vg (or Bg) for new features.
  template <int F>
  DOETUNE_INLINE void follow(const Coordinate& coordinate, const Lanes* s, const Lanes* change,
                             Lanes* sg) const {
    const Lanes* product = batch.product_.data();
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      for (const int j : coordinate.columns[a]) {
        const Lanes by = change[a] * product[j];
        const Lanes* row = s + entry(j, 0);
        for (int i = 0; i <= j; ++i) sg[i] += row[i] * by;
        const Lanes* below = row + j;
        for (int i = j + 1; i < p; ++i) {
          below += i;
          sg[i] += *below * by;
        }
      }
    }
  }

  template <int F>
  DOETUNE_INLINE LaneMask improve_coordinate(int run, int c, const LaneMask& active) {
    const Coordinate& coordinate = space.coordinates()[c];
    Lanes* x = batch.x_.data() + static_cast<long>(run) * batch.k_;
    for (int a = 0; a < count_of<F>(coordinate); ++a) {
      for (std::size_t i = 0; i < coordinate.columns[a].size(); ++i) {
        batch.product_[coordinate.columns[a][i]] = product_of(coordinate.others[a][i]);
      }
    }
    const Lanes* phi = batch.phi_.data() + coordinate.first_slot;
    Line<F> line(coordinate);
    quadratic(coordinate, batch.v_.data(), batch.vg_.data(), gg, phi, line.v);
    linear(coordinate, batch.vf_.data(), fg, phi, line.fv);
    if (batch.trace_) {
      quadratic(coordinate, batch.b_.data(), batch.bg_.data(), bgg, phi, line.b);
      linear(coordinate, batch.bf_.data(), bfg, phi, line.fb);
    }
    const Lanes before = worth(line, phi);
    Best best{x[c], before};
    search(line, run, c, x[c], active, best);
    const Lanes least = batch.compound_ ? before + batch.tolerance_
                        : batch.trace_  ? before + batch.tolerance_ * batch.total_
                                        : before * (1.0 + batch.tolerance_);
    const LaneMask changed = active & (best.worth > least);
    if (any(changed)) move(line, x[c], best.value, changed);
    return changed;
  }

  /// Moves the changed lanes to a new value; the other lanes stay bit-identical.
  template <int F>
  DOETUNE_INLINE void move(const Line<F>& line, Lanes& x, const Lanes& value,
                           const LaneMask& changed) {
    const Coordinate& coordinate = line.coordinate;
    const int features = count_of<F>(coordinate);
    Lanes* phi = batch.phi_.data() + coordinate.first_slot;
    Lanes change[F];
    x = changed ? value : x;
    for (int a = 0; a < features; ++a) {
      const Lanes after = feature(coordinate, a, x);
      change[a] = changed ? after - phi[a] : all_lanes(0);
      phi[a] = after;
    }
    follow<F>(coordinate, batch.v_.data(), change, batch.vg_.data());
    gg = changed ? at(line.v, phi, features) : gg;
    fg = changed ? at(line.fv, phi, features) : fg;
    if (!batch.trace_) return;
    follow<F>(coordinate, batch.b_.data(), change, batch.bg_.data());
    bgg = changed ? at(line.b, phi, features) : bgg;
    bfg = changed ? at(line.fb, phi, features) : bfg;
  }

  /// Replaces the old row by the new one in V: V - Z K Z', Z = [Vf Vg]; then updates B = V W V.
  DOETUNE_INLINE void update(const LaneMask& changed) {
    const Lanes zero{};
    const Lanes scale = changed ? -1.0 / ratio(gg, fg) : zero;
    const Lanes k11 = scale * (1.0 + gg), k12 = -scale * fg, k22 = -scale * (1.0 - ff);
    const Lanes* vf = batch.vf_.data();
    const Lanes* vg = batch.vg_.data();
    if (batch.trace_) update_trace(k11, k12, k22);
    Lanes* v = batch.v_.data();
    for (int i = 0; i < p; ++i) {
      const Lanes left = k11 * vf[i] + k12 * vg[i];
      const Lanes right = k12 * vf[i] + k22 * vg[i];
      Lanes* row = v + entry(i, 0);
      for (int j = 0; j <= i; ++j) row[j] -= left * vf[j] + right * vg[j];
    }
  }

  DOETUNE_INLINE void update_trace(const Lanes& k11, const Lanes& k12, const Lanes& k22) {
    const Lanes* vf = batch.vf_.data();
    const Lanes* vg = batch.vg_.data();
    const Lanes* bf = batch.bf_.data();
    const Lanes* bg = batch.bg_.data();
    // K G K with G = [f'Bf f'Bg; f'Bg g'Bg].
    const Lanes m11 = k11 * bff + k12 * bfg, m12 = k11 * bfg + k12 * bgg;
    const Lanes m21 = k12 * bff + k22 * bfg, m22 = k12 * bfg + k22 * bgg;
    const Lanes q11 = m11 * k11 + m12 * k12, q12 = m11 * k12 + m12 * k22;
    const Lanes q22 = m21 * k12 + m22 * k22;
    batch.total_ -= k11 * bff + 2.0 * k12 * bfg + k22 * bgg;
    Lanes* b = batch.b_.data();
    for (int i = 0; i < p; ++i) {
      const Lanes zf = k11 * vf[i] + k12 * vg[i], zg = k12 * vf[i] + k22 * vg[i];
      const Lanes yf = k11 * bf[i] + k12 * bg[i], yg = k12 * bf[i] + k22 * bg[i];
      const Lanes wf = q11 * vf[i] + q12 * vg[i] - yf, wg = q12 * vf[i] + q22 * vg[i] - yg;
      Lanes* row = b + entry(i, 0);
      for (int j = 0; j <= i; ++j) {
        row[j] += wf * vf[j] + wg * vg[j] - zf * bf[j] - zg * bg[j];
      }
    }
  }

  DOETUNE_INLINE void improve_run(int run, const LaneMask& active, LaneMask& changed) {
    expand(run, batch.f_.data());
    multiply(batch.v_.data(), batch.f_.data(), p, batch.vf_.data());
    ff = fg = gg = dot(batch.f_.data(), batch.vf_.data(), p);
    for (int i = 0; i < p; ++i) batch.vg_[i] = batch.vf_[i];
    if (batch.trace_) {
      multiply(batch.b_.data(), batch.f_.data(), p, batch.bf_.data());
      bff = bfg = bgg = dot(batch.f_.data(), batch.bf_.data(), p);
      for (int i = 0; i < p; ++i) batch.bg_[i] = batch.bf_[i];
    }
    changed = LaneMask{};
    for (int c = 0; c < batch.k_; ++c) {
      const Coordinate& coordinate = space.coordinates()[c];
      if (coordinate.kind == Coordinate::Kind::kFixed || coordinate.features == 0) continue;
      if (coordinate.features == 1) {
        changed |= improve_coordinate<1>(run, c, active);
      } else if (coordinate.features == 2) {
        changed |= improve_coordinate<2>(run, c, active);
      } else {
        changed |= improve_coordinate<kMaxFeatures>(run, c, active);
      }
    }
    if (any(changed)) update(changed);
  }

  /// Polls `stop` if the matrices are large.
  bool stops(const std::function<bool()>& stop) const { return p >= kPolledColumns && stop(); }

  /// Writes the lower triangle of M to `factor_`.
  DOETUNE_INLINE void information(const std::function<bool()>& stop) {
    Lanes* m = batch.factor_.data();
    for (int i = 0; i < p; ++i) {
      for (int j = 0; j <= i; ++j) {
        m[static_cast<long>(i) * p + j] =
            all_lanes(batch.problem_.base(i, j) + (i == j ? kRidge : 0));
      }
    }
    Lanes* even = batch.f_.data();
    Lanes* odd = batch.vf_.data();
    for (int run = 0; run < batch.n_ && !stops(stop); run += 2) {
      expand(run, even);
      if (run + 1 < batch.n_)
        expand(run + 1, odd);
      else
        for (int i = 0; i < p; ++i) odd[i] = Lanes{};
      for (int i = 0; i < p; ++i) {
        Lanes* row = m + static_cast<long>(i) * p;
        for (int j = 0; j <= i; ++j) row[j] += even[i] * even[j] + odd[i] * odd[j];
      }
    }
  }

  /// M = L L' in place, then L^-1 in place (lower triangle).
  DOETUNE_INLINE void invert_factor(const std::function<bool()>& stop) {
    Lanes* m = batch.factor_.data();
    const auto row = [&](int i) __attribute__((always_inline)) {
      return m + static_cast<long>(i) * p;
    };
    for (int j = 0; j < p && !stops(stop); ++j) {
      for (int i = j; i < p; ++i) {
        Lanes sum = row(i)[j];
        for (int c = 0; c < j; ++c) sum -= row(i)[c] * row(j)[c];
        row(i)[j] = i == j ? square_root(larger(sum, all_lanes(1e-12))) : sum / row(j)[j];
      }
    }
    for (int j = 0; j < p && !stops(stop); ++j) {
      row(j)[j] = 1.0 / row(j)[j];
      for (int i = j + 1; i < p; ++i) {
        Lanes sum{};
        for (int c = j; c < i; ++c) sum -= row(i)[c] * row(c)[j];
        row(i)[j] = sum / row(i)[i];
      }
    }
  }

  DOETUNE_INLINE void refactor(const LaneMask& lanes, const std::function<bool()>& stop) {
    information(stop);
    invert_factor(stop);
    const Lanes* l = batch.factor_.data();
    for (int i = 0; i < p && !stops(stop); ++i) {
      for (int j = 0; j <= i; ++j) {
        Lanes sum{};
        for (int c = i; c < p; ++c) {
          sum += l[static_cast<long>(c) * p + i] * l[static_cast<long>(c) * p + j];
        }
        Lanes& kept = batch.v_[entry(i, j)];
        kept = lanes ? sum : kept;
      }
    }
    if (batch.trace_) refactor_trace(lanes, stop);
  }

  DOETUNE_INLINE void refactor_trace(const LaneMask& lanes, const std::function<bool()>& stop) {
    const Eigen::MatrixXd& weight = batch.problem_.weight;
    Lanes* wv = batch.factor_.data();  // W V, in the memory of the factor
    const Lanes* v = batch.v_.data();
    Lanes total{};
    for (int i = 0; i < p && !stops(stop); ++i) {
      for (int j = 0; j < p; ++j) {
        Lanes sum{};
        for (int c = 0; c < p; ++c) sum += weight(i, c) * v[entry(c, j)];
        wv[static_cast<long>(i) * p + j] = sum;
        if (i == j) total += sum;
      }
    }
    batch.total_ = lanes ? total : batch.total_;
    for (int i = 0; i < p && !stops(stop); ++i) {
      for (int j = 0; j <= i; ++j) {
        Lanes sum{};
        for (int c = 0; c < p; ++c) sum += v[entry(i, c)] * wv[static_cast<long>(c) * p + j];
        Lanes& kept = batch.b_[entry(i, j)];
        kept = lanes ? sum : kept;
      }
    }
  }
};

namespace {

// Vectors are passed by reference: passing by value depends on the target processor.
#if defined(__x86_64__) && defined(__GNUC__)
#define DOETUNE_TARGET(features) __attribute__((target(features)))

DOETUNE_TARGET("avx512f,avx512dq,avx512vl,fma")
void improve_run_avx512(ExchangeBatch& batch, int run, const LaneMask& active, LaneMask& changed) {
  ExchangeKernel(batch).improve_run(run, active, changed);
}
DOETUNE_TARGET("avx2,fma")
void improve_run_avx2(ExchangeBatch& batch, int run, const LaneMask& active, LaneMask& changed) {
  ExchangeKernel(batch).improve_run(run, active, changed);
}
DOETUNE_TARGET("avx512f,avx512dq,avx512vl,fma")
void refactor_avx512(ExchangeBatch& batch, const LaneMask& lanes,
                     const std::function<bool()>& stop) {
  ExchangeKernel(batch).refactor(lanes, stop);
}
DOETUNE_TARGET("avx2,fma")
void refactor_avx2(ExchangeBatch& batch, const LaneMask& lanes, const std::function<bool()>& stop) {
  ExchangeKernel(batch).refactor(lanes, stop);
}

const bool kHasAvx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                        __builtin_cpu_supports("avx512vl");
const bool kHasAvx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#define DOETUNE_WIDEST(function, ...)                    \
  if (kHasAvx512) return function##_avx512(__VA_ARGS__); \
  if (kHasAvx2) return function##_avx2(__VA_ARGS__)
#else
#define DOETUNE_WIDEST(function, ...)
#endif

}  // namespace

ExchangeBatch::ExchangeBatch(const ExchangeProblem& problem, double tolerance)
    : problem_(problem),
      tolerance_(tolerance),
      roughly_(tolerance > kRough),
      n_(problem.runs),
      k_(problem.space.coordinate_count()),
      p_(problem.space.column_count()),
      trace_(problem.criterion != ExactCriterion::kDeterminant),
      compound_(problem.criterion == ExactCriterion::kCompound) {
  const auto square = static_cast<std::size_t>(p_) * p_;
  const auto triangle = static_cast<std::size_t>(p_) * (p_ + 1) / 2;
  x_.resize(static_cast<std::size_t>(n_) * k_);
  v_.resize(triangle);
  factor_.resize(square);
  b_.resize(trace_ ? triangle : 0);
  phi_.resize(problem.space.slot_count());
  for (LaneArray* row : {&f_, &vf_, &vg_, &bf_, &bg_, &product_}) row->resize(p_);
}

void ExchangeBatch::load(int lane, const Eigen::MatrixXd& design) {
  for (int i = 0; i < n_; ++i) {
    for (int c = 0; c < k_; ++c) x_[static_cast<std::size_t>(i) * k_ + c][lane] = design(i, c);
  }
}

Eigen::MatrixXd ExchangeBatch::design(int lane) const {
  Eigen::MatrixXd design(n_, k_);
  for (int i = 0; i < n_; ++i) {
    for (int c = 0; c < k_; ++c) design(i, c) = x_[static_cast<std::size_t>(i) * k_ + c][lane];
  }
  return design;
}

void ExchangeBatch::refactor(const LaneMask& lanes, const std::function<bool()>& stop) {
  DOETUNE_WIDEST(refactor, *this, lanes, stop);
  ExchangeKernel(*this).refactor(lanes, stop);
}

void ExchangeBatch::improve_run(int run, const LaneMask& active, LaneMask& changed) {
  DOETUNE_WIDEST(improve_run, *this, run, active, changed);
  ExchangeKernel(*this).improve_run(run, active, changed);
}

}  // namespace doetune::doe
