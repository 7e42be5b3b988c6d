// Independent jobs on several threads.
#pragma once

#include <functional>

namespace doetune {

/// How many threads a wish means: itself, or for 0 as many as the machine has.
int thread_count(int threads);

/// Calls body(0) .. body(count - 1), on `threads` threads at a time (0: as many as the machine
/// has). The calls must not depend on one another. Where some throw, the exception of the lowest
/// index is thrown again here, after all calls have ended.
void parallel_for(int count, int threads, const std::function<void(int)>& body);

}  // namespace doetune
