#include <catch2/catch.hpp>

#include "base/nearest_name.h"
#include "workloads/protocol/protocol.h"

using namespace doetune;
using namespace doetune::workloads;

namespace {

Workload toy() {
  using enum InputKind;
  return {"toy",
          "adds",
          "toy --size 64",
          {{"size", integer, 32, "pixels of a side", "pixels", 32, 128, {}, 32},
           {"rate", continuous, 2.5, "a rate", "Hz", 0.5, 10},
           {"precision", categorical, "fp32", "of numbers", "", 0, 0, {"fp32", "bf16"}},
           {"file", text, nullptr, "a file"}},
          {{"sum", "1", "the sum"}},
          [](const Request&) {
            return Result{{{"sum", 1.0}}};
          }};
}

}  // namespace

TEST_CASE("factors override settings, settings override defaults", "[protocol]") {
  const Request request =
      parse_request(toy(), Json::parse(R"({"study": "s", "run": 3, "attempt": 1, "replicate": 1,
      "seed": 9, "factors": {"size": 64}, "settings": {"size": 128, "precision": "bf16"}, "gpus": [], "cpus": [0, 1],
      "time_limit_s": 60})"));
  CHECK(request.inputs.integer("size") == 64);
  CHECK(request.inputs.text("precision") == "bf16");
  CHECK(request.inputs.number("rate") == 2.5);
  CHECK_FALSE(request.inputs.has("file"));
  CHECK(request.seed == 9);
  CHECK(request.cpus == std::vector<int>{0, 1});
  CHECK(request.time_limit_s == 60.0);
}

TEST_CASE("the study's warm-up is the value of an input of that name", "[protocol]") {
  Workload workload = toy();
  const auto warmup_of = [&](const char* text) {
    return parse_request(workload, Json::parse(text)).inputs.number("warmup");
  };
  CHECK_NOTHROW(parse_request(workload, Json::parse(R"({"warmup_s": 3})")));  // has no warm-up
  workload.inputs.push_back({"warmup", InputKind::continuous, 1.0, "a warm-up", "s", 0, 60});
  CHECK(warmup_of(R"({"warmup_s": 3})") == 3);
  CHECK(warmup_of(R"({"warmup_s": null})") == 1);
  CHECK(warmup_of(R"({"warmup_s": 3, "settings": {"warmup": 4}})") == 4);
  CHECK(warmup_of(R"({"warmup_s": 3, "factors": {"warmup": 5}})") == 5);
  CHECK_THROWS_WITH(warmup_of(R"({"warmup_s": 61})"), Catch::Contains("0 to 60 s"));
}

TEST_CASE("a request may ask for repeats", "[protocol]") {
  const auto repeats_of = [](const char* text) {
    return parse_request(toy(), Json::parse(text)).repeats;
  };
  CHECK(repeats_of("{}") == 1);
  CHECK(repeats_of(R"({"repeats": 3})") == 3);
  for (const char* text : {R"({"repeats": 0})", R"({"repeats": 1.5})", R"({"repeats": "2"})",
                           R"({"repeats": 1e300})", R"({"repeats": 9999999999})"})
    CHECK_THROWS_AS(repeats_of(text), UsageError);
  CHECK(to_json(toy(), {{{"sum", 2.0}}, {{"sum", {1, 3}}}})["repeats"]["sum"] == Json({1, 3}));
  CHECK_FALSE(to_json(toy(), {{{"sum", 2.0}}}).contains("repeats"));
}

TEST_CASE("a request may ask for a precision, times and responses", "[protocol]") {
  const auto parse = [](const char* text) { return parse_request(toy(), Json::parse(text)); };
  const Request request = parse(
      R"({"precision": 0.01, "min_time_s": 2, "max_time_s": 60, "responses": ["sum", "other"],
          "gpus": ["GPU-1", "2"]})");
  CHECK(request.precision == 0.01);
  CHECK(request.min_time_s == 2.0);
  CHECK(request.max_time_s == 60.0);
  CHECK(request.responses == std::vector<std::string>{"sum", "other"});
  CHECK(request.gpus == std::vector<std::string>{"GPU-1", "2"});
  CHECK_FALSE(parse(R"({"precision": null, "max_time_s": null})").precision);
  for (const char* text :
       {R"({"precision": -0.1})", R"({"precision": 1.5})", R"({"precision": "1 %"})",
        R"({"min_time_s": -1})", R"({"max_time_s": 1e300})", R"({"responses": "sum"})"})
    CHECK_THROWS_AS(parse(text), UsageError);
}

TEST_CASE("a result states how it was measured", "[protocol]") {
  Result result{{{"sum", 2.0}}};
  for (const char* name : {"window", "steady", "precision", "stopped_by"})
    CHECK_FALSE(to_json(toy(), result).contains(name));
  result.window = {1.5, 2.5};
  result.steady = false;
  result.precision = {{"sum", 0.02}};
  result.stopped_by = "max_time";
  const Json json = to_json(toy(), result);
  CHECK(json["window"] == Json({1.5, 2.5}));
  CHECK(json["steady"] == false);
  CHECK(json["precision"]["sum"] == 0.02);
  CHECK(json["stopped_by"] == "max_time");
}

TEST_CASE("the command line takes the same names", "[protocol]") {
  const Request request =
      parse_command_line(toy(), {"--size", "96", "--rate=7.5", "--seed", "4", "--file", "x y"});
  CHECK(request.inputs.integer("size") == 96);
  CHECK(request.inputs.number("rate") == 7.5);
  CHECK(request.inputs.text("file") == "x y");
  CHECK(request.seed == 4);
}

TEST_CASE("a wrong input is named with what would be right", "[protocol]") {
  const auto message_of = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse_command_line(toy(), arguments);
    } catch (const UsageError& error) {
      return error.what();
    }
    return "";
  };
  CHECK_THAT(message_of({"--sise", "64"}), Catch::Contains("'size'"));
  CHECK_THAT(message_of({"--size", "160"}), Catch::Contains("32 to 128 pixels"));
  CHECK_THAT(message_of({"--size", "40"}), Catch::Contains("multiple of 32"));
  CHECK_THAT(message_of({"--size", "64.5"}), Catch::Contains("integer"));
  CHECK_THAT(message_of({"--rate", "fast"}), Catch::Contains("0.5 to 10 Hz"));
  CHECK_THAT(message_of({"--rate", "nan"}), Catch::Contains("0.5 to 10 Hz"));
  CHECK_THAT(message_of({"--precision", "bf61"}), Catch::Contains("'bf16'"));
  CHECK_THAT(message_of({"--size"}), Catch::Contains("needs a value"));
  CHECK_THAT(message_of({"size"}), Catch::Contains("--name value"));
  CHECK_THAT(message_of({"--seed", "-1"}), Catch::Contains("--seed"));
}

TEST_CASE("a request of the wrong form is a usage error", "[protocol]") {
  for (const char* text : {"[]", R"({"factors": {"nothing": 1}})", R"({"factors": {"size": [1]}})",
                           R"({"seed": "x"})", R"({"cpus": "all"})", R"({"factors": []})"})
    CHECK_THROWS_AS(parse_request(toy(), Json::parse(text)), UsageError);
  CHECK_NOTHROW(parse_request(toy(), Json::object()));
}

TEST_CASE("describe lists every input and response", "[protocol]") {
  const Json json = describe(toy());
  CHECK(json["name"] == "toy");
  CHECK(json["factors"].size() == 4);
  CHECK(json["factors"][0] ==
        Json::parse(R"({"name": "size", "kind": "integer", "low": 32, "high": 128,
      "multiple_of": 32, "unit": "pixels", "default": 32, "description": "pixels of a side"})"));
  CHECK(json["factors"][2]["levels"] == Json::parse(R"(["fp32", "bf16"])"));
  CHECK(json["responses"][0]["name"] == "sum");
}

TEST_CASE("a result without a finite number for every response is a defect", "[protocol]") {
  CHECK(to_json(toy(), {{{"sum", 2.0}}})["responses"]["sum"] == 2.0);
  CHECK_THROWS_AS(to_json(toy(), {{{"other", 2.0}}}), std::logic_error);
  CHECK_THROWS_AS(to_json(toy(), {{{"sum", std::nan("")}}}), std::logic_error);
  Result noted;
  noted.notes["sum"] = "why there is none";
  CHECK_FALSE(to_json(toy(), noted)["responses"].contains("sum"));
}

TEST_CASE("an integer may also be one of its levels", "[protocol]") {
  Workload workload = toy();
  workload.inputs[0].words = {"max"};
  const auto size_of = [&](const char* value) {
    return parse_command_line(workload, {"--size", value}).inputs;
  };
  CHECK(size_of("max").is_word("size"));
  CHECK(size_of("max").text("size") == "max");
  CHECK_FALSE(size_of("64").is_word("size"));
  CHECK(size_of("64").integer("size") == 64);
  CHECK_THROWS_WITH(size_of("most"), Catch::Contains("or max"));
  CHECK(describe(workload)["factors"][0]["words"] == Json{"max"});
  CHECK_FALSE(describe(workload)["factors"][1].contains("words"));
}

TEST_CASE("a name is offered for one that is like it, and for no other", "[protocol]") {
  const std::vector<std::string> names{"batch_size", "fp32", "tf32", "cuda", "cpu"};
  const auto offered = [&](const char* wrong) { return did_you_mean(wrong, names); };
  CHECK(offered("batch_size_") == "; did you mean 'batch_size'?");
  CHECK(offered("bacth_sise") == "; did you mean 'batch_size'?");  // a swap and a substitution
  CHECK(offered("TF32") == "; did you mean 'tf32'?");
  CHECK(offered("f32") == "; did you mean 'fp32'?");
  for (const char* wrong : {"", "int8", "throughput", "batch", "x", "zzz"})
    CHECK(offered(wrong) == "");
  CHECK(did_you_mean(std::string(1000000, 'a'), names) == "");
  CHECK(did_you_mean("cpu", {}) == "");
}

TEST_CASE("where no input is like a name, the message says where to find them", "[protocol]") {
  CHECK_THROWS_WITH(parse_command_line(toy(), {"--colour", "3"}),
                    "toy has no input 'colour'; --help lists those it has");
  CHECK_THROWS_WITH(parse_command_line(toy(), {"--precision", "int8"}),
                    "precision is one of fp32, bf16, not 'int8'");
}

TEST_CASE("a request may name the server that was started for the run", "[protocol]") {
  const Request request =
      parse_request(toy(), Json::parse(R"({"server": {"host": "127.0.0.1", "port": 8000}})"));
  REQUIRE(request.server);
  CHECK(request.server->host == "127.0.0.1");
  CHECK(request.server->port == 8000);
  CHECK_FALSE(parse_request(toy(), Json::parse(R"({"server": null})")).server);
  // What only the server is given is no mistake.
  const char* of_server = R"({"factors": {"instances": 2}, "settings": {"dtype": "bf16"},
                              "server": {"host": "x", "port": 1, "names": ["dtype", "instances"]}})";
  CHECK_NOTHROW(parse_request(toy(), Json::parse(of_server)));
  CHECK_THROWS_AS(parse_request(toy(), Json::parse(R"({"factors": {"instances": 2}})")),
                  UsageError);
  for (const char* text : {R"({"server": "x"})", R"({"server": {"host": "x"}})",
                           R"({"server": {"host": 1, "port": 2}})"})
    CHECK_THROWS_AS(parse_request(toy(), Json::parse(text)), UsageError);
}
