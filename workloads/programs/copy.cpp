#include "workloads/peak_rates/copy.h"

int main(int argc, char** argv) {
  return doetune::workloads::run_program(doetune::workloads::copy_workload(), argc, argv);
}
