#include <cstdlib>
#include <string_view>
#include <vector>

#include "workloads/stream/executor_process.h"
#include "workloads/workloads.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  if (argc >= 3 && std::string_view(argv[1]) == "--executor") {
    std::vector<int> sockets;
    for (int i = 2; i < argc; ++i) sockets.push_back(std::atoi(argv[i]));
    return run_executors(sockets);
  }
  return run_program(stream_inference_workload(), argc, argv);
}
