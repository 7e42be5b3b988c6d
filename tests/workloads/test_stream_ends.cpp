// How the program stream-inference ends on failures of all kinds, and its clean-up.
#include "tests/workloads/stream_program.h"

using namespace doetune;
using namespace doetune::workloads::test;

namespace {

/// Without what Clang's OpenMP runtime leaves where a process is killed.
std::vector<fs::path> shared_memory() {
  auto paths = entries("/dev/shm");
  std::erase_if(paths, [](const fs::path& path) {
    return path.filename().string().starts_with("__KMP_REGISTERED_LIB_");
  });
  return paths;
}

}  // namespace

TEST_CASE("wrong inputs end with code 2 and say why", "[program]") {
  const ProgramDirectory scratch;
  CHECK(stream_inference(scratch, {"--exekutors_per_gpu", "2"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("executors_per_gpu"));
  CHECK(stream_inference(scratch, {"--decode_rate", "20", "--source_fps", "10"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("source_fps"));
  CHECK(stream_inference(scratch, {"--batch_size", "0"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("1 to 256"));
  CHECK(stream_inference(scratch, {"--channels", "most"}).exit_code() == 2);
  CHECK_THAT(scratch.read("err"), Catch::Contains("or max"));
  for (const std::string sharing : {"mps", "green"}) {
    CHECK(stream_inference(scratch, {"--device", "cpu", "--sharing", sharing}).exit_code() == 2);
    CHECK_THAT(scratch.read("err"), Catch::Contains("for GPUs"));
  }
  CHECK(stream_inference(scratch, {},
                         {{"DOETUNE_REQUEST", "/nowhere"}, {"DOETUNE_RESULT", "/nowhere"}})
            .exit_code() == 2);
}

TEST_CASE("without a GPU, device cuda ends at once with code 77 and why", "[program]") {
  const ProgramDirectory scratch;
  Program program =
      stream_inference(scratch, with(kSmall, {"--device", "cuda"}), {{"CUDA_VISIBLE_DEVICES", ""}});
  CHECK(program.exit_code() == 77);
  CHECK_FALSE(scratch.read("err").empty());
  CHECK_FALSE(fs::exists(scratch.path / "doetune"));  // fails before it makes a video
}

TEST_CASE("a weights file that is cut off ends the run with code 1", "[program]") {
  const ProgramDirectory scratch;
  std::ofstream(scratch.path / "short.weights") << "0123456789";
  CHECK(stream_inference(scratch, with(kSmall, {"--weights", scratch.path / "short.weights"}))
            .exit_code() == 1);
  CHECK_THAT(scratch.read("err"), Catch::Contains("truncated"));
}

TEST_CASE("the death of an executor ends the run, named, with nothing left", "[program]") {
  const ProgramDirectory scratch;
  for (const int pause_ms : {0, 700}) {  // during start-up, and in the stream
    Program program =
        stream_inference(scratch, with(kSmall, {"--executors_per_gpu", "3", "--duration", "600"}));
    const auto executors = program.wait_for_children(3);
    std::this_thread::sleep_for(std::chrono::milliseconds(pause_ms));
    kill(executors[1], SIGKILL);
    CHECK(program.exit_code() == 1);
    CHECK_THAT(scratch.read("err"),
               Catch::Contains("executor 1 of 3") && Catch::Contains("signal 9"));
    for (const pid_t executor : executors) CHECK(gone(executor));
  }
}

TEST_CASE("the death of a process of several executors ends the run too", "[program]") {
  const ProgramDirectory scratch;
  Program program =
      stream_inference(scratch, with(kSmall, {"--executors_per_gpu", "3", "--sharing", "stream",
                                              "--decoders", "2", "--duration", "600"}));
  const auto executors = program.wait_for_children(1);
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  CHECK(program.children().size() == 1);
  kill(executors[0], SIGKILL);
  CHECK(program.exit_code() == 1);
  CHECK_THAT(scratch.read("err"),
             Catch::Contains("executors 0 to 2, of 3") && Catch::Contains("signal 9"));
  CHECK(gone(executors[0]));
}

TEST_CASE("executors end with the coordinator, however it ends, and leave no file", "[program]") {
  const ProgramDirectory scratch;
  const auto before = shared_memory();
  fs::create_directories(scratch.path / "tmp");
  for (const int signal : {SIGTERM, SIGKILL})
    for (const std::string sharing : {"process", "stream"}) {
      Program program =
          stream_inference(scratch,
                           with(kSmall, {"--executors_per_gpu", "2", "--duration", "600",
                                         "--sharing", sharing, "--decoders", "1"}),
                           {{"TMPDIR", scratch.path / "tmp"}});
      const auto executors = program.wait_for_children(sharing == "process" ? 2 : 1);
      kill(program.pid(), signal);
      CHECK(program.exit_code() == 128 + signal);
      for (const pid_t executor : executors) CHECK(gone(executor));
    }
  CHECK(shared_memory() == before);
  CHECK(fs::is_empty(scratch.path / "tmp"));
}

TEST_CASE("what a program leaves that is killed while it makes a video is used up by the next",
          "[program]") {
  const ProgramDirectory scratch;
  {
    Program program = stream_inference(
        scratch,
        with(kSmall, {"--frame_width", "640", "--frame_height", "480", "--clip_seconds", "20"}));
    while (entries(scratch.path / "doetune").empty())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    kill(program.pid(), SIGKILL);
    program.exit_code();
  }
  fs::create_directories(scratch.path / "doetune");
  const std::string video = "street-64x64-15-frames-seed-1.mjpeg";
  std::ofstream(scratch.path / "doetune" / (video + ".partial")) << "half of a video";
  CHECK(stream_inference(scratch, kSmall).exit_code() == 0);
  CHECK(fs::exists(scratch.path / "doetune" / video));
  for (const fs::path& entry : entries(scratch.path / "doetune"))
    CHECK((entry.extension() == ".lock" || entry.filename() == video));
}

TEST_CASE("a precision that the CPU lacks ends with code 77", "[program]") {
  const ProgramDirectory scratch;
  for (const std::string sharing : {"process", "stream"}) {
    // Makes oneDNN assume an older CPU.
    Program program = stream_inference(
        scratch,
        with(kSmall, {"--precision", "bf16", "--executors_per_gpu", "2", "--sharing", sharing}),
        {{"ONEDNN_MAX_CPU_ISA", "AVX2"}});
    CHECK(program.exit_code() == 77);
    CHECK_THAT(scratch.read("err"), Catch::Contains("precision"));
  }
}

#ifndef DOETUNE_SANITIZED  // sanitizers reserve address space themselves
TEST_CASE("settings that do not fit the memory end with code 77", "[program]") {
  const ProgramDirectory scratch;
  const Arguments large{"--batch_size",  "256", "--input_size", "416",
                        "--decode_rate", "30",  "--interval",   "4"};
  Program program = stream_inference(scratch, with(kSmall, large), {}, rlim_t{1} << 30);
  CHECK(program.exit_code() == 77);
  CHECK_THAT(scratch.read("err"), Catch::Contains("memory"));
}
#endif
