// Ranks as threads of the test, each with a group of its own.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "workloads/communication/communicator.h"

namespace doetune::workloads::test {

/// A context for each of `ranks`, which meet at a free port of this machine.
std::vector<RankContext> rank_contexts(int ranks);

/// Runs `body(rank)` in one thread per rank; returns the message of each exception, "" for none.
std::vector<std::string> run_threads(int ranks, const std::function<void(int)>& body);

/// Runs `body` on communicators of the transport. As in a program, a rank that throws reports the
/// reason to the others.
std::vector<std::string> run_ranks(int ranks, std::string_view transport,
                                   const std::function<void(Communicator&)>& body);

}  // namespace doetune::workloads::test
