#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>
#include <set>
#include <thread>

#include "base/random.h"
#include "doe/optimal/multi_start.h"

using namespace doetune;

namespace {

/// A test function with maxima at the integers n, of value -|n - 3|: 0 at 3. A rough search from a
/// random point of [-10, 10] ends within 0.01 of the nearest maximum, a polished one at it.
double toy(double x) { return -std::abs(std::round(x) - 3) - std::abs(x - std::round(x)); }

double rough_end(std::uint64_t seed, int start) {
  RandomStream random(seed, static_cast<std::uint64_t>(start));
  return std::round(20 * random.uniform() - 10) + 0.02 * random.uniform() - 0.01;
}

doe::SearchWorker toy_worker(std::uint64_t seed) {
  return [seed](doe::SearchTasks& tasks) {
    while (const auto i = tasks.next()) {
      const double x =
          tasks.polishing() ? std::round(tasks[*i].design(0, 0)) : rough_end(seed, tasks[*i].start);
      tasks.finish(*i, toy(x), Eigen::MatrixXd::Constant(1, 1, x));
    }
  };
}

doe::MultiStart toy_method(const doe::SearchSettings& settings) {
  doe::MultiStart method;
  method.as_good_above = [](double best) { return best - 1e-6; };
  method.new_worker = [&settings] { return toy_worker(settings.seed); };
  return method;
}

}  // namespace

TEST_CASE("A search from many starts ends when the best was found often enough", "[doe]") {
  const doe::SearchSettings settings{std::nullopt, 60, 1, 1};
  doe::MultiStart method = toy_method(settings);
  method.enough = 30;
  const auto found = doe::search_from_many_starts(method, settings);
  REQUIRE(found);
  CHECK(found->design(0, 0) == 3);
  CHECK(found->value == 0);
  CHECK(found->best_found >= 30);
  CHECK(!found->stopped_by_time);

  // One start in twenty should find it, and rounds double in size: 64 + 128 + ...
  int count = 0;
  int starts = 0;
  for (int size = 64; count < 30; size *= 2) {
    for (int i = 0; i < size; ++i) count += std::round(rough_end(1, starts++)) == 3;
  }
  CHECK(found->starts == starts);
  CHECK(found->best_found == count);

  method.min_starts = 2 * starts;
  CHECK(doe::search_from_many_starts(method, settings)->starts > starts);
  method.enough = 1'000'000;
  method.max_starts = 100;
  CHECK(doe::search_from_many_starts(method, settings)->starts == 100);
}

TEST_CASE("A search makes as many starts as requested, each of them once", "[doe]") {
  const doe::SearchSettings settings{1000, 60, 3, 1};
  doe::MultiStart method = toy_method(settings);
  method.max_in_round = 100;
  std::vector<std::atomic<int>> made(1000);
  method.new_worker = [&] {
    return [&](doe::SearchTasks& tasks) {
      while (const auto i = tasks.next()) {
        if (!tasks.polishing()) ++made[static_cast<std::size_t>(tasks[*i].start)];
        tasks.finish(*i, 0, Eigen::MatrixXd::Zero(1, 1));
      }
    };
  };
  const auto found = doe::search_from_many_starts(method, settings);
  REQUIRE(found);
  CHECK(found->starts == 1000);
  CHECK(found->best_found == 1000);
  for (const auto& times : made) CHECK(times == 1);
}

TEST_CASE("Hundreds of thousands of starts are made, however small a round", "[doe]") {
  const doe::SearchSettings settings{200'000, 60, 1, 1};
  doe::MultiStart method = toy_method(settings);
  method.max_in_round = 4096;
  const auto found = doe::search_from_many_starts(method, settings);
  REQUIRE(found);
  CHECK(found->starts == 200'000);
  CHECK(!found->stopped_by_time);
}

TEST_CASE("Rough ends are counted and few polished where that is asked for", "[doe]") {
  const doe::SearchSettings settings{500, 60, 2, 1};
  doe::MultiStart method = toy_method(settings);
  method.max_in_round = 50;
  method.polished_at_once = 2;
  method.as_good_above = [](double best) { return best - 0.02; };
  method.hopeful_from = [](double best) { return best - 0.05; };
  std::atomic<int> polished = 0;
  std::atomic<int> hopeless = 0;
  method.new_worker = [&] {
    return [&](doe::SearchTasks& tasks) {
      while (const auto i = tasks.next()) {
        const double x = tasks.polishing() ? tasks[*i].design(0, 0) : rough_end(1, tasks[*i].start);
        if (tasks.polishing()) {
          ++polished;
          hopeless += std::round(x) != 3;
        }
        const double end = tasks.polishing() ? std::round(x) : x;
        tasks.finish(*i, toy(end), Eigen::MatrixXd::Constant(1, 1, end));
      }
    };
  };
  const auto found = doe::search_from_many_starts(method, settings);
  REQUIRE(found);
  int count = 0;
  for (int start = 0; start < 500; ++start) count += std::round(rough_end(1, start)) == 3;
  CHECK(found->best_found == count);
  CHECK(found->value == 0);
  CHECK(polished <= 2 * 10);
  CHECK(hopeless == 0);
}

TEST_CASE("A search from many starts honours its time limit", "[doe]") {
  const doe::SearchSettings settings{std::nullopt, 0.2, 2, 1};
  doe::MultiStart method = toy_method(settings);
  method.new_worker = [&] {
    return [&](doe::SearchTasks& tasks) {
      while (const auto i = tasks.next()) {
        while (tasks[*i].start > 0 && !tasks.out_of_time()) {
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        tasks.finish(*i, 7, Eigen::MatrixXd::Constant(1, 1, 1.0 + tasks[*i].start));
      }
    };
  };
  const auto found = doe::search_from_many_starts(method, settings);
  REQUIRE(found);  // begun searches are polished as time permits
  CHECK(found->stopped_by_time);
  CHECK(found->seconds >= 0.2);
  CHECK(found->seconds < 10);
  CHECK(found->starts >= 1);
  CHECK(found->starts <= 3);
  CHECK(found->best_found == 1);
  CHECK(found->design(0, 0) == 1);
}

TEST_CASE("The result of many starts does not depend on the number of threads", "[doe]") {
  // All polished values are equal: the choice must not depend on which thread is first.
  const auto rough_value = [](int start) { return static_cast<double>(random_bits(6, start) % 4); };
  const bool earliest = GENERATE(true, false);
  std::set<double> designs;
  std::set<int> counts;
  for (const int threads : {1, 2, 5}) {
    const doe::SearchSettings settings{700, 60, threads, 4};
    doe::MultiStart method = toy_method(settings);
    method.earliest_wins = earliest;
    method.new_worker = [&] {
      return [&](doe::SearchTasks& tasks) {
        while (const auto i = tasks.next()) {
          const int start = tasks[*i].start;
          std::this_thread::sleep_for(std::chrono::microseconds(random_bits(5, start) % 50));
          const double value = tasks.polishing() ? 1 : rough_value(start);
          tasks.finish(*i, value, Eigen::MatrixXd::Constant(1, 1, start));
        }
      };
    };
    const auto found = doe::search_from_many_starts(method, settings);
    REQUIRE(found);
    designs.insert(found->design(0, 0));
    counts.insert(found->best_found);
  }
  CHECK(designs.size() == 1);
  CHECK(counts.size() == 1);
  // The earliest start is 0; the first one polished has the best rough value.
  int first = 0;
  while (rough_value(first) != 3) ++first;
  CHECK(*designs.begin() == (earliest ? 0 : first));
}

TEST_CASE("Where no start finds a design there is none", "[doe]") {
  const doe::SearchSettings settings{10, 60, 1, 1};
  doe::MultiStart method = toy_method(settings);
  method.new_worker = [] {
    return [](doe::SearchTasks& tasks) {
      while (tasks.next()) continue;
    };
  };
  CHECK(!doe::search_from_many_starts(method, settings));
}
