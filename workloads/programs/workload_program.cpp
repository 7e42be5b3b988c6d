// The main function of the workloads without worker processes; CMake sets the workload.
#include "workloads/workloads.h"

int main(int argc, char** argv) {
  return doetune::workloads::run_program(doetune::workloads::DOETUNE_WORKLOAD(), argc, argv);
}
