#include <iostream>
#include <string>
#include <vector>

#include "workloads/spark/spark_stream.h"
#include "workloads/workloads.h"

int main(int argc, char** argv) {
  using namespace doetune::workloads;
  if (argc >= 3 && std::string(argv[1]) == "--serve") {
    try {
      serve_spark_streams({argv + 2, argv + argc});
    } catch (const UsageError& error) {
      std::cerr << "spark-stream-inference: " << error.what() << std::endl;
      return kExitUsage;
    } catch (const std::exception& error) {
      std::cerr << "spark-stream-inference: " << error.what() << std::endl;
      return kExitFailed;
    }
  }
  return run_program(spark_stream_inference_workload(), argc, argv);
}
