#include "workloads/communication/train_data_parallel.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  return run_program(train_data_parallel(), argc, argv);
}
