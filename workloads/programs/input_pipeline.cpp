#include "workloads/pipeline/input_pipeline.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  return run_program(input_pipeline(), argc, argv);
}
