#include "workloads/serving/api.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/random.h"

namespace doetune::workloads {
namespace {

constexpr std::array<Api, 5> kApis{
    {{ApiName::openai_chat, "openai-chat", "/v1/chat/completions", "/v1/models", true, "content\"",
      "choices", "[DONE]"},
     {ApiName::openai_completions, "openai-completions", "/v1/completions", "/v1/models", true,
      "text\"", "choices", "[DONE]"},
     {ApiName::triton_generate, "triton-generate", "/v2/models/{model}/generate_stream", "", true,
      "text_output\"", "text_output", ""},
     {ApiName::triton, "triton", "/v2/models/{model}/infer", "/v2/models/{model}", false, "",
      "outputs", ""},
     {ApiName::http, "http", "/", "", false, "", "", ""}}};

constexpr std::int64_t kMaxElements = 1'000'000;

std::vector<std::int64_t> shape_of(const Json& input) {
  std::vector<std::int64_t> shape;
  std::int64_t elements = 1;
  for (const Json& dimension : input.at("shape")) {
    shape.push_back(std::max<std::int64_t>(1, dimension.get<std::int64_t>()));
    if (shape.back() > kMaxElements / elements)
      throw std::runtime_error(fmt::format("the model's input {} has more than {} elements",
                                           input.at("name").dump(), kMaxElements));
    elements *= shape.back();
  }
  return shape;
}

/// Numbers that every type of the protocol can hold: 0 or 1; fractions where it has fractions.
Json data_of(const std::string& type, std::int64_t elements, RandomStream& random) {
  Json data = Json::array();
  for (std::int64_t i = 0; i < elements; ++i) {
    if (type == "BYTES")
      data.push_back(kPromptMark);
    else if (type == "BOOL")
      data.push_back(random.below(2) == 1);
    else if (type.starts_with("FP") || type == "BF16")
      data.push_back(static_cast<double>(random.below(1000)) / 1000);
    else
      data.push_back(random.below(2));
  }
  return data;
}

Json infer_request(const Json& about, std::uint64_t seed) {
  RandomStream random(seed, 0);
  Json inputs = Json::array();
  for (const Json& input : about.at("inputs")) {
    const auto shape = shape_of(input);
    std::int64_t elements = 1;
    for (const std::int64_t dimension : shape) elements *= dimension;
    const auto type = input.at("datatype").get<std::string>();
    inputs.push_back({{"name", input.at("name")},
                      {"shape", shape},
                      {"datatype", type},
                      {"data", data_of(type, elements, random)}});
  }
  return {{"inputs", inputs}};
}

}  // namespace

std::span<const Api> apis() { return kApis; }

const Api& api_named(const std::string& name) {
  return *std::ranges::find(kApis, std::string_view(name), &Api::name);
}

Json request_template(const Api& api, const std::string& model, const Json& about,
                      std::uint64_t seed) {
  const Json tokens = "{output_tokens}";
  const Json with_usage = {{"include_usage", true}};
  switch (api.id) {
    case ApiName::openai_chat:
      return {{"model", model},
              {"messages", {{{"role", "user"}, {"content", kPromptMark}}}},
              {"max_tokens", tokens},
              {"stream", true},
              {"stream_options", with_usage}};
    case ApiName::openai_completions:
      return {{"model", model},
              {"prompt", kPromptMark},
              {"max_tokens", tokens},
              {"stream", true},
              {"stream_options", with_usage}};
    case ApiName::triton_generate:
      return {{"text_input", kPromptMark}, {"max_tokens", tokens}, {"stream", true}};
    case ApiName::triton:
      try {
        return infer_request(about, seed);
      } catch (const Json::exception&) {
        throw std::runtime_error(
            "the server does not describe the inputs of the model as Triton "
            "does: name, datatype and shape of each");
      }
    case ApiName::http:
      return nullptr;
  }
  return nullptr;
}

std::string first_model(const Json& answer) {
  try {
    return answer.at("data").at(0).at("id").get<std::string>();
  } catch (const Json::exception&) {
    throw std::runtime_error("the server names no model in /v1/models; set `model`");
  }
}

}  // namespace doetune::workloads
