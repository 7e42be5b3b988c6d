// Blocks of threads. A fiber runs one thread after another; when a thread waits for others, its
// fiber is left and another goes on with the threads that have not begun. So only kernels that wait
// need a fiber for each thread.
#include <ucontext.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "kernels.h"
#include "machine.h"

#ifdef DOETUNE_SANITIZED
#include <sanitizer/common_interface_defs.h>
#endif

uint3 threadIdx;
uint3 blockIdx;
dim3 blockDim;
dim3 gridDim;

namespace doetune::host_gpu {
namespace {

constexpr std::size_t kStackBytes = std::size_t{256} << 10;
constexpr unsigned int kWarp = 32;
constexpr std::size_t kMaxThreads = 1024;

enum class Waits { no, for_block, for_warp };

/// Where a stack was left. It is entered by ucontext.h the first time, and afterwards by a jump,
/// which makes no system calls. The address sanitizer would clear its notes on the whole stack at
/// each longjmp, so that the compiler's own jumps are used.
struct Place {
  ucontext_t context{};
  void* left[5]{};       // NOLINT(modernize-avoid-c-arrays): as __builtin_setjmp has it
  void* fake = nullptr;  ///< the sanitizer's
  bool begun = false;
};

struct Fiber {
  Place place;
  std::unique_ptr<char[]> stack{new char[kStackBytes]};
  unsigned int thread = 0;
  unsigned int exchanges = 0;
  Waits waits = Waits::no;
};

[[noreturn, gnu::noinline, gnu::no_sanitize_address]] void go_to(Place& place) {
  if (place.begun) __builtin_longjmp(place.left, 1);
  setcontext(&place.context);
  std::abort();
}

/// Switches stacks, and tells the address sanitizer.
class Switch {
 public:
  [[gnu::noinline, gnu::no_sanitize_address]] void to(Place& from, Place& to,
                                                      [[maybe_unused]] const void* stack,
                                                      [[maybe_unused]] std::size_t bytes) {
#ifdef DOETUNE_SANITIZED
    __sanitizer_start_switch_fiber(&from.fake, stack, bytes);
#endif
    if (__builtin_setjmp(from.left) == 0) {
      from.begun = true;
      go_to(to);
    }
    arrived(from);
  }
  void arrived([[maybe_unused]] Place& at) {
#ifdef DOETUNE_SANITIZED
    __sanitizer_finish_switch_fiber(at.fake, &bottom_, &bytes_);
#endif
  }
  /// The stack last come from.
  const void* bottom() const { return bottom_; }
  std::size_t bytes() const { return bytes_; }

 private:
  const void* bottom_ = nullptr;
  std::size_t bytes_ = 0;
};

class BlockRunner {
 public:
  void run(const std::function<void()>& thread, unsigned int threads) {
    thread_ = &thread;
    threads_ = threads;
    next_ = 0;
    std::vector<Fiber*> waiting;
    const auto go_on = [&](Fiber& fiber) {
      enter(fiber);
      if (fiber.waits == Waits::no)
        idle_.push_back(&fiber);
      else
        waiting.push_back(&fiber);
    };
    while (next_ < threads_) go_on(idle_fiber());
    while (!waiting.empty()) {
      const std::vector<Fiber*> released = take_released(waiting);
      for (Fiber* fiber : released) go_on(*fiber);
    }
  }

  /// The number of exchanges of this thread before this one.
  unsigned int exchanges() { return current_->exchanges++; }

  void wait(Waits kind) {
    Fiber& fiber = *current_;
    fiber.waits = kind;
    leave(fiber);
  }

 private:
  Fiber& idle_fiber() {
    if (idle_.empty()) {
      Fiber& made = *all_.emplace_back(std::make_unique<Fiber>());
      getcontext(&made.place.context);
      made.place.context.uc_stack = {made.stack.get(), 0, kStackBytes};
      makecontext(&made.place.context, &BlockRunner::begin, 0);
      idle_.push_back(&made);
    }
    Fiber& fiber = *idle_.back();
    idle_.pop_back();
    return fiber;
  }

  static void begin();

  /// Threads until none is left to begin.
  void run_threads(Fiber& fiber) {
    for (;;) {
      while (next_ < threads_) {
        fiber.thread = next_++;
        fiber.exchanges = 0;
        threadIdx.x = fiber.thread;
        (*thread_)();
      }
      fiber.waits = Waits::no;
      leave(fiber);
    }
  }

  void enter(Fiber& fiber) {
    current_ = &fiber;
    threadIdx.x = fiber.thread;
    switch_.to(home_, fiber.place, fiber.stack.get(), kStackBytes);
  }
  void leave(Fiber& fiber) { switch_.to(fiber.place, home_, switch_.bottom(), switch_.bytes()); }

  /// All threads wait: removes those for which no other has yet to arrive.
  static std::vector<Fiber*> take_released(std::vector<Fiber*>& waiting) {
    std::ranges::sort(waiting, {}, &Fiber::thread);
    std::array<bool, kMaxThreads / kWarp> warp_waits;  // for itself only
    warp_waits.fill(true);
    bool block_waits = true;
    for (const Fiber* each : waiting) {
      if (each->waits == Waits::for_block) warp_waits[each->thread / kWarp] = false;
      if (each->waits == Waits::for_warp) block_waits = false;
    }
    const auto released = [&](const Fiber* fiber) {
      return fiber->waits == Waits::for_block ? block_waits : warp_waits[fiber->thread / kWarp];
    };
    std::vector<Fiber*> found;
    std::ranges::copy_if(waiting, std::back_inserter(found), released);
    if (found.empty()) {
      std::fputs("host GPU: threads of a block wait for each other at different places\n", stderr);
      std::abort();
    }
    std::erase_if(waiting, released);
    return found;
  }

  const std::function<void()>* thread_ = nullptr;
  unsigned int threads_ = 0;
  unsigned int next_ = 0;
  std::vector<std::unique_ptr<Fiber>> all_;
  std::vector<Fiber*> idle_;
  Fiber* current_ = nullptr;
  Place home_;
  Switch switch_;
};

BlockRunner& runner() {
  static BlockRunner only;
  return only;
}

void BlockRunner::begin() {
  Fiber& fiber = *runner().current_;
  runner().switch_.arrived(fiber.place);
  runner().run_threads(fiber);
}

void run_blocks(dim3 blocks, dim3 threads, const std::function<void()>& thread) {
  gridDim = blocks;
  blockDim = threads;
  for (blockIdx.y = 0; blockIdx.y < blocks.y; ++blockIdx.y)
    for (blockIdx.x = 0; blockIdx.x < blocks.x; ++blockIdx.x) runner().run(thread, threads.x);
}

}  // namespace

cudaError_t launch(const cudaLaunchConfig_t& config, std::function<void()> thread) {
  const dim3 blocks = config.gridDim;
  const dim3 threads = config.blockDim;
  if (blocks.x == 0 || blocks.y == 0 || blocks.y > 65535 || blocks.z != 1 || threads.x == 0 ||
      threads.x > kMaxThreads || threads.y != 1 || threads.z != 1)
    return failed(cudaErrorInvalidConfiguration);
  return submit(config.stream,
                [blocks, threads, work = std::move(thread)] { run_blocks(blocks, threads, work); });
}

void exchange(void* value, std::size_t bytes, int mask) {
  // In turns of two: no thread writes what another has yet to read.
  static std::array<std::array<std::array<char, 8>, kMaxThreads>, 2> values;
  const unsigned int thread = threadIdx.x;
  auto& mine = values[runner().exchanges() % 2];
  std::memcpy(mine[thread].data(), value, bytes);
  runner().wait(Waits::for_warp);
  std::memcpy(value, mine[thread ^ static_cast<unsigned int>(mask)].data(), bytes);
}

}  // namespace doetune::host_gpu

void __syncthreads() {
  using doetune::host_gpu::runner;
  runner().wait(doetune::host_gpu::Waits::for_block);
}
