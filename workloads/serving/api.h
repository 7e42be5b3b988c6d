// The protocols of inference servers that serving-load speaks.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/protocol/protocol.h"

namespace doetune::workloads {

enum class ApiName { openai_chat, openai_completions, triton_generate, triton, http };

/// What distinguishes a protocol from the others.
struct Api {
  ApiName id;
  std::string_view name;
  std::string_view path;         ///< below the server's address; {model} is replaced
  std::string_view models_path;  ///< where the server tells about its models; empty: nowhere
  bool streams;                  ///< answers are server-sent events
  std::string_view text_key;     ///< end of the keys whose text is generated: content" also means
                                 ///< "reasoning_content"
  std::string_view event_key;    ///< key that every event or answer has
  std::string_view last_event;   ///< event that ends a stream; empty: none
};

/// All protocols; the first is the default.
std::span<const Api> apis();

/// One of apis().
const Api& api_named(const std::string& name);

/// Where a JSON request has these texts, lengths and prompts take their place.
inline constexpr std::string_view kPromptMark = "{prompt}";
inline constexpr std::string_view kOutputTokensMark = "\"{output_tokens}\"";  // with its quotes

/// The request of a protocol with the two marks. For `triton` it has the inputs that the model's
/// metadata (`about`, Triton's answer to GET /v2/models/NAME) lists, with random numbers from
/// `seed`; a variable dimension is 1. Throws std::runtime_error if the metadata lack them, or
/// describe more than a million numbers.
/// Sources: OpenAI API reference, "Create chat completion"; Triton's generate extension; KServe,
/// Open Inference Protocol (V2).
Json request_template(const Api& api, const std::string& model, const Json& about,
                      std::uint64_t seed);

/// The name of the first model in the answer to GET /v1/models. Throws std::runtime_error.
std::string first_model(const Json& answer);

}  // namespace doetune::workloads
