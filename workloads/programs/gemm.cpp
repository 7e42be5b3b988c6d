#include "workloads/peak_rates/gemm.h"

int main(int argc, char** argv) {
  return doetune::workloads::run_program(doetune::workloads::gemm_workload(), argc, argv);
}
