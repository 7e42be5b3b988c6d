// Black-box tests of the program train-classifier: results, invalid inputs, and resumption.
#include <catch2/catch.hpp>

#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/workloads/program.h"

namespace {

using namespace doetune;
using namespace doetune::workloads::test;
namespace fs = std::filesystem;
using Catch::Contains;

/// A configuration that takes about a second.
const Arguments kSmallTraining{
    "--network",   "small-cnn", "--epochs", "2",   "--data_size",     "120",  "--batch_size", "20",
    "--test_size", "40",        "--device", "cpu", "--learning_rate", "0.01", "--threads",    "1"};

struct Answer {
  int code;
  Json result;
  std::string messages;
};

Answer ask(const Arguments& arguments, rlim_t memory_limit = RLIM_INFINITY,
           const Variables& environment = {}) {
  const ProgramDirectory scratch;
  Program program(DOETUNE_TRAIN_CLASSIFIER, scratch, with(kSmallTraining, arguments), environment,
                  "", memory_limit);
  const int code = program.exit_code();
  const std::string out = scratch.read("out");
  return {code, out.empty() ? Json() : Json::parse(out), scratch.read("err")};
}

/// The same as the settings of a request.
Json settings_of(int epochs) {
  return {{"data_size", 120}, {"batch_size", 20}, {"test_size", 40},       {"threads", 1},
          {"epochs", epochs}, {"device", "cpu"},  {"network", "small-cnn"}};
}

constexpr std::int64_t kRecord = 3074;  // bytes per image in CIFAR-100's files

std::vector<fs::path> checkpoints_in(const fs::path& directory) {
  std::vector<fs::path> found;
  if (!fs::exists(directory)) return found;
  for (const auto& entry : fs::directory_iterator(directory))
    if (entry.path().extension() == ".checkpoint") found.push_back(entry.path());
  return found;
}

void wait_for_checkpoints(const Program& program, const fs::path& directory, std::size_t count) {
  for (siginfo_t end{}; checkpoints_in(directory).size() < count;) {
    waitid(P_PID, static_cast<id_t>(program.pid()), &end, WEXITED | WNOHANG | WNOWAIT);
    INFO("the training ended before it was interrupted");
    REQUIRE(end.si_pid == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

}  // namespace

TEST_CASE("a training reports its progress after each epoch", "[train]") {
  const ProgramDirectory directory;
  const fs::path file = directory / "progress.jsonl";
  const Answer answer = ask({}, RLIM_INFINITY, {{"DOETUNE_PROGRESS", file.string()}});
  INFO(answer.messages);
  REQUIRE(answer.code == 0);
  std::ifstream lines(file);
  std::string line;
  for (int epoch = 1; epoch <= 2; ++epoch) {
    REQUIRE(std::getline(lines, line));
    const Json point = Json::parse(line);
    const auto at = static_cast<std::size_t>(epoch - 1);
    CHECK(point["step"] == epoch);
    for (const char* name : {"accuracy", "loss", "train_loss"}) {
      CHECK(point["responses"][name] == answer.result["series"][std::string("epoch_") + name][at]);
    }
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("a training answers with accuracy, losses and time, the same for a seed", "[train]") {
  const Answer first = ask({});
  INFO(first.messages);
  REQUIRE(first.code == 0);
  const Json& responses = first.result["responses"];
  CHECK(responses["epochs_done"] == 2);
  CHECK(responses["accuracy"] >= 0);
  CHECK(responses["accuracy"] <= 100);
  CHECK(responses["loss"].get<double>() == Approx(3).margin(1.5));  // near log(20): hardly trained
  CHECK(responses["time"] > 0);
  CHECK(first.result["notes"]["steps"] == 12);
  CHECK(first.result["series"]["epoch_accuracy"].size() == 2);
  CHECK(first.result["notes"]["epochs_to_target"] == "no target_accuracy was set");
  CHECK(ask({}).result["responses"]["loss"] == responses["loss"]);
  CHECK(ask({"--seed", "2"}).result["responses"]["loss"] != responses["loss"]);
}

TEST_CASE("every choice of data and network trains", "[train]") {
  for (const Arguments& each : {Arguments{"--classes", "100"},
                                {"--selection", "uncertainty", "--rounds", "1"},
                                {"--augmentation", "crop"},
                                {"--momentum", "0"},
                                {"--weight_decay", "0.1"},
                                {"--lr_step", "1"},
                                {"--warmup_epochs", "1"},
                                {"--network", "resnet-20", "--data_size", "40"},
                                {"--target_accuracy", "0"}}) {
    const Answer answer = ask(each);
    INFO(each.front() << ' ' << each[1] << ": " << answer.messages);
    CHECK(answer.code == 0);
  }
}

TEST_CASE("bf16 trains where the processor has it, and does not fit the machine elsewhere",
          "[train]") {
  const Answer here = ask({"--precision", "bf16"});
  INFO(here.messages);
  CHECK(here.code == (has_bf16() ? 0 : 77));
  const Answer without =
      ask({"--precision", "bf16"}, RLIM_INFINITY, {{"ONEDNN_MAX_CPU_ISA", "AVX2"}});
  CHECK(without.code == 77);
  CHECK_THAT(without.messages, Contains("CPU"));
}

TEST_CASE("a loss that diverges is a result: the accuracy of guessing, no loss", "[train]") {
  const Answer answer = ask({"--learning_rate", "1e5"});
  INFO(answer.messages);
  REQUIRE(answer.code == 0);
  CHECK(answer.result["responses"]["accuracy"] == 5);
  CHECK_FALSE(answer.result["responses"].contains("loss"));
  CHECK(answer.result["notes"]["diverged_at_step"] >= 1);
  CHECK(answer.result["notes"]["loss"].get<std::string>().find("diverged") != std::string::npos);
}

TEST_CASE("wrong inputs end with 2 and say what was expected", "[train]") {
  const auto refused = [](const Arguments& arguments, const std::string& because) {
    const Answer answer = ask(arguments);
    CHECK(answer.code == 2);
    CHECK_THAT(answer.messages, Contains(because));
  };
  refused({"--network", "resnet-21"}, "did you mean 'resnet-20'");
  refused({"--batch_size", "121"}, "above the 120 images");
  refused({"--batch_size", "50", "--selection", "uncertainty", "--rounds", "2", "--epochs", "3"},
          "above the 40 images");
  refused({"--selection", "uncertainty", "--rounds", "2"}, "at least 3 epochs");
  refused({"--data", "/nowhere"}, "/nowhere/train.bin");
  refused({"--data_size", "50001"}, "1 to 50000");
  const ProgramDirectory scratch;
  fs::create_directory(scratch.path / "train.bin");
  refused({"--data", scratch.path}, "train.bin: it is not a regular file");
  fs::remove(scratch.path / "train.bin");
  std::ofstream(scratch.path / "train.bin") << "short";
  refused({"--data", scratch.path}, "has 5 bytes");
  // Files of the right size, all zeros but for one label.
  fs::resize_file(scratch.path / "train.bin", 0);
  fs::resize_file(scratch.path / "train.bin", 50000 * kRecord);
  std::ofstream(scratch.path / "test.bin") << std::string(7, '\0');
  refused({"--data", scratch.path}, "test.bin has 7 bytes");
  fs::resize_file(scratch.path / "test.bin", 10000 * kRecord);
  std::fstream labels(scratch.path / "train.bin", std::ios::in | std::ios::out | std::ios::binary);
  labels.seekp(40000 * kRecord).put(20).flush();
  refused({"--data", scratch.path}, "image 40000 has superclass 20");
  std::ofstream(scratch.path / "file");
  refused({"--checkpoint", scratch.path / "file"}, "cannot make the directory");
}

TEST_CASE("settings that the machine cannot run end with 77", "[train]") {
  const Answer answer = ask({"--precision", "fp16"});
  CHECK(answer.code == 77);
  CHECK_THAT(answer.messages, Contains("fp16"));
#ifndef DOETUNE_SANITIZED  // sanitizers reserve address space themselves
  const Answer large = ask({"--data_size", "50000"}, rlim_t{500} << 20);  // 614 MB of images
  CHECK(large.code == 77);
  CHECK_THAT(large.messages, Contains("memory"));
  const Answer wide = ask({"--network", "resnet-18", "--data_size", "8192", "--batch_size", "8192"},
                          rlim_t{1500} << 20);
  CHECK(wide.code == 77);
  CHECK_THAT(wide.messages, Contains("memory"));
#endif
}

TEST_CASE("a checkpoint that was cut short is refused by its name", "[train]") {
  const ProgramDirectory scratch;
  const Arguments keeping =
      with(kSmallTraining, {"--epochs", "1000", "--checkpoint", scratch.path / "kept"});
  {
    Program program(DOETUNE_TRAIN_CLASSIFIER, scratch, keeping);
    wait_for_checkpoints(program, scratch.path / "kept", 1);
  }
  const fs::path file = checkpoints_in(scratch.path / "kept").front();
  fs::resize_file(file, fs::file_size(file) / 2);
  Program again(DOETUNE_TRAIN_CLASSIFIER, scratch, keeping);
  CHECK(again.exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Contains("truncated") && Contains(file.string()));
}

TEST_CASE("a training that was killed goes on and ends as if nothing had happened", "[train]") {
  const ProgramDirectory scratch;
  const fs::path kept = scratch.path / "kept";
  const Arguments longer = with(kSmallTraining, {"--epochs", "40"});
  const Answer whole = ask({"--epochs", "40"});
  REQUIRE(whole.code == 0);
  {
    Program program(DOETUNE_TRAIN_CLASSIFIER, scratch, with(longer, {"--checkpoint", kept}));
    wait_for_checkpoints(program, kept, 1);
    kill(program.pid(), SIGKILL);
    program.exit_code();
  }
  Program again(DOETUNE_TRAIN_CLASSIFIER, scratch, with(longer, {"--checkpoint", kept}));
  REQUIRE(again.exit_code() == 0);
  CHECK_THAT(scratch.read("err"), Contains("resuming after epoch"));
  const Json result = Json::parse(scratch.read("out"));
  CHECK(result["notes"]["resumed_after_epochs"] >= 1);
  CHECK(result["notes"]["resumed_after_epochs"] < 40);
  CHECK_FALSE(whole.result["notes"].contains("resumed_after_epochs"));
  for (const char* name : {"accuracy", "loss", "train_loss"}) {
    CHECK(result["responses"][name] == whole.result["responses"][name]);
    const std::string series = std::string("epoch_") + name;
    CHECK(result["series"][series] == whole.result["series"][series]);
  }
  CHECK(checkpoints_in(kept).empty());
}

TEST_CASE("a repeat that does not fit into the time limit is not begun, what there is counts",
          "[train]") {
  const ProgramDirectory scratch;
  Json request = {{"settings", settings_of(2)}, {"seed", 1}, {"repeats", 3}, {"time_limit_s", 1e6}};
  const Json all = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  REQUIRE(all["repeats"]["accuracy"].size() == 3);
  CHECK_FALSE(all["notes"].contains("repeats"));
  request["time_limit_s"] = 0.001;  // the first one always trains to the end
  const Json one = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  CHECK(one["notes"]["repeats"] == "1 of 3 measurements fit into the time limit");
  CHECK_FALSE(one.contains("repeats"));
  for (const char* name : {"accuracy", "loss", "train_loss"})
    CHECK(one["responses"][name] == all["repeats"][name][0]);
  // However many complete, they are the first ones, and none is incomplete.
  request["repeats"] = 1'000'000;
  request["time_limit_s"] = 2;
  request["settings"]["checkpoint"] = (scratch / "kept").string();
  const Json some = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  const std::size_t fitted =
      some.contains("repeats") ? some["repeats"]["accuracy"].size() : std::size_t{1};
  CHECK(some["notes"]["repeats"] ==
        std::to_string(fitted) + " of 1000000 measurements fit into the time limit");
  CHECK(some["responses"]["epochs_done"] == 2);
  CHECK(fs::is_empty(scratch / "kept"));
}

TEST_CASE("repeats that were done are not made again after an interruption", "[train]") {
  const ProgramDirectory scratch;
  const fs::path kept = scratch.path / "kept";
  Json request = {{"settings", settings_of(40)}, {"seed", 1}, {"repeats", 2}};
  const Json whole = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  request["settings"]["checkpoint"] = kept.string();
  std::ofstream(scratch / "request.json") << request;
  {
    Program program(DOETUNE_TRAIN_CLASSIFIER, scratch, {}, by_files(scratch));
    wait_for_checkpoints(program, kept, 2);  // of the first repeat, and of the second's epoch 1
    kill(program.pid(), SIGKILL);
    program.exit_code();
  }
  fs::copy(kept, scratch / "late");
  const Json again = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  CHECK_THAT(scratch.read("err"), Contains("resuming after epoch 40"));
  CHECK(again["notes"]["resumed_after_epochs"] > 40);  // of the first, and some of the second
  for (const char* name : {"accuracy", "loss"}) {
    CHECK(again["responses"][name] == whole["responses"][name]);
    CHECK(again["repeats"][name] == whole["repeats"][name]);
  }
  CHECK(checkpoints_in(kept).empty());
  // With no time left, the first repeat is reported and the second is abandoned.
  request["settings"]["checkpoint"] = (scratch / "late").string();
  request["time_limit_s"] = 0.001;
  const Json late = answer_to(DOETUNE_TRAIN_CLASSIFIER, scratch, request);
  CHECK(late["notes"]["repeats"] == "1 of 2 measurements fit into the time limit");
  CHECK(late["responses"]["loss"] == whole["repeats"]["loss"][0]);
  CHECK(late["notes"]["resumed_after_epochs"] == 40);
  CHECK(checkpoints_in(scratch / "late").empty());
}
