// Utilities around calls to oneDNN: errors, instruction sets and thread counts.
#pragma once

#include <omp.h>
#include <xmmintrin.h>

#include <new>
#include <oneapi/dnnl/dnnl.hpp>
#include <stdexcept>
#include <string>

#include "workloads/engines/engine.h"

namespace doetune::workloads::onednn {

/// Translates oneDNN's errors, and a lack of memory, into CannotRun where the configuration is the
/// cause.
template <class Work>
auto translated(Work work) {
  try {
    return work();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory)
      throw CannotRun(std::string("not enough memory: oneDNN ") + error.what());
    if (error.status == dnnl_unimplemented)
      throw CannotRun(std::string("oneDNN lacks this on this CPU: ") + error.what());
    throw std::runtime_error(std::string("oneDNN: ") + error.what());
  } catch (const std::bad_alloc&) {
    throw CannotRun("not enough memory for these settings");
  }
}

/// Whether oneDNN uses AVX2 and fused multiply-add, and nothing wider.
inline bool is_avx2_best() {
  const dnnl::cpu_isa best = dnnl::get_effective_cpu_isa();
  return best == dnnl::cpu_isa::avx2 || best == dnnl::cpu_isa::avx2_vnni;
}

/// Sets the number of threads of the calling thread's next primitives.
inline void use_threads(int threads) {
  omp_set_num_threads(threads);
  _mm_setcsr(_mm_getcsr() | 0x8040);  // flush denormals to zero; OpenMP's threads inherit it
}

/// Primitives created during its lifetime run on this number of threads.
class OnThreads {
 public:
  explicit OnThreads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~OnThreads() { omp_set_num_threads(before_); }
  OnThreads(const OnThreads&) = delete;
  OnThreads& operator=(const OnThreads&) = delete;

 private:
  int before_;
};

}  // namespace doetune::workloads::onednn
