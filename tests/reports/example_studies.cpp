#include "tests/reports/example_studies.h"

#include <array>
#include <cmath>
#include <fstream>

#include "study/import.h"

namespace doetune::tests {
namespace {

// The published runs of a face-centred central composite design: YOLO object detection on a Spark
// stream of images (20 runs: 8 factorial, 6 axial, 6 centre), with its goals. Source: Agency for
// Defense Development, GPU Technology Conference 2019.
constexpr const char* kRuns = R"(executors_per_gpu,batch_size,decode_rate,throughput,processing_time
1,8,5,1315,4.00
3,8,5,2640,2.00
2,8,5,2565,2.07
2,8,1,1396,0.75
2,8,5,2490,2.10
2,8,9,2430,3.90
3,1,9,3168,3.00
2,8,5,2600,2.03
2,15,5,2545,2.07
3,15,9,3114,3.03
3,15,1,1325,0.80
3,1,1,1832,0.58
1,15,9,1530,6.20
2,8,5,2605,2.03
1,1,9,1422,6.67
2,8,5,2565,2.07
1,15,1,1052,1.00
2,1,5,2645,2.00
1,1,1,1062,1.00
2,8,5,2645,2.00
)";

}  // namespace

std::string fccd_study_text() {
  return R"(study: fccd-stream-inference
seed: 2026
command: [./stream, --executors, "{executors_per_gpu}", --batch, "{batch_size}", --rate, "{decode_rate}"]
factors:
  executors_per_gpu: {low: 1, high: 3, type: integer, baseline: 1}
  batch_size: {low: 1, high: 15, type: integer, baseline: 1}
  decode_rate: {low: 1, high: 9, unit: Hz, baseline: 1}
model: quadratic
design: {type: fccd, center_runs: 6}
responses:
  throughput: {unit: images/s, goal: within, low: 1800, high: 2500}
  processing_time: {unit: s, goal: within, low: 0.5, high: 1.0}
)";
}

study::StudyDirectory make_fccd_study(const std::filesystem::path& folder,
                                      const std::string& study_text) {
  const std::filesystem::path data = folder / "runs.csv";
  std::ofstream(data) << kRuns;
  return study::import_runs(study::parse_study(study_text, folder / "fccd.yaml"), data,
                            folder / "fccd", true);
}

study::StudyDirectory make_mixed_study(const std::filesystem::path& folder) {
  const std::filesystem::path data = folder / "mixed.csv";
  std::ofstream csv(data);
  csv << "batch,rate,precision,latency,efficiency,error,accuracy,energy\n";
  int run = 0;
  for (const double batch : {1, 8, 64}) {
    for (const double rate : {0.5, 2.0, 8.0}) {
      for (const int precision : {0, 1, 2}) {
        if (batch * rate > 256) continue;
        const double scatter = 1 + 0.04 * std::sin(12.9898 * ++run);
        csv << batch << ',' << rate << ',' << (std::array{"fp32", "bf16", "int8"}[precision]) << ','
            << 4 * std::sqrt(batch) * std::pow(rate, 0.3) / (1 + precision) * scatter << ','
            << (0.5 + 0.2 * std::log2(batch)) * (1 + 0.4 * precision) * scatter << ','
            << 0.02 * (1 + precision * precision) / scatter << ','
            << 1 / (1 + std::exp(0.8 * precision - 2 - 0.1 * rate * scatter)) << ','
            << std::pow((2 + 0.3 * std::log2(batch) + 0.2 * precision) * scatter, 3) << '\n';
      }
    }
  }
  csv.close();
  return study::import_runs(study::parse_study(R"(study: mixed
seed: 7
command: [./bench, --batch, "{batch}", --rate, "{rate}", --precision, "{precision}"]
factors:
  batch: {low: 1, high: 64, scale: log2, levels: [1, 2, 4, 8, 16, 32, 64]}
  rate: {low: 0.5, high: 8, scale: log10, unit: Hz}
  precision: {levels: [fp32, bf16, int8]}
constraints: ["batch * rate <= 256"]
model: quadratic
responses:
  latency: {unit: ms, goal: at_most, high: 20, transform: log}
  efficiency: {unit: 1/J, goal: maximize, transform: sqrt}
  error: {goal: at_most, high: 0.06, transform: inverse}
  accuracy: {goal: at_least, low: 0.7, transform: logit}
  energy: {unit: J, goal: at_most, high: 60, transform: box-cox}
)",
                                               folder / "mixed.yaml"),
                            data, folder / "mixed", true);
}

}  // namespace doetune::tests
