// Ranks as threads of the test, each with a group of its own.
#pragma once

#include <exception>
#include <functional>
#include <string>
#include <vector>

#include "workloads/communication/communicator.h"

namespace doetune::workloads::test {

/// A place for each of `ranks`, which meet at a free port of this machine.
std::vector<RankContext> places(int ranks);

/// Runs `body(rank)` in a thread a rank; returns what each threw, "" where nothing.
std::vector<std::string> run_threads(int ranks, const std::function<void(int)>& body);

/// Runs `body` on communicators of the transport. As a program does, a rank that throws tells the
/// others why.
std::vector<std::string> run_ranks(int ranks, std::string_view transport,
                                   const std::function<void(Communicator&)>& body);

}  // namespace doetune::workloads::test
