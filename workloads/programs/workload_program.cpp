// The program of a workload that needs no processes of another kind; CMake names the workload.
#include "workloads/workloads.h"

int main(int argc, char** argv) {
  return doetune::workloads::run_program(doetune::workloads::DOETUNE_WORKLOAD(), argc, argv);
}
