#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "study/study.h"
#include "surfaces/models/parametric_model.h"
#include "surfaces/transform.h"
#include "tests/temporary_directory.h"

using namespace doetune;
using namespace doetune::tests;
using study::parse_study;

namespace {

constexpr const char* kWhole = R"(study: fccd-stream-inference
seed: 2026
workload: stream-inference
settings: {model: tiny-yolov2, channels: 32}
factors:
  executors_per_gpu: {low: 1, high: 3, type: integer, baseline: 1}
  batch_size:        {low: 1, high: 64, scale: log2, levels: [1, 2, 4, 8, 16, 32, 64]}
  decode_rate:       {low: 1, high: 9, unit: Hz}
  precision:         {levels: [fp32, bf16]}
  model_load:        {low: 1, high: 4, type: integer, hard_to_change: true}
constraints: ["batch_size * executors_per_gpu <= 96"]
forbidden: [{precision: fp32, decode_rate: ">= 7"}]
model: quadratic
design: {type: fccd, center_runs: 6, replicates: 1, blocks: 1}
responses:
  throughput:      {unit: images/s, goal: within, low: 1800, high: 2500}
  processing_time: {unit: s, goal: at_most, high: 1.0, transform: log}
  power:           {unit: W}
  images_per_joule: {unit: 1/J, formula: "throughput / power", goal: maximize, importance: 3}
run: {launcher: local, timeout: 10 min, retries: 1, repeats: 1, warmup: 5 s, gpus_per_run: 1}
confirm: {runs: 5}
)";

/// A study with one line in `factors`, or with another section.
std::string with(const std::string& factor, const std::string& rest = "") {
  return "factors:\n  " + factor + "\nresponses:\n  y: {}\n" + rest;
}

std::string message_of(const std::string& text) {
  try {
    parse_study(text, "study.yaml");
  } catch (const study::StudyError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("The study file of the reference documentation is read whole", "[study]") {
  const study::Study study = parse_study(kWhole, "fccd.yaml");
  CHECK(study.name == "fccd-stream-inference");
  CHECK(study.seed == 2026);
  CHECK(study.workload == "stream-inference");
  REQUIRE(study.settings.size() == 2);
  CHECK_FALSE(study.settings[0].number);
  CHECK(study.settings[1].number == 32.0);
  REQUIRE(study.factors.size() == 5);
  CHECK(study.factors[0].kind == doe::FactorKind::kInteger);
  CHECK(study.factors[0].baseline == 1.0);
  CHECK(study.factors[1].kind == doe::FactorKind::kDiscrete);
  CHECK(study.factors[1].scale == doe::Scale::kLog2);
  CHECK(study.factors[2].unit == "Hz");
  CHECK(study.factors[3].level_names == std::vector<std::string>{"fp32", "bf16"});
  CHECK(study.factors[4].hard_to_change);
  CHECK(study.region.allows({3, 32, 5, 1, 1}));
  CHECK_FALSE(study.region.allows({3, 64, 5, 1, 1}));  // 192 > 96
  CHECK_FALSE(study.region.allows({1, 1, 7, 0, 1}));   // fp32 at 7 Hz
  CHECK(study.design.options.center_runs == 6);
  REQUIRE(study.responses.size() == 4);
  CHECK(study.responses[0].goal == doe::GoalType::kWithin);
  CHECK(study.responses[1].transform == doe::TransformType::kLog);
  CHECK(study.responses[3].importance == 3);
  CHECK(study.run.timeout_s == 600);
  CHECK(study.run.warmup_s == 5.0);
  CHECK(study.confirmation_runs == 5);
}

TEST_CASE("The weights of a compound design are read, those left out are 0", "[study]") {
  const study::Study study = parse_study(
      with("a: {low: 0, high: 1}", "design: {type: compound-optimal, weights: {d: 2, i: 0.5}}"),
      "study.yaml");
  REQUIRE(study.design.options.weights);
  CHECK(study.design.options.weights->d == 2);
  CHECK(study.design.options.weights->i == 0.5);
  CHECK(study.design.options.weights->a == 0);
}

TEST_CASE("What is left out has the documented defaults", "[study]") {
  const study::Study study = parse_study(with("a: {low: 0, high: 1}"), "dir/tuning.yaml");
  CHECK(study.name == "tuning");
  CHECK(study.model_name == "quadratic");
  CHECK(study.design.type == "fccd");
  CHECK_FALSE(study.design.options.center_runs);  // chosen by the design type
  CHECK(study.run.retries.failed == 1);
  CHECK_FALSE(study.run.jobs);
  CHECK_FALSE(study.responses[0].goal);
}

TEST_CASE("Every mistake is placed, explained, and answered with the nearest name", "[study]") {
  struct Mistake {
    std::string text;
    std::vector<std::string> message;
  };
  const std::vector<Mistake> mistakes{
      {"", {"study.yaml:1:1", "empty", "doetune init"}},
      {"# only a comment\n", {"study.yaml:1:1", "empty"}},
      {std::string("\x7f"
                   "ELF\0\0",
                   6),
       {"study.yaml:1:1", "this is not text (UTF-8"}},
      {"\xff\xfe bad", {"study.yaml:1:1", "this is not text (UTF-8"}},
      {"just words", {"study.yaml:1:1", "expected a mapping", "'just words'"}},
      {"\"a\nb\",b,y\n1,2,3\n",
       {"study.yaml:2:3", "second document"}},  // yaml-cpp's LoadAll does not terminate
      {"[1, 2]", {"study.yaml:1:1", "expected a mapping", "a list"}},
      {"factors: {a: [1, 2", {"study.yaml:1:"}},
      {"factors:\n\ta: 1", {"study.yaml:"}},
      {with("a: {low: 0, hihg: 1}"),
       {"study.yaml:2:15", "unknown key 'hihg'", "did you mean 'high'?"}},
      {with("a: {low: 0, high: 1}", "desing: {type: fccd}"), {":5:1", "did you mean 'design'?"}},
      {with("a: {low: 0, high: 1}", "timeout: 1 min"), {":5:1", "did you mean run.timeout?"}},
      {with("a: {low: 0, high: 1}", "runs: 20"), {":5:1", "did you mean design.runs?"}},
      {with("a: {low: 0, high: 1}", "goals: {y: maximize}"),
       {":5:1", "unknown key 'goals'", "did you mean responses.NAME.goal?"}},
      {with("a: {low: 0, high: 1, low: 2}"), {":2:24", "'low' appears twice"}},
      {with("a: {low: 0, high: 1}\n  a: {low: 0, high: 1}"), {":3:3", "'a' appears twice"}},
      {with("a: {low: zero, high: 1}"), {":2:12", "expected a number", "'zero'"}},
      {with("a: {low: .nan, high: 1}"), {":2:12", "expected a number"}},
      {with("a: {low: 1e999, high: 1}"), {":2:12", "expected a number"}},
      {with("a: {low: [1], high: 1}"), {":2:12", "expected a number", "a list"}},
      {with("a: {low: 3, high: 1}"), {":2:6", "low (3) must be below high (1)"}},
      {with("a: {low: 1, high: 1}"), {"low (1) must be below high (1)"}},
      {with("a: {low: 1}"), {"'high' is missing"}},
      {with("a: {low: -1e308, high: 1e308}"), {"too wide"}},
      {with("a: {low: 1e15, high: 1000000000000001}"), {"too narrow"}},
      {with("a: {low: 0, high: 1e-310}"), {":2:6", "the range is too small", "another unit"}},
      {with("a: {low: 5e-324, high: 1, scale: log10}"), {":2:36", "low (5e-324) is too small"}},
      {with("a: {low: 1, high: 1.0000000000000002, step: 0.01}"), {"too narrow"}},
      {with("a: {low: 0, high: 1, unit: \"\\e[31m\"}"), {":2:", "control characters"}},
      {with("a: {low: 0, high: 1}") + "---\nmore: 1\n", {"second document"}},
      {with("a: {low: 0, high: 9}", "constraints: ['2 <= a <= 4']"),
       {":5:15", "cannot be chained"}},
      {with("a: {low: 0, high: 9}", "constraints: ['a <= 5, a >= 1']"), {"not a list"}},
      {with("a: {low: 0, high: 9}", "constraints: ['a + 1']"), {":5:15", "is not a comparison"}},
      {with("a: {low: 0, high: 9}", "forbidden: [{a: 99}]"), {"'99' is not a condition"}},
      {with("a: {low: 0, high: 8, scale: log2}"), {":2:31", "log scale needs low above 0"}},
      {with("a: {low: 0.5, high: 3, type: integer}"), {":2:12", "must be an integer"}},
      {with("a: {levels: [1]}"), {"at least two levels"}},
      {with("a: {levels: []}"), {"at least two levels"}},
      {with("a: {levels: [1, 2, 2]}"), {"level 2 is listed twice"}},
      {with("a: {levels: [x, x]}"), {":2:19", "level 'x' is listed twice"}},
      {with("a: {levels: [x, y], low: 1}"), {"categorical factor has no 'low'"}},
      {with("a: {levels: [1, 2, 4], low: 0}"), {"low (0) is not the lowest level (1)"}},
      {with("a: {levels: [1, x], type: integer}"), {"needs numbers"}},
      {with("a: {low: 0, high: 1, baseline: 2}"), {":2:34", "baseline 2", "0 to 1"}},
      {with("a: {low: 0, high: 1, step: -1}"), {"step must be above 0"}},
      {with("a: {low: 0, high: 1, scale: log3}"), {"did you mean 'log2'?"}},
      {with("run: {low: 0, high: 1}"), {":2:3", "'run'", "column of the run sheet"}},
      {with("2nd: {low: 0, high: 1}"), {":2:3", "'2nd' is not a valid name"}},
      {with("'<script>': {low: 0, high: 1}"), {"not a valid name"}},
      {with("y: {low: 0, high: 1}"), {":4:3", "a factor already has this name"}},
      {"responses: {y: {}}", {"'factors' is missing"}},
      {"factors: {}\nresponses: {y: {}}", {":1:10", "at least one factor"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {}", {":2:12", "at least one response"}},
      {with("a: {low: 0, high: 1}", "workload: x\ncommand: [y]"), {":6:10", "not both"}},
      {with("a: {low: 0, high: 1}", "command: []"), {"the list is empty"}},
      {with("a: {low: 0, high: 1}", "command: run me"), {":5:10", "expected a list"}},
      {with("a: {low: 0, high: 1}", "constraints: ['b < 1']"),
       {":5:15", "'b' is not known", "expected one of a"}},
      {with("a: {low: 0, high: 1}", "constraints: ['a <']"), {":5:15", "character"}},
      {with("a: {low: 0, high: 1}", "forbidden: [{b: 1}]"), {":5:14", "there is no factor 'b'"}},
      {with("a: {levels: [x, y]}", "forbidden: [{a: z}]"), {"'z'", "one of x, y"}},
      {with("a: {low: 0, high: 1}", "forbidden: [{a: '>= many'}]"), {"'>= many'", "comparison"}},
      {with("a: {low: 0, high: 1}", "model: qadratic"), {":5:8", "did you mean 'quadratic'?"}},
      {with("a: {low: 0, high: 1}", "model: ['1', 'b']"), {":5:14", "there is no factor 'b'"}},
      {with("a: {low: 0, high: 1}", "model: ['1', 'a**2']"), {":5:14", "powers as a^2"}},
      {with("a: {low: 0, high: 1}") + "\n\x1b[31m", {"study.yaml:6:1", "this is not text"}},
      {with("a: 3"), {":2:6", "a mapping such as {low: ...}, found '3'"}},
      {with("a: {low: 0, high: 1}", "design: fccd"), {":5:9", "such as {type: ...}"}},
      {with("a: {low: 0, high: 1}", "fit: {by: a}"), {":5:11", "the study has none"}},
      {with("a: {low: 0, high: 1}", "constraints: ['a + <= 1']"),
       {":5:15", "character 5: unexpected operator \"<=\""}},
      {with("a: {low: 0, high: 1}", "design: {type: fcdd}"), {":5:16", "did you mean 'fccd'?"}},
      {with("a: {low: 0, high: 1}", "design: {center_runs: 3}"), {"'type' is missing"}},
      {with("a: {low: 0, high: 1}", "design: {type: fccd, center_runs: -1}"),
       {"an integer from 0"}},
      {with("a: {low: 0, high: 1}", "design: {type: table}"), {"needs file"}},
      {with("a: {low: 0, high: 1}", "design: {type: compound-optimal, weights: {d: -1}}"),
       {":5:47", "design.weights.d", "at least 0"}},
      {with("a: {low: 0, high: 1}", "design: {type: compound-optimal, weights: {dd: 1}}"),
       {"did you mean 'd'?"}},
      {with("a: {low: 0, high: 1}", "design: {type: d-optimal, weights: {d: 1}}"),
       {"type d-optimal does not take it"}},
      {with("a: {low: 0, high: 1}", "seed: -1"), {":5:7", "an integer"}},
      {with("a: {low: 0, high: 1}", "seed: 1.5"), {":5:7", "an integer"}},
      {with("a: {low: 0, high: 1}", "run: {timeout: soon}"), {":5:16", "10 min", "'soon'"}},
      {with("a: {low: 0, high: 1}", "run: {timeout: -3 s}"), {"10 min"}},
      {with("a: {low: 0, high: 1}", "run: {timeout: 3 weeks}"), {"10 min"}},
      {with("a: {low: 0, high: 1}", "run: {jobs: 0}"), {"an integer from 1"}},
      {with("a: {low: 0, high: 1}", "<<: {seed: 1}"), {"unknown key '<<'"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: within, low: 1}}",
       {":2:", "needs 'high'"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: at_most}}", {"needs 'high'"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: target}}", {"needs 'target'"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {low: 1}}", {"limits without a goal"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: within, low: 2, high: 1}}",
       {"must be below"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: maximise}}",
       {"did you mean 'maximize'?"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {goal: maximize, weight: 0}}", {"above 0"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {capacity: 0}}",
       {":2:27", "capacity", "above 0"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {formula: 'z * 2'}}", {"'z' is not known"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {pattern: '('}}",
       {"not a valid regular expression"}},
      {"factors: {a: {low: 0, high: 1}}\nresponses: {y: {pattern: 'x'}}", {"needs a group"}},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string message = message_of(mistake.text);
    INFO(mistake.text << "\n-> " << message);
    CHECK(message.starts_with("study.yaml:"));
    for (const std::string& part : mistake.message) CHECK_THAT(message, Catch::Contains(part));
  }
}

TEST_CASE("Deep nesting, aliases without end and huge keys end in a message", "[study]") {
  CHECK(message_of(std::string(100'000, '[')).starts_with("study.yaml:"));
  CHECK(message_of("factors: " + std::string(20'000, '{')).starts_with("study.yaml:"));
  // Nine levels of nine references each: 9^9 values from 1 kB of text.
  std::string laughs = "command: &a0 [x, x, x, x, x, x, x, x, x]\n";
  for (int level = 1; level <= 9; ++level) {
    const std::string alias = "*a" + std::to_string(level - 1);
    laughs += "k" + std::to_string(level) + ": &a" + std::to_string(level) + " [" + alias;
    for (int i = 0; i < 8; ++i) laughs += ", " + alias;
    laughs += "]\n";
  }
  CHECK(message_of(laughs) != "accepted");
  CHECK(message_of(with(std::string(100'000, 'k') + ": 1")).size() < 1000);
}

TEST_CASE("Files that are none, or too large, are refused by name", "[study]") {
  const TemporaryDirectory directory;
  CHECK_THROWS_WITH(study::load_study(directory.path() / "missing.yaml"),
                    Catch::Contains("missing.yaml: there is no such file"));
  CHECK_THROWS_WITH(study::load_study(directory.path()), Catch::Contains("not a file"));
  const auto large = directory.path() / "large.yaml";
  std::ofstream(large) << "#";
  std::filesystem::resize_file(large, 100'000'000);
  CHECK_THROWS_WITH(study::load_study(large), Catch::Contains("100.0 MB is too large"));
}

TEST_CASE("The capacities of resources are known by response", "[study]") {
  const study::Study study = study::parse_study(
      "command: [x]\nfactors: {a: {low: 0, high: 1}}\n"
      "responses: {rate: {}, memory: {unit: GiB, capacity: 80}}\n",
      "s.yaml");
  CHECK(study.capacities() == std::map<std::string, double>{{"memory", 80}});
}

TEST_CASE("The transforms of the study file are those of the fits", "[study]") {
  for (const std::string& name : surfaces::transform_names()) {
    const study::Study study = parse_study(
        "factors: {a: {low: 0, high: 1}}\nresponses: {y: {transform: " + name + "}}", "s.yaml");
    CHECK(doe::word_of(study.responses[0].transform) == name);
  }
}

TEST_CASE("How surfaces are fitted is said once, and may differ by response", "[study]") {
  const std::string start =
      "factors: {n: {low: 1, high: 8}, w: {levels: [x, y]}}\n"
      "fit: {selection: backward, loss: huber}\n";
  const study::Study study = parse_study(
      start + "responses: {a: {}, b: {fit: {surface: amdahl, factor: n, by: w, loss: squares}}}",
      "s.yaml");
  CHECK(study.responses[0].fit.selection == doe::SelectionMethod::kBackward);
  CHECK(study.responses[0].fit.surface == doe::SurfaceType::kPolynomial);
  CHECK(study.responses[1].fit.surface == doe::SurfaceType::kAmdahl);
  CHECK(study.responses[1].fit.selection == doe::SelectionMethod::kBackward);
  CHECK(study.responses[1].fit.loss == doe::Loss::kSquares);
  const auto refused = [&](const std::string& fit) {
    return message_of(start + "responses: {a: {fit: " + fit + "}}");
  };
  CHECK_THAT(refused("{surface: amdahl}"), Catch::Contains("needs 'factor'"));
  CHECK_THAT(refused("{surface: amdahl, factor: w}"),
             Catch::Contains("study.yaml:3:") && Catch::Contains("not a numeric factor"));
  CHECK_THAT(refused("{surface: amdal}"), Catch::Contains("did you mean 'amdahl'?"));
  CHECK(parse_study(start + "model: auto\nresponses: {a: {}}", "s.yaml").fit.surface ==
        doe::SurfaceType::kAuto);
}

TEST_CASE("The parametric models of the study file are those of the surfaces", "[study]") {
  for (const surfaces::ParametricModel& parametric : surfaces::parametric_models()) {
    const study::Study study = parse_study(
        "factors: {a: {low: 1, high: 9}}\nresponses: {y: {fit: {surface: " + parametric.name +
            ", factor: a}}}",
        "s.yaml");
    CHECK(doe::word_of(study.responses[0].fit.surface) == parametric.name);
    CHECK(doe::is_parametric(study.responses[0].fit.surface));
  }
}

TEST_CASE("A study cut at any byte is read or refused, never worse", "[study]") {
  const std::string whole = kWhole;
  for (std::size_t length = 0; length < whole.size(); ++length) {
    const std::string message = message_of(whole.substr(0, length));
    CHECK((message == "accepted" || message.starts_with("study.yaml:")));
  }
}
