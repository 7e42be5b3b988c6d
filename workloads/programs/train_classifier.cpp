#include "workloads/training/train_classifier.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  return run_program(train_classifier(), argc, argv);
}
