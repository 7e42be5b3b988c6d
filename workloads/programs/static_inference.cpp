#include <cstdlib>
#include <string_view>

#include "workloads/static/static_executor.h"
#include "workloads/workloads.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  if (argc == 3 && std::string_view(argv[1]) == "--executor")
    return run_static_executor(std::atoi(argv[2]));
  return run_program(static_inference_workload(), argc, argv);
}
