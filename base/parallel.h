// Independent jobs on several threads.
#pragma once

#include <functional>

namespace doetune {

/// The number of threads to use: `threads`, or if 0 the number of hardware threads.
int thread_count(int threads);

/// Calls body(0) .. body(count - 1) on `threads` threads (0: all hardware threads). The calls must
/// be independent. If some throw, the exception of the lowest index is rethrown after all calls
/// have finished.
void parallel_for(int count, int threads, const std::function<void(int)>& body);

}  // namespace doetune
