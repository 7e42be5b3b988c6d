#include <fcntl.h>
#include <fmt/format.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <climits>
#include <cstring>
#include <ctime>
#include <exception>
#include <new>

#include "base/file_descriptor.h"
#include "workloads/communication/ring.h"

namespace doetune::workloads {
namespace {

constexpr std::uint32_t kCapacity = 1 << 20;     // of an inbox, in bytes
constexpr std::size_t kCopiedPiece = 32 * 1024;  // copied before the other side is notified
constexpr int kSpins = 200;
constexpr timespec kNap{0, 20'000'000};  // between checks of the other ranks

/// What the previous rank has sent and this one has not yet read: a circular buffer. Counts are
/// modulo 2^32.
struct Inbox {
  alignas(64) std::atomic<std::uint32_t> written;  // bytes, by the rank before
  alignas(64) std::atomic<std::uint32_t> taken;    // by the owner
  alignas(64) std::atomic<std::uint32_t> bell;  // incremented when something changed for the owner
  std::atomic<std::uint32_t> asleep;            // threads of the owner waiting for the bell
  alignas(64) std::byte data[kCapacity];
};
static_assert(std::atomic<std::uint32_t>::is_always_lock_free);

long futex(std::atomic<std::uint32_t>& word, int operation, std::uint32_t value,
           const timespec* timeout) {
  return syscall(SYS_futex, reinterpret_cast<std::uint32_t*>(&word), operation, value, timeout,
                 nullptr, 0);
}

void ring(Inbox& owner) {
  owner.bell.fetch_add(1);
  if (owner.asleep.load() != 0) futex(owner.bell, FUTEX_WAKE, INT_MAX, nullptr);
}

class SharedMemoryLink final : public RingLink {
 public:
  SharedMemoryLink(Group& group, int step) : RingLink(group, step) {
    const FileDescriptor file = make_memory_file("doetune-ring", sizeof(Inbox));
    own_ = Mapping(file.get(), Access::read_write);
    const auto all =
        group.gather(fmt::format("{} /proc/{}/fd/{}", group.host(), getpid(), file.get()));
    std::exception_ptr problem;
    try {
      next_ = open_inbox(all[to()]);
      previous_ = open_inbox(all[from()]);
    } catch (...) {
      problem = std::current_exception();
    }
    group.gather("");  // keep the file open until all have it; a rank that ended reports why first
    if (problem) std::rethrow_exception(problem);
  }

 private:
  static Inbox& inbox(const Mapping& mapping) {
    return *reinterpret_cast<Inbox*>(mapping.bytes().data());
  }

  Mapping open_inbox(const std::string& where) const {
    const std::size_t space = where.find(' ');
    if (where.substr(0, space) != group_.host())
      throw Infeasible("the ranks are on several machines, which share no memory: transport tcp");
    const FileDescriptor file(open(where.substr(space + 1).c_str(), O_RDWR | O_CLOEXEC));
    if (!file)
      throw std::runtime_error(
          fmt::format("cannot open the shared memory of a rank: {}; transport "
                      "tcp needs none",
                      std::strerror(errno)));
    return {file.get(), Access::read_write};
  }

  void move(Frame& out, Frame& in, const FrameHeader& expected) override {
    while (!out.done() || !in.done()) {
      const std::uint32_t bell = inbox(own_).bell.load();
      const bool sent = push(out);
      const bool received = pull(in);
      check(in, expected);
      if (!sent && !received) sleep(bell);
    }
  }

  bool push(Frame& frame) {
    Inbox& box = inbox(next_);
    const std::uint32_t written = box.written.load(std::memory_order_relaxed);
    const std::uint32_t space = kCapacity - (written - box.taken.load(std::memory_order_acquire));
    const std::uint32_t at = written % kCapacity;
    const std::span<std::byte> from = frame.rest();
    const std::size_t bytes = std::min<std::size_t>(
        {from.size(), std::min(space, kCapacity), kCapacity - at, kCopiedPiece});
    if (bytes == 0) return false;
    std::memcpy(box.data + at, from.data(), bytes);
    frame.advance(bytes);
    box.written.store(written + static_cast<std::uint32_t>(bytes), std::memory_order_release);
    ring(box);
    return true;
  }

  bool pull(Frame& frame) {
    Inbox& box = inbox(own_);
    const std::uint32_t taken = box.taken.load(std::memory_order_relaxed);
    const std::uint32_t there = box.written.load(std::memory_order_acquire) - taken;
    const std::uint32_t at = taken % kCapacity;
    const std::span<std::byte> to = frame.rest();
    const std::size_t bytes = std::min<std::size_t>(
        {to.size(), std::min(there, kCapacity), kCapacity - at, kCopiedPiece});
    if (bytes == 0) return false;
    std::memcpy(to.data(), box.data + at, bytes);
    frame.advance(bytes);
    box.taken.store(taken + static_cast<std::uint32_t>(bytes), std::memory_order_release);
    ring(inbox(previous_));
    return true;
  }

  /// Sleeps until the bell differs from the value read.
  void sleep(std::uint32_t bell) {
    Inbox& box = inbox(own_);
    for (int spin = 0; spin < kSpins; ++spin)
      if (box.bell.load(std::memory_order_relaxed) != bell) return;
    ++box.asleep;
    futex(box.bell, FUTEX_WAIT, bell, &kNap);
    --box.asleep;
    group_.check();
  }

  Mapping own_;
  Mapping next_;
  Mapping previous_;
};

}  // namespace

RingLinks shared_memory_links(Group& group) {
  const auto link = [&](int step) { return std::make_unique<SharedMemoryLink>(group, step); };
  return {link(1), link(1), link(-1)};
}

}  // namespace doetune::workloads
