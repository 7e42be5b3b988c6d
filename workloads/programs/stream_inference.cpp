#include <cstdlib>
#include <string_view>

#include "workloads/stream/executor.h"
#include "workloads/stream/stream_inference.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  if (argc == 3 && std::string_view(argv[1]) == "--executor")
    return run_executor(std::atoi(argv[2]));
  return run_program(stream_inference(), argc, argv);
}
