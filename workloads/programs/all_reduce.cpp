#include "workloads/communication/all_reduce.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  return run_program(all_reduce(), argc, argv);
}
