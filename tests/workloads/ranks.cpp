#include "tests/workloads/ranks.h"
#include "base/file_descriptor.h"

#include <fcntl.h>

#include <thread>

namespace doetune::workloads::test {

std::vector<RankContext> rank_contexts(int ranks) {
  FileDescriptor listener = listen_at({"127.0.0.1", 0});
  std::vector<RankContext> all;
  for (int rank = 0; rank < ranks; ++rank)
    all.push_back({rank, ranks, rank, local_address(listener.get()), -1});
  all[0].listener = fcntl(listener.get(), F_DUPFD_CLOEXEC, 0);
  return all;
}

std::vector<std::string> run_threads(int ranks, const std::function<void(int)>& body) {
  std::vector<std::string> thrown(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (const std::exception& error) {
        thrown[rank] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

std::vector<std::string> run_ranks(int ranks, std::string_view transport,
                                   const std::function<void(Communicator&)>& body) {
  const std::vector<RankContext> all = rank_contexts(ranks);
  return run_threads(ranks, [&](int rank) {
    Group group(all[rank], Json::object(), std::chrono::seconds(20));
    in_group(group, transport, false, body);
  });
}

}  // namespace doetune::workloads::test
