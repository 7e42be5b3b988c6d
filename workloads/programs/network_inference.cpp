#include "workloads/timing/network_inference.h"

int main(int argc, char** argv) {
  return doetune::workloads::run_program(doetune::workloads::network_inference(), argc, argv);
}
