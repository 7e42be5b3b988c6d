#include "workloads/communication/mpi/mpi_communicator.h"

#include <fmt/format.h>
#include <mpi.h>
#include <sys/prctl.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdlib>
#include <deque>
#include <functional>
#include <limits>
#include <mutex>
#include <string_view>
#include <thread>
#include <utility>

#include "workloads/communication/bfloat16.h"
#include "workloads/protocol/protocol.h"

namespace doetune::workloads {
namespace {

using std::chrono::microseconds;

constexpr std::size_t kLargest = 1 << 30;  // values at a time: MPI counts in int
constexpr int kLooksAwake = 100;           // before a rank naps between looks
constexpr microseconds kShortestNap{5}, kLongestNap{100};

void check(int code, const char* what) {
  if (code == MPI_SUCCESS) return;
  std::string words(MPI_MAX_ERROR_STRING, '\0');
  int length = 0;
  MPI_Error_string(code, words.data(), &length);
  words.resize(static_cast<std::size_t>(length));
  throw std::runtime_error(fmt::format("{} by MPI: {}", what, words));
}

/// MPI 3.1 has no bfloat16. Each partial sum is rounded to it.
void add_bfloat16(void* in, void* sum, int* count, MPI_Datatype*) {
  const auto* from = static_cast<const std::uint16_t*>(in);
  auto* to = static_cast<std::uint16_t*>(sum);
  for (int i = 0; i < *count; ++i)
    to[i] = to_bfloat16(from_bfloat16(from[i]) + from_bfloat16(to[i]));
}

[[noreturn]] void refuse(int started, int connected) {
  throw Infeasible(fmt::format(
      "{} processes were started, but MPI connects {}: srun needs --mpi=pmix for Open MPI (or "
      "SLURM_MPI_TYPE=pmix); mpirun does without",
      started, connected));
}

/// MPI, for the life of the object.
class Session {
 public:
  explicit Session(int ranks) {
    if (std::getenv("PMIX_NAMESPACE") == nullptr)
      refuse(ranks, 1);  // MPI_Init would end the program
    // Ranks that wait nap, so that none yields its processor for a whole time slice.
    setenv("OMPI_MCA_mpi_yield_when_idle", "0", 1);
    // Rabenseifner's algorithm: the default sends whole messages to one rank and back.
    setenv("OMPI_MCA_coll_libnbc_iallreduce_algorithm", "3", 0);
    int provided = 0;
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided), "start");
    if (provided < MPI_THREAD_SERIALIZED)
      throw std::runtime_error("this MPI works in one thread only; Debian's Open MPI in several");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    check(MPI_Op_create(add_bfloat16, 1, &bfloat16_sum), "sums in bf16");
  }
  ~Session() {
    if (std::uncaught_exceptions() > exceptions_) return;  // other ranks may never come to it
    MPI_Op_free(&bfloat16_sum);
    MPI_Finalize();
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  MPI_Op bfloat16_sum = MPI_OP_NULL;

 private:
  int exceptions_ = std::uncaught_exceptions();
};

/// A sum under way.
struct Sum {
  MPI_Request request = MPI_REQUEST_NULL;
  std::span<float> values;
  std::vector<std::uint16_t> halves;  // of a sum in bf16
};

/// A message under way, as it is sent.
struct Message {
  Message(std::size_t values, CommunicationType how)
      : type(how), bytes(values * static_cast<std::size_t>(bytes_of(how))) {}

  void encode(std::span<const float> values) {
    if (type == CommunicationType::fp32)
      std::ranges::copy(std::as_bytes(values), bytes.begin());
    else
      std::ranges::transform(values, halves(), to_bfloat16);
  }
  std::vector<float> decoded() {
    std::vector<float> values(bytes.size() / static_cast<std::size_t>(bytes_of(type)));
    if (type == CommunicationType::fp32)
      std::ranges::copy(bytes, std::as_writable_bytes(std::span(values)).begin());
    else
      std::transform(halves(), halves() + values.size(), values.begin(), from_bfloat16);
    return values;
  }
  int size() const {
    if (std::cmp_greater(bytes.size(), std::numeric_limits<int>::max()))
      throw Infeasible("a message between ranks of more than 2 GiB");
    return static_cast<int>(bytes.size());
  }
  std::uint16_t* halves() { return reinterpret_cast<std::uint16_t*>(bytes.data()); }

  MPI_Request request = MPI_REQUEST_NULL;
  CommunicationType type;
  std::vector<std::byte> bytes;
};

/// The version of MPI and the node of a rank, as "Open MPI v4.1.4 on node7".
using Version = std::array<char, 128>;

Version own_version() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> words{};
  std::array<char, MPI_MAX_PROCESSOR_NAME> node{};
  int length = 0;
  check(MPI_Get_library_version(words.data(), &length), "its version");
  check(MPI_Get_processor_name(node.data(), &length), "the node");
  const std::string_view all = words.data();
  Version version{};
  fmt::format_to_n(version.data(), version.size() - 1, "{} on {}", all.substr(0, all.find(',')),
                   node.data());
  return version;
}

/// Libraries of different versions may exchange messages for a while, and then fail or wait.
void require_one_version(int ranks) {
  const Version own = own_version();
  std::vector<Version> all(static_cast<std::size_t>(ranks));
  check(MPI_Allgather(own.data(), own.size(), MPI_CHAR, all.data(), own.size(), MPI_CHAR,
                      MPI_COMM_WORLD),
        "the versions of all ranks");
  const auto version = [](const Version& of) {
    const std::string_view words = of.data();
    return words.substr(0, words.rfind(" on "));
  };
  for (std::size_t rank = 1; rank < all.size(); ++rank) {
    if (version(all[rank]) == version(all[0])) continue;
    throw Infeasible(
        fmt::format("MPI has different versions: {} (rank 0), and {} (rank {}): install one "
                    "version on all nodes",
                    all[0].data(), all[rank].data(), rank));
  }
}

/// This process among `ranks`.
Rank place(int ranks) {
  Rank found;
  check(MPI_Comm_size(MPI_COMM_WORLD, &found.size), "the number of ranks");
  if (found.size != ranks) refuse(ranks, found.size);
  require_one_version(ranks);
  check(MPI_Comm_rank(MPI_COMM_WORLD, &found.rank), "the rank");
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, found.rank, MPI_INFO_NULL, &here),
        "the ranks of this machine");
  MPI_Comm_rank(here, &found.local_rank);
  MPI_Comm_free(&here);
  return found;
}

class Mpi final : public Communicator {
 public:
  Mpi(std::unique_ptr<Session> session, int ranks)
      : Communicator(place(ranks)), session_(std::move(session)) {
    prctl(PR_SET_TIMERSLACK, 1);  // else every nap takes 50 microseconds more
  }

  ~Mpi() override {
    if (std::uncaught_exceptions() == exceptions_)
      await([&] { return sums_.empty() && sent_.empty(); });
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    changed_.notify_all();
    helper_.join();
  }

  Ticket start_all_reduce(std::span<float> values, CommunicationType type, float weight) override {
    if (weight != 1)
      for (float& value : values) value *= weight;
    const std::lock_guard lock(mutex_);
    for (std::size_t at = 0; at < values.size(); at += kLargest)
      start(values.subspan(at, std::min(kLargest, values.size() - at)), type);
    changed_.notify_all();
    return started_;
  }

  void wait(Ticket ticket) override {
    await([&] { return done_ >= ticket; });
  }

  void send(std::span<const float> values, int to, CommunicationType type) override {
    check_neighbour(to);
    auto message = std::make_unique<Message>(values.size(), type);
    message->encode(values);
    const std::lock_guard lock(mutex_);
    check(MPI_Isend(message->bytes.data(), message->size(), MPI_BYTE, to, 0, MPI_COMM_WORLD,
                    &message->request),
          "a message");
    sent_.push_back(std::move(message));
    changed_.notify_all();
  }

  std::future<std::vector<float>> receive(std::size_t count, int from,
                                          CommunicationType type) override {
    check_neighbour(from);
    const auto message = std::make_shared<Message>(count, type);
    const std::lock_guard lock(mutex_);
    check(MPI_Irecv(message->bytes.data(), message->size(), MPI_BYTE, from, 0, MPI_COMM_WORLD,
                    &message->request),
          "a message");
    expected_.push_back(message);
    return std::async(std::launch::deferred, [this, message, from] {
      await([&] { return arrived(*message, from); });
      std::erase(expected_, message);
      return message->decoded();
    });
  }

  std::string_view name() const override { return "mpi"; }
  void end_all(int exit_code) const override { MPI_Abort(MPI_COMM_WORLD, exit_code); }

 private:
  void start(std::span<float> values, CommunicationType type) {
    Sum sum{.request = MPI_REQUEST_NULL, .values = values, .halves = {}};
    const int count = static_cast<int>(values.size());
    if (type == CommunicationType::fp32) {
      check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), count, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD,
                           &sum.request),
            "a sum");
    } else {
      sum.halves.resize(values.size());
      std::ranges::transform(values, sum.halves.begin(), to_bfloat16);
      check(MPI_Iallreduce(MPI_IN_PLACE, sum.halves.data(), count, MPI_UINT16_T,
                           session_->bfloat16_sum, MPI_COMM_WORLD, &sum.request),
            "a sum in bf16");
    }
    sums_.push_back(std::move(sum));
    ++started_;
  }

  /// Returns when it is done, which is asked under the lock.
  void await(const std::function<bool()>& done) {
    for (int looks = 0;; ++looks) {
      {
        const std::lock_guard lock(mutex_);
        advance();
        awaited_ = !done();
        if (!awaited_) return;
      }
      if (looks < kLooksAwake) continue;
      std::this_thread::sleep_for(
          std::min(kLongestNap, kShortestNap + microseconds(looks - kLooksAwake)));
    }
  }

  bool arrived(Message& message, int from) const {
    int done = 0;
    MPI_Status status;
    const int code = MPI_Test(&message.request, &done, &status);
    int words = MPI_ERR_TRUNCATE;
    if (code != MPI_SUCCESS) MPI_Error_class(code, &words);
    if (code != MPI_SUCCESS && words != MPI_ERR_TRUNCATE) check(code, "a message");
    int bytes = 0;
    if (code == MPI_SUCCESS && done != 0) MPI_Get_count(&status, MPI_BYTE, &bytes);
    if (code != MPI_SUCCESS || (done != 0 && bytes != message.size()))
      throw std::runtime_error(fmt::format(
          "{} is out of step: its message has {} bytes, not {}", rank_name(from, size()),
          code == MPI_SUCCESS ? std::to_string(bytes) : "more", message.size()));
    return done != 0;
  }

  /// Lets MPI go on, and takes what is done. Under the lock.
  void advance() {
    const auto done = [](MPI_Request& request, const char* what) {
      int yes = 0;
      check(MPI_Test(&request, &yes, MPI_STATUS_IGNORE), what);
      return yes != 0;
    };
    for (; !sums_.empty() && done(sums_.front().request, "a sum"); ++done_) {
      Sum& sum = sums_.front();
      std::ranges::transform(sum.halves, sum.values.begin(), from_bfloat16);
      sums_.pop_front();
    }
    while (!sent_.empty() && done(sent_.front()->request, "a message")) sent_.pop_front();
  }

  /// While the caller computes.
  void help() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [&] { return stop_ || !(sums_.empty() && sent_.empty()); });
      if (stop_) return;
      try {
        if (!awaited_) advance();
      } catch (const std::exception&) {  // the caller gets it too, when it waits
      }
      lock.unlock();
      std::this_thread::sleep_for(kLongestNap);
      lock.lock();
    }
  }

  int exceptions_ = std::uncaught_exceptions();
  std::unique_ptr<Session> session_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Sum> sums_;  // the oldest first
  std::deque<std::unique_ptr<Message>> sent_;
  std::vector<std::shared_ptr<Message>> expected_;  // MPI may write to them though nobody waits
  Ticket started_ = 0;
  Ticket done_ = 0;
  bool awaited_ = false;  // the caller lets MPI go on itself
  bool stop_ = false;
  std::thread helper_{[this] { help(); }};
};

}  // namespace

std::unique_ptr<Communicator> make_mpi_communicator(int ranks) {
  return std::make_unique<Mpi>(std::make_unique<Session>(ranks), ranks);
}

}  // namespace doetune::workloads
