// Black-box tests of the program train-data-parallel.
#include <catch2/catch.hpp>

#include <signal.h>

#include <cmath>
#include <cstring>
#include <thread>

#include "tests/workloads/program.h"
#include "tests/workloads/relative_difference.h"
#include "workloads/networks/network.h"

using namespace doetune;
using namespace doetune::workloads::test;
using Catch::Contains;

namespace {

const Arguments kSmall{"--network",  "small-cnn", "--batch_size", "8", "--warmup", "0",
                       "--duration", "0.1",       "--values",     "3", "--ranks",  "2"};

Program train(const ProgramDirectory& scratch, const Arguments& arguments,
              const Variables& environment = {}) {
  return Program(DOETUNE_TRAIN_DATA_PARALLEL, scratch, arguments, environment);
}

Json answer(const ProgramDirectory& scratch, const Arguments& arguments) {
  REQUIRE(train(scratch, arguments).exit_code() == 0);
  return Json::parse(scratch.read("out"));
}

constexpr int kSteps = 9;  // one before the measurement, and those measured

/// The parameters after kSteps, trained on a batch that ranks divide unevenly.
std::vector<float> learnt(const ProgramDirectory& scratch, const Arguments& more) {
  const Arguments steps =
      with(kSmall, {"--baseline", "false", "--batch_size", "10", "--learning_rate", "0.05",
                    "--duration", "0", "--values", "8", "--weights_file", scratch / "weights"});
  CHECK(answer(scratch, with(steps, more))["notes"]["steps"] == kSteps);
  const std::string bytes = scratch.read("weights");
  std::vector<float> weights(bytes.size() / sizeof(float));
  std::memcpy(weights.data(), bytes.data(), weights.size() * sizeof(float));
  return weights;
}

/// Each step rounds a weight once (by at most 2^-24 of it), and its much smaller change by the
/// roundings of sums in another order.
constexpr double kRounding = kSteps * 0x1p-24;

}  // namespace

TEST_CASE("throughput, speed-up and efficiency follow from the times of steps", "[program]") {
  const ProgramDirectory scratch;
  const Json result = answer(scratch, kSmall);
  const Json& responses = result["responses"];
  const double throughput = responses["throughput"];
  CHECK(throughput == Approx(8 / responses["step_time"].get<double>()));
  const double alone = result["notes"]["baseline_throughput"];
  CHECK(responses["speed_up"].get<double>() == Approx(throughput / alone));
  CHECK(responses["efficiency"].get<double>() == Approx(throughput / alone / 2));
  CHECK(responses["communication_share"] >= 0);
  CHECK(responses["communication_share"] <= 1);
  CHECK(result["notes"]["ranks"] == 2);
}

TEST_CASE("one, two and four ranks begin at the same loss and learn", "[program]") {
  const ProgramDirectory scratch;
  const Arguments steps = with(kSmall, {"--baseline", "false", "--learning_rate", "0.02"});
  const Json one = answer(scratch, with(steps, {"--ranks", "1"}))["notes"];
  CHECK(one["last_loss"] < one["first_loss"]);
  for (const char* ranks : {"2", "4"}) {
    const Json result =
        answer(scratch, with(steps, {"--ranks", ranks, "--communication_type", "bf16"}));
    CHECK(result["notes"]["first_loss"].get<double>() ==
          Approx(one["first_loss"].get<double>()).epsilon(1e-5));
    CHECK(result["notes"]["last_loss"] < result["notes"]["first_loss"]);
    CHECK_THAT(result["notes"]["speed_up"].get<std::string>(), Contains("baseline"));
  }
}

TEST_CASE("processes learn the weights that one learns from the joined batch, to rounding",
          "[program]") {
  const ProgramDirectory scratch;
  const auto start = learnt(scratch, {"--ranks", "1", "--learning_rate", "0"});
  const auto alone = learnt(scratch, {"--ranks", "1"});
  CHECK(std::ssize(alone) ==
        doetune::workloads::parameters(doetune::workloads::make_network("small-cnn", 32)));
  REQUIRE(relative_difference(start, alone) >
          1000 * kRounding);  // large enough that a difference would show
  for (const Arguments& ways : {Arguments{"--bucket_mb", "0.05"}, {"--parallelism", "model"}})
    for (const char* ranks : {"2", "4"}) {
      CAPTURE(ways, ranks);
      CHECK(relative_difference(learnt(scratch, with(ways, {"--ranks", ranks})), alone) <
            kRounding);
    }
}

TEST_CASE("a speed-up is as precise as both times that it is made of", "[program]") {
  const ProgramDirectory scratch;
  const auto precise = [&](const char* values) {
    return answer(scratch, with(kSmall, {"--duration", "0", "--values", values}));
  };
  const Json enough = precise("40");
  const double together = enough["precision"]["throughput"];
  const double alone = enough["notes"]["baseline_precision"];
  for (const char* response : {"speed_up", "efficiency"})
    CHECK(enough["precision"][response].get<double>() == Approx(std::hypot(together, alone)));
  const Json too_few = precise("3");  // too few for any interval
  CHECK_FALSE(too_few["notes"].contains("baseline_precision"));
}

TEST_CASE("weights that cannot be written are reported before the training", "[program]") {
  const ProgramDirectory scratch;
  CHECK(
      train(scratch, with(kSmall, {"--duration", "600", "--weights_file", scratch / "no/weights"}))
          .exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("weights_file") && Contains("no/weights") &&
                                      Contains("No such file or directory"));
}

TEST_CASE("more ranks than images are refused", "[program]") {
  const ProgramDirectory scratch;
  CHECK(train(scratch, with(kSmall, {"--batch_size", "1"})).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("batch_size = 1") && Contains("2 ranks"));
}

TEST_CASE("stages begin at the loss of the whole network and learn what it learns", "[program]") {
  const ProgramDirectory scratch;
  const Arguments steps = with(kSmall, {"--baseline", "false", "--learning_rate", "0.02",
                                        "--duration", "0", "--values", "8"});
  const Json whole = answer(scratch, with(steps, {"--ranks", "1"}))["notes"];
  for (const char* ranks : {"2", "4"}) {
    const Json result = answer(
        scratch, with(steps, {"--ranks", ranks, "--parallelism", "model", "--micro_batches", "3"}));
    for (const char* loss : {"first_loss", "last_loss"})  // after as many steps
      CHECK(result["notes"][loss].get<double>() == Approx(whole[loss].get<double>()).epsilon(1e-5));
    CHECK(result["responses"]["communication_share"] >= 0);
  }
}

TEST_CASE("batches and networks that cannot be shared out are refused", "[program]") {
  const ProgramDirectory scratch;
  const auto refused = [&](const Arguments& more) {
    CHECK(train(scratch, with(kSmall, more)).exit_code() == 2);
    return scratch.read("err");
  };
  CHECK_THAT(refused({"--parallelism", "model", "--micro_batches", "9"}),
             Contains("batch_size = 8") && Contains("9 micro_batches"));
  CHECK_THAT(refused({"--parallelism", "model", "--ranks", "5"}),
             Contains("small-cnn has 4 stages at most, not 5"));
  CHECK_THAT(refused({"--parallelism", "modal"}), Contains("did you mean 'model'"));
  CHECK_THAT(refused({"--network", "resnet-20", "--input_size", "3"}), Contains("resnet-20"));
}

TEST_CASE("a diverging loss is reported with its step, and the times are still measured",
          "[program]") {
  const ProgramDirectory scratch;
  const Json result = answer(scratch, with(kSmall, {"--learning_rate", "1e6", "--values", "8"}));
  CHECK(result["notes"]["diverged_at_step"] >= 1);  // the first loss is that of random guessing
  CHECK(result["notes"]["diverged_at_step"] <= 3);
  CHECK(result["responses"]["throughput"] > 0);
}

TEST_CASE("ranks without a GPU of their own end with code 77 and the reason", "[program]") {
  const ProgramDirectory scratch;
  if (std::filesystem::exists("/dev/nvidiactl")) {
    WARN("skipped: there is a GPU");
    return;
  }
  CHECK(train(scratch, with(kSmall, {"--device", "cuda"})).exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("GPU") || Contains("CUDA"));
  CHECK(train(scratch, with(kSmall, {"--transport", "nccl"})).exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains("transport nccl"));
}

TEST_CASE("a precision that the CPU lacks ends all ranks with code 77", "[program]") {
  const ProgramDirectory scratch;
  CHECK(train(scratch, with(kSmall, {"--precision", "bf16"}), {{"ONEDNN_MAX_CPU_ISA", "AVX2"}})
            .exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Contains(" of 2: ") && Contains("lacks"));
}

TEST_CASE("the death of a rank in training ends the run, named, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  Program program = train(scratch, with(kSmall, {"--duration", "600", "--baseline", "false"}));
  const auto ranks = ranks_of(program, 2);
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  kill(ranks[1], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Contains("rank 1 ") && Contains("was ended by signal 9"));
  for (const pid_t rank : ranks) CHECK(gone(rank));
}

TEST_CASE("the death of a stage ends the run, named, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  const auto victim = GENERATE(0, 2);
  CAPTURE(victim);
  Program program = train(scratch, with(kSmall, {"--duration", "600", "--baseline", "false",
                                                 "--ranks", "3", "--parallelism", "model"}));
  const auto ranks = ranks_of(program, 3);
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  kill(ranks[victim], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK_THAT(scratch.read("err"),
             Contains("rank " + std::to_string(victim) + " ") && Contains("was ended by signal 9"));
  for (const pid_t rank : ranks) CHECK(gone(rank));
}

#ifndef DOETUNE_SANITIZED  // sanitizers reserve address space themselves
TEST_CASE("a batch that does not fit the memory ends all ranks with code 77", "[program]") {
  const ProgramDirectory scratch;
  for (const char* parallelism : {"data", "model"}) {
    Program program(DOETUNE_TRAIN_DATA_PARALLEL, scratch,
                    with(kSmall, {"--baseline", "false", "--batch_size", "65536", "--parallelism",
                                  parallelism, "--micro_batches", "1"}),
                    {}, "", rlim_t{2} << 30);
    CHECK(program.exit_code() == 77);
    CHECK_THAT(scratch.read("err"), Contains("memory"));
  }
}
#endif
