#include <catch2/catch.hpp>

#include <set>

#include "base/host.h"
#include "base/random.h"
#include "runner/attempts/slots.h"
#include "runner/processes/run_error.h"

using namespace doetune;
using runner::HostCapacity;
using runner::RunError;
using runner::Slot;
using runner::SlotPool;

namespace {

HostCapacity capacity_of(int jobs, std::vector<std::string> gpus, std::vector<int> cpus) {
  HostCapacity capacity;
  capacity.jobs = jobs;
  capacity.gpus = std::move(gpus);
  capacity.cpus = std::move(cpus);
  return capacity;
}

}  // namespace

TEST_CASE("The machine is shared out without overlap", "[runner][slots]") {
  SlotPool pool({capacity_of(2, {"0", "1", "2", "3", "4"}, {0, 1, 2, 3, 4})});
  const auto first = pool.take(2);
  const auto second = pool.take(2);
  REQUIRE(first);
  REQUIRE(second);
  CHECK(first->gpus == std::vector<std::string>{"0", "1"});
  CHECK(second->gpus == std::vector<std::string>{"2", "3"});
  CHECK(first->cpus == std::vector<int>{0, 1});
  CHECK(second->cpus == std::vector<int>{2, 3});
  CHECK_FALSE(pool.take(0));
  pool.give_back(*first);
  CHECK_FALSE(pool.take(4));  // a run must end first
  CHECK(pool.take(3)->gpus == std::vector<std::string>{"0", "1", "4"});
}

TEST_CASE("Where there are fewer processors than jobs, they share all of them", "[runner][slots]") {
  SlotPool pool({capacity_of(3, {}, {0, 1})});
  CHECK(pool.take(0)->cpus == std::vector<int>{0, 1});
  CHECK(pool.take(0)->cpus == std::vector<int>{0, 1});
}

TEST_CASE("A run gets as many processors as asked for, and no place promises more than it has",
          "[runner][slots]") {
  HostCapacity capacity = capacity_of(2, {}, {4, 5, 6, 7});
  capacity.cpus_per_run = 1;
  SlotPool pool({capacity});
  CHECK(pool.take(0)->cpus == std::vector<int>{4});
  CHECK(pool.take(0)->cpus == std::vector<int>{5});
  capacity.cpus_per_run = 3;
  CHECK_THROWS_AS(SlotPool({capacity}), RunError);
}

TEST_CASE("What can never be placed is reported at once", "[runner][slots]") {
  const SlotPool pool({capacity_of(2, {"0"}, {0})});
  CHECK_NOTHROW(pool.check(1));
  CHECK_THROWS_WITH(pool.check(2), Catch::Contains("needs 2 GPUs, but there are 1"));
  CHECK_THROWS_AS(SlotPool({capacity_of(0, {}, {0})}), RunError);
  CHECK_THROWS_AS(SlotPool(std::vector<HostCapacity>()), RunError);
  CHECK_THROWS_WITH(SlotPool({capacity_of(1, {"0", "1", "0"}, {})}),
                    Catch::Contains("GPU 0 is given twice"));
  CHECK_THROWS_AS(SlotPool({capacity_of(1, {"0", ""}, {})}), RunError);
}

TEST_CASE("A scheduler's place has any number of GPUs", "[runner][slots]") {
  HostCapacity queue = capacity_of(1, {}, {});
  queue.assigns_gpus = false;
  SlotPool pool({queue});
  CHECK_NOTHROW(pool.check(64));
  const auto slot = pool.take(64);
  REQUIRE(slot);
  CHECK(slot->gpus.empty());
  CHECK(slot->scheduled);
}

TEST_CASE("Hosts are filled one after the other, each with its own GPUs", "[runner][slots]") {
  HostCapacity a = capacity_of(1, {"0"}, {});
  a.host = "a";
  HostCapacity b = capacity_of(2, {"0", "1"}, {});
  b.host = "b";
  SlotPool pool({a, b});
  CHECK(pool.jobs() == 3);
  CHECK(pool.take(2)->host == "b");  // host a has only one
  CHECK(pool.take(1)->host == "a");
  CHECK_FALSE(pool.take(1));
}

TEST_CASE("An attempt that goes on keeps its GPU from the others", "[runner][slots]") {
  SlotPool pool({capacity_of(2, {"0", "1"}, {})});
  REQUIRE(pool.take_again("", {"0"}));
  CHECK(pool.take(1)->gpus == std::vector<std::string>{"1"});
  CHECK_FALSE(pool.take_again("", {}));
  CHECK_FALSE(pool.take_again("elsewhere", {}));
}

TEST_CASE("However runs come and go, no GPU has more of them than allowed", "[runner][slots]") {
  HostCapacity capacity = capacity_of(6, {"0", "1", "2", "3"}, {0, 1, 2, 3, 4, 5});
  capacity.runs_per_gpu = GENERATE(1, 2);
  SlotPool pool({capacity});
  RandomStream random(2026, 3);
  std::vector<Slot> taken;
  for (int step = 0; step < 2000; ++step) {
    if (random.below(2) == 0 && !taken.empty()) {
      pool.give_back(taken.back());
      taken.pop_back();
    } else if (auto slot = pool.take(static_cast<int>(random.below(4)))) {
      taken.push_back(std::move(*slot));
    }
    std::multiset<std::string> gpus;
    std::multiset<int> cpus;
    for (const Slot& slot : taken) {
      gpus.insert(slot.gpus.begin(), slot.gpus.end());
      cpus.insert(slot.cpus.begin(), slot.cpus.end());
      REQUIRE(std::set<std::string>(slot.gpus.begin(), slot.gpus.end()).size() == slot.gpus.size());
    }
    for (const std::string& gpu : gpus) {
      REQUIRE(static_cast<int>(gpus.count(gpu)) <= capacity.runs_per_gpu);
    }
    for (const int cpu : cpus) REQUIRE(cpus.count(cpu) == 1);
  }
}

TEST_CASE("Processors are written as ranges", "[runner][slots]") {
  CHECK(cpu_list({0, 1, 2, 3, 6}) == "0-3,6");
  CHECK(cpu_list({5}) == "5");
  CHECK(cpu_list({}).empty());
}
