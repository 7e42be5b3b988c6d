// Ranks as threads of the test: what is built on a communicator is tested without MPI.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "workloads/communication/communicator.h"

namespace doetune::workloads::test {

/// Runs `body` in one thread per rank; returns the message of each exception, "" for none. Sums are
/// formed in order of rank when the last rank has started them.
std::vector<std::string> run_ranks(int ranks, const std::function<void(Communicator&)>& body);

}  // namespace doetune::workloads::test
