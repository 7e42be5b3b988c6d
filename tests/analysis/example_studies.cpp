#include "tests/analysis/example_studies.h"

#include <array>
#include <cmath>
#include <fstream>

#include "study/directory/import.h"

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

study::StudyDirectory make_surfaces_study(const std::filesystem::path& folder) {
  const std::filesystem::path data = folder / "surfaces.csv";
  std::ofstream csv(data);
  csv << "n,rate,backend,wavy,wavy_log,scaling,amdahl,amdahl_time,saturation,approach,line,"
         "uneven\n";
  int run = 0;
  for (const double n : {1, 9, 17, 25, 33}) {
    for (const double rate : {0.5, 2.0, 8.0}) {
      for (const int backend : {0, 1, 2}) {
        for (int repeat = 0; repeat < 2; ++repeat) {
          const double noise = std::sin(12.9898 * ++run);
          const double scatter = 1 + 0.03 * noise;
          const double wavy = 20 + 5 * std::sin(n / 6) * std::log(rate + 1) + backend;
          csv << n << ',' << rate << ',' << (std::array{"trt", "onnx", "tf"}[backend]) << ','
              << wavy + noise << ',' << wavy * scatter << ','
              << (60 + 20 * backend) * n / (1 + 0.05 * (n - 1) + 0.002 * n * (n - 1)) * scatter
              << ',' << 10 / (0.1 + 0.9 / n) * scatter << ',' << 10 * (0.1 + 0.9 / n) * scatter
              << ',' << 100 * n / (8 + n) * scatter << ','
              << 50 * (1 - std::exp(-0.1 * n)) * scatter << ',' << (3 + 0.5 * n) * scatter << ','
              << 30 + n + noise * (0.2 + 0.05 * n) << '\n';
        }
      }
    }
  }
  csv.close();
  return study::import_runs(study::parse_study(R"(study: surfaces
command: [./bench, --n, "{n}", --rate, "{rate}", --backend, "{backend}"]
factors:
  n: {low: 1, high: 33, type: integer}
  rate: {low: 0.5, high: 8, scale: log10, unit: Hz}
  backend: {levels: [trt, onnx, tf]}
model: linear
responses:
  wavy: {goal: at_most, high: 24, fit: {surface: gaussian-process}}
  wavy_log: {goal: maximize, transform: log, fit: {surface: gaussian-process}}
  scaling: {goal: at_least, low: 500, transform: log, fit: {surface: universal-scalability, factor: n, by: backend}}
  amdahl: {goal: at_least, low: 30, fit: {surface: amdahl, factor: n}}
  amdahl_time: {goal: at_most, high: 4, transform: sqrt, fit: {surface: amdahl-time, factor: n}}
  saturation: {goal: at_least, low: 20, fit: {surface: saturation, factor: n, by: backend}}
  approach: {goal: at_least, low: 20, transform: box-cox, fit: {surface: exponential-approach, factor: n}}
  line: {goal: at_least, low: 5, transform: inverse, fit: {surface: fixed-plus-linear, factor: n}}
  uneven: {goal: at_least, low: 35, fit: {variance: modelled}}
)",
                                               folder / "surfaces.yaml"),
                            data, folder / "surfaces", true);
}

study::StudyDirectory make_constrained_study(const std::filesystem::path& folder) {
  const std::filesystem::path data = folder / "constrained.csv";
  std::ofstream csv(data);
  csv << "a,b,kind,y,status\n";
  for (const int a : {1, 5, 9}) {
    for (const int b : {1, 5, 9}) {
      for (const char* kind : {"x", "z"}) {
        csv << a << ',' << b << ',' << kind << ',';
        if (a * b < 45) {
          csv << 10 + 2 * a - b + 0.1 * a * b + (a * b) % 3 << ",completed\n";
        } else {
          csv << ",infeasible\n";
        }
      }
    }
  }
  csv.close();
  return study::import_runs(study::parse_study(R"(study: constrained
command: [./bench, --a, "{a}", --b, "{b}", --kind, "{kind}"]
factors:
  a: {low: 1, high: 9, step: 0.5}
  b: {low: 1, high: 9, step: 0.5, unit: GB}
  kind: {levels: [x, z]}
constraints:
  - "a * b <= 60"
  - "-a^2 + 30 > 0 || b < 3"
  - "2^-1 * b <= 4 && a >= .5e1 - 4"
  - "min(a, b, 5) + kind > 1.2"
  - "a > 3 ? b <= 8 : b >= 1.5"
  - "ln(a + 1) + log(b + 1) + log10(b) < 5"
  - "abs(a - b)^2^0.5 < 10"
  - "sqrt(a * b) != 4"
  - "(rint(a / 2) == a / 2 || b > 2) && sum(a, -b, +1) < _pi * 2"
forbidden: [{kind: x, a: ">= 7"}]
model: quadratic
responses:
  y: {unit: s, goal: minimize}
)",
                                               folder / "constrained.yaml"),
                            data, folder / "constrained", true);
}

study::StudyDirectory make_split_plot_study(const std::filesystem::path& folder) {
  const std::filesystem::path data = folder / "split-plot.csv";
  std::ofstream csv(data);
  csv << "whole_plot,model_load,batch,rate,latency\n";
  int run = 0;
  for (int plot = 1; plot <= 12; ++plot) {
    const int load = std::array{1, 4, 2, 3, 1, 4, 2, 3, 1, 4, 2, 3}[plot - 1];
    const double of_plot = 1.5 * std::sin(78.233 * plot);
    for (const int batch : {1, 16, 32}) {
      for (const int rate : {1, 9}) {
        csv << plot << ',' << load << ',' << batch << ',' << rate << ','
            << 30 + 2 * load + 0.3 * batch - rate + 0.1 * load * batch + of_plot +
                   0.5 * std::sin(12.9898 * ++run)
            << '\n';
      }
    }
  }
  csv.close();
  return study::import_runs(study::parse_study(R"(study: split-plot
command: [./bench, --load, "{model_load}", --batch, "{batch}", --rate, "{rate}"]
factors:
  model_load: {low: 1, high: 4, type: integer, hard_to_change: true}
  batch: {low: 1, high: 32, type: integer}
  rate: {low: 1, high: 9, unit: Hz}
model: interactions
responses:
  latency: {unit: ms, goal: at_most, high: 40}
)",
                                               folder / "split-plot.yaml"),
                            data, folder / "split-plot", true);
}

study::StudyDirectory make_odd_study(const std::filesystem::path& folder) {
  constexpr int kFactors = 50, kRuns = 70;
  std::string text =
      "study: '<b>odd</b>'\ncommand: [./bench]\nmodel: linear\nfactors:\n"
      "  kind: {levels: [\"<i>a</i>\", \"a level with a name that is long\", b]}\n";
  std::string header = "kind";
  for (int f = 1; f < kFactors; ++f) {
    const std::string name = "factor_number_" + std::to_string(f);
    text += "  " + name + ": {low: 0, high: 16777216, unit: \"<u>B</u>\"}\n";
    header += "," + name;
  }
  text +=
      "responses:\n  good: {goal: minimize, unit: '<img src=x onerror=alert(1)>'}\n"
      "  constant: {goal: maximize}\n  empty: {}\n";
  const std::filesystem::path data = folder / "odd.csv";
  std::ofstream csv(data);
  csv << header << ",good,constant,empty\n";
  for (int run = 0; run < kRuns; ++run) {
    csv << (std::array{"<i>a</i>", "a level with a name that is long", "b"}[run % 3]);
    double sum = 0;
    for (int f = 1; f < kFactors; ++f) {
      const double fraction = 0.5 + 0.5 * std::sin(12.9898 * (run + 1) * (f + 1));
      csv << ',' << std::floor(16777216 * fraction);
      sum += fraction / f;
    }
    csv << ',' << 1e7 * sum << ",7,\n";
  }
  csv.close();
  return study::import_runs(study::parse_study(text, folder / "odd.yaml"), data, folder / "odd",
                            true);
}

}  // namespace doetune::tests
