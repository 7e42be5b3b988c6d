#include "workloads/serving/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "workloads/serving/api.h"

namespace doetune::workloads {
namespace {

constexpr std::array<std::string_view, 64> kWords{
    "time",     "year",    "people",   "way",    "day",        "man",    "thing",   "woman",
    "life",     "child",   "world",    "school", "state",      "family", "student", "group",
    "country",  "problem", "hand",     "part",   "place",      "case",   "week",    "company",
    "system",   "program", "question", "work",   "government", "number", "night",   "point",
    "home",     "water",   "room",     "mother", "area",       "money",  "story",   "fact",
    "month",    "lot",     "right",    "study",  "book",       "eye",    "job",     "word",
    "business", "issue",   "side",     "kind",   "head",       "house",  "service", "friend",
    "father",   "power",   "hour",     "game",   "line",       "end",    "member",  "law"};

void append_prompt(int tokens, RandomStream& random, std::string& body) {
  for (int i = 0; i < tokens; ++i) {
    if (i > 0) body.push_back(' ');
    body.append(kWords[random.below(kWords.size())]);
  }
}

/// The body that a line of a file of requests stands for.
Json body_of(Json line, const Json& base, const Json& patch) {
  if (line.contains("body") && line["body"].is_object()) line = Json(line["body"]);
  if (base.is_object() && base.contains("messages") && line.contains("prompt")) {
    if (!line.contains("messages"))
      line["messages"] = {{{"role", "user"}, {"content", line["prompt"]}}};
    line.erase("prompt");
  }
  Json body = Json::object();
  for (const auto& [name, value] : base.items())
    if (value != "{output_tokens}" && value != kPromptMark)  // drawn for generated requests alone
      body[name] = value;
  body.merge_patch(line);
  body.merge_patch(patch);
  return body;
}

}  // namespace

Requests::Requests(const std::string& text, Lengths prompt, Lengths output, std::uint64_t seed)
    : prompt_(prompt), output_(output), seed_(seed) {
  for (std::size_t at = 0; at != std::string::npos;) {
    const std::size_t words = text.find(kPromptMark, at), tokens = text.find(kOutputTokensMark, at);
    const std::size_t end = std::min(words, tokens);
    const bool is_prompt = words < tokens;
    const Mark mark = end == std::string::npos ? Mark::none
                      : is_prompt              ? Mark::prompt
                                               : Mark::output_tokens;
    pieces_.push_back({text.substr(at, end - at), mark});
    const std::size_t length = is_prompt ? kPromptMark.size() : kOutputTokensMark.size();
    at = end == std::string::npos ? end : end + length;
  }
}

void Requests::write(std::uint64_t n, std::string& body) const {
  if (!bodies_.empty()) {
    body = bodies_[n % bodies_.size()];
    return;
  }
  RandomStream random(seed_, n);
  const int prompt = prompt_.draw(random), output = output_.draw(random);
  body.clear();
  for (const Piece& piece : pieces_) {
    body.append(piece.text);
    if (piece.after == Mark::prompt) append_prompt(prompt, random, body);
    if (piece.after == Mark::output_tokens) fmt::format_to(std::back_inserter(body), "{}", output);
  }
}

std::vector<std::string> read_requests(const std::filesystem::path& file, const Json& base,
                                       const Json& patch) {
  std::ifstream in(file);
  if (!in) throw UsageError(fmt::format("request_file: cannot read {}", file.string()));
  std::vector<std::string> bodies;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    Json json = Json::parse(line, nullptr, false);
    if (!json.is_object())
      throw UsageError(
          fmt::format("{}:{}: expected a JSON object, one on each line", file.string(), number));
    bodies.push_back(body_of(std::move(json), base, patch).dump());
  }
  if (bodies.empty())
    throw UsageError(
        fmt::format("{}: expected a JSON object on each line, found none", file.string()));
  return bodies;
}

}  // namespace doetune::workloads
