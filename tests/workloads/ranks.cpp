#include "tests/workloads/ranks.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "workloads/communication/bfloat16.h"

namespace doetune::workloads::test {
namespace {

using Floats = std::vector<float>;

void round_to(CommunicationType type, std::span<float> values) {
  if (type == CommunicationType::bf16)
    for (float& value : values) value = from_bfloat16(to_bfloat16(value));
}

struct Sum {
  std::vector<std::span<float>> values;  // each rank's
  int arrived = 0;
};

/// What the threads share.
struct Meeting {
  std::mutex mutex;
  std::condition_variable changed;
  std::map<std::int64_t, Sum> sums;                            // by number
  std::map<std::pair<int, int>, std::deque<Floats>> messages;  // by sender and receiver
};

class Thread final : public Communicator {
 public:
  Thread(Rank place, Meeting& meeting) : Communicator(place), meeting_(meeting) {}

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    for (float& value : values) value *= weight;
    round_to(type, values);
    const std::lock_guard lock(meeting_.mutex);
    Sum& sum = meeting_.sums[++started_];
    sum.values.resize(static_cast<std::size_t>(size()));
    sum.values[static_cast<std::size_t>(rank())] = values;
    if (++sum.arrived == size()) finish(sum, type);
    return started_;
  }
  void wait(Ticket ticket) override {
    std::unique_lock lock(meeting_.mutex);
    meeting_.changed.wait(lock,
                          [&] { return ticket == 0 || meeting_.sums[ticket].arrived == size(); });
  }
  void send(std::span<const float> values, int to, CommunicationType type) override {
    check_neighbour(to);
    Floats message(values.begin(), values.end());
    round_to(type, message);
    const std::lock_guard lock(meeting_.mutex);
    meeting_.messages[{rank(), to}].push_back(std::move(message));
    meeting_.changed.notify_all();
  }
  std::future<Floats> receive(std::size_t, int from, CommunicationType) override {
    return std::async(std::launch::deferred, [this, from] {
      std::unique_lock lock(meeting_.mutex);
      auto& box = meeting_.messages[{from, rank()}];
      meeting_.changed.wait(lock, [&] { return !box.empty(); });
      Floats message = std::move(box.front());
      box.pop_front();
      return message;
    });
  }
  std::string_view name() const override { return "threads"; }
  void end_all(int) const override {}

 private:
  void finish(const Sum& sum, CommunicationType type) {
    Floats total(sum.values.front().begin(), sum.values.front().end());
    for (std::size_t r = 1; r < sum.values.size(); ++r) {
      std::ranges::transform(total, sum.values[r], total.begin(), std::plus());
      round_to(type, total);
    }
    for (const std::span<float> values : sum.values) std::ranges::copy(total, values.begin());
    meeting_.changed.notify_all();
  }

  Meeting& meeting_;
  Ticket started_ = 0;
};

}  // namespace

std::vector<std::string> run_ranks(int ranks, const std::function<void(Communicator&)>& body) {
  Meeting meeting;
  std::vector<std::string> thrown(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        Thread communicator({rank, ranks, rank}, meeting);
        body(communicator);
      } catch (const std::exception& error) {
        thrown[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace doetune::workloads::test
