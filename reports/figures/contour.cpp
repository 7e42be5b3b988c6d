#include "reports/figures/contour.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <unordered_map>

namespace doetune::reports {
namespace {

struct Node {
  Point at;
  double z = 0;
};

using Triangle = std::array<Node, 3>;  // counter-clockwise

struct PointHash {
  std::size_t operator()(const Point& p) const {
    return std::hash<double>{}(p.x) * 1000003U ^ std::hash<double>{}(p.y);
  }
};

struct SamePoint {
  bool operator()(const Point& a, const Point& b) const { return a.x == b.x && a.y == b.y; }
};

using Edges = std::unordered_multimap<Point, Point, PointHash, SamePoint>;

template <class Visit>
void for_each_triangle(const Grid& grid, const Visit& visit) {
  const int nx = static_cast<int>(grid.x.size());
  const int ny = static_cast<int>(grid.y.size());
  for (int j = 0; j + 1 < ny; ++j) {
    for (int i = 0; i + 1 < nx; ++i) {
      const std::array<Node, 4> corner = {{{{grid.x[i], grid.y[j]}, grid.at(i, j)},
                                           {{grid.x[i + 1], grid.y[j]}, grid.at(i + 1, j)},
                                           {{grid.x[i + 1], grid.y[j + 1]}, grid.at(i + 1, j + 1)},
                                           {{grid.x[i], grid.y[j + 1]}, grid.at(i, j + 1)}}};
      const Node centre = {{(grid.x[i] + grid.x[i + 1]) / 2, (grid.y[j] + grid.y[j + 1]) / 2},
                           (corner[0].z + corner[1].z + corner[2].z + corner[3].z) / 4};
      for (int c = 0; c < 4; ++c) visit(Triangle{corner[c], corner[(c + 1) % 4], centre});
    }
  }
}

/// The point where edge a-b crosses the level, bit-identical for either orientation, so that
/// adjacent triangles share it.
Point crossing(const Node& a, const Node& b, double level) {
  const bool swap = b.at.x < a.at.x || (b.at.x == a.at.x && b.at.y < a.at.y);
  const Node& from = swap ? b : a;
  const Node& to = swap ? a : b;
  const double fraction = std::clamp((level - from.z) / (to.z - from.z), 0.0, 1.0);
  return {from.at.x + fraction * (to.at.x - from.at.x),
          from.at.y + fraction * (to.at.y - from.at.y)};
}

bool crosses(const Node& a, const Node& b, double level) {
  return (a.z >= level) != (b.z >= level);
}

/// The part of a triangle with low <= z < high; convex, since z is linear in it.
Polyline clipped(const Triangle& triangle, double low, double high) {
  Polyline ring;
  for (int c = 0; c < 3; ++c) {
    const Node& a = triangle[c];
    const Node& b = triangle[(c + 1) % 3];
    if (a.z >= low && a.z < high) ring.push_back(a.at);
    const double first = a.z < b.z ? low : high;
    const double second = a.z < b.z ? high : low;
    if (crosses(a, b, first)) ring.push_back(crossing(a, b, first));
    if (crosses(a, b, second)) ring.push_back(crossing(a, b, second));
  }
  return ring;
}

/// Adds a directed edge, or cancels its reverse added by the adjacent triangle.
void add_boundary(Edges& edges, const Point& from, const Point& to) {
  if (SamePoint{}(from, to)) return;
  const auto [first, last] = edges.equal_range(to);
  const auto reverse =
      std::find_if(first, last, [&](const auto& edge) { return SamePoint{}(edge.second, from); });
  if (reverse != last) {
    edges.erase(reverse);
  } else {
    edges.emplace(from, to);
  }
}

/// Removes connected edges from the map, beginning at `start`, and returns the path.
Polyline walk(Edges& edges, Point start) {
  Polyline line = {start};
  for (auto edge = edges.find(start); edge != edges.end(); edge = edges.find(line.back())) {
    const Point next = edge->second;
    edges.erase(edge);
    line.push_back(next);
    if (SamePoint{}(next, start)) break;
  }
  return line;
}

void simplify(const Polyline& line, std::size_t first, std::size_t last, double tolerance,
              Polyline& kept) {
  const Point a = line[first];
  const Point b = line[last];
  const double length = std::hypot(b.x - a.x, b.y - a.y);
  std::size_t farthest = first;
  double distance = tolerance;
  for (std::size_t i = first + 1; i < last; ++i) {
    const Point p = line[i];
    const double d = length == 0
                         ? std::hypot(p.x - a.x, p.y - a.y)
                         : std::abs((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x)) / length;
    if (d > distance) {
      distance = d;
      farthest = i;
    }
  }
  if (farthest == first) {
    kept.push_back(b);
    return;
  }
  simplify(line, first, farthest, tolerance, kept);
  simplify(line, farthest, last, tolerance, kept);
}

/// Whether both points lie on the same edge of the grid.
bool on_one_edge(const Grid& grid, const Point& a, const Point& b) {
  const auto both = [](double p, double q, const std::vector<double>& nodes) {
    return p == q && (p == nodes.front() || p == nodes.back());
  };
  return both(a.x, b.x, grid.x) || both(a.y, b.y, grid.y);
}

}  // namespace

Grid square_grid(double low, double high, int nodes,
                 const std::function<double(double, double)>& value) {
  Grid grid;
  for (int i = 0; i < nodes; ++i) grid.x.push_back(low + (high - low) * i / (nodes - 1));
  grid.y = grid.x;
  grid.z.reserve(grid.x.size() * grid.y.size());
  for (const double y : grid.y) {
    for (const double x : grid.x) grid.z.push_back(value(x, y));
  }
  return grid;
}

std::vector<Polyline> iso_lines(const Grid& grid, double level) {
  Edges edges;  // with higher values on the left
  std::unordered_map<Point, int, PointHash, SamePoint> ends;
  for_each_triangle(grid, [&](const Triangle& triangle) {
    Point from, to;
    bool found = false;
    for (int c = 0; c < 3; ++c) {
      const Node& a = triangle[c];
      const Node& b = triangle[(c + 1) % 3];
      if (!crosses(a, b, level)) continue;
      (a.z >= level ? from : to) = crossing(a, b, level);
      found = true;
    }
    if (!found || SamePoint{}(from, to)) return;
    edges.emplace(from, to);
    ++ends[from];
    --ends[to];
  });
  std::vector<Polyline> lines;
  for (const auto& [point, surplus] : ends) {
    for (int i = 0; i < surplus; ++i) lines.push_back(walk(edges, point));
  }
  while (!edges.empty()) lines.push_back(walk(edges, edges.begin()->first));
  return lines;
}

std::vector<Polyline> region_between(const Grid& grid, double low, double high) {
  Edges edges;
  for_each_triangle(grid, [&](const Triangle& triangle) {
    const Polyline ring = clipped(triangle, low, high);
    for (std::size_t i = 0; i < ring.size(); ++i) {
      add_boundary(edges, ring[i], ring[(i + 1) % ring.size()]);
    }
  });
  std::vector<Polyline> rings;
  while (!edges.empty()) {
    Polyline ring = walk(edges, edges.begin()->first);
    ring.pop_back();
    rings.push_back(std::move(ring));
  }
  return rings;
}

double signed_area(const Polyline& ring) {
  double twice = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    const Point& a = ring[i];
    const Point& b = ring[(i + 1) % ring.size()];
    twice += a.x * b.y - b.x * a.y;
  }
  return twice / 2;
}

Polyline simplified(const Polyline& line, double tolerance) {
  if (line.size() < 3) return line;
  Polyline kept = {line.front()};
  simplify(line, 0, line.size() - 1, tolerance, kept);
  return kept;
}

Polyline simplified_inside(const Grid& grid, const Polyline& ring, double tolerance) {
  const auto next = [&](std::size_t i) { return i + 1 < ring.size() ? i + 1 : 0; };
  std::vector<bool> along_edge;  // from each point to the next
  for (std::size_t i = 0; i < ring.size(); ++i) {
    along_edge.push_back(on_one_edge(grid, ring[i], ring[next(i)]));
  }
  // Begin where the ring leaves an edge, so that no part inside the grid is cut in two.
  std::size_t start = 0;
  for (std::size_t i = 0; i < ring.size(); ++i) {
    if (along_edge[i] && !along_edge[next(i)]) start = next(i);
  }
  Polyline kept;
  Polyline inside = {ring[start]};
  for (std::size_t n = 0, i = start; n < ring.size(); ++n, i = next(i)) {
    if (!along_edge[i]) {
      inside.push_back(ring[next(i)]);
      continue;
    }
    const Polyline simple = simplified(inside, tolerance);
    kept.insert(kept.end(), simple.begin(), simple.end());
    inside = {ring[next(i)]};
  }
  const Polyline simple = simplified(inside, tolerance);
  kept.insert(kept.end(), simple.begin(), simple.end() - 1);  // which is where the ring began
  return kept;
}

std::vector<double> round_levels(double low, double high, int count) {
  if (!(high > low)) return {};
  const double raw = (high - low) / count;
  const double power = std::pow(10.0, std::floor(std::log10(raw)));
  double step = 10 * power;
  for (const double factor : {5.0, 2.5, 2.0, 1.0}) {
    if (factor * power >= raw * 0.999) step = factor * power;
  }
  std::vector<double> levels;
  for (double k = std::ceil(low / step); k * step <= high; ++k) levels.push_back(k * step);
  return levels;
}

}  // namespace doetune::reports
