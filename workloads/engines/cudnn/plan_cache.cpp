#include "workloads/engines/cudnn/plan_cache.h"

#include <fmt/format.h>

#include <cctype>
#include <charconv>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "base/files.h"

namespace doetune::workloads::cudnn {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kEverything = "everything";
constexpr std::string_view kBias = "bias";

std::optional<std::int64_t> number(const std::string& text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<Choice> choice_of(const Json& json) {
  if (!json.is_object()) return std::nullopt;
  const Json fusion = json.value("fusion", Json());
  const Json engine = json.value("engine", Json());
  const Json knobs = json.value("knobs", Json());
  if ((fusion != kEverything && fusion != kBias) || !engine.is_number_integer() ||
      !knobs.is_object())
    return std::nullopt;
  Choice choice{fusion == kBias ? Fusion::bias : Fusion::everything, {engine, {}}};
  for (const auto& [name, value] : knobs.items()) {
    const auto type = number(name);
    if (!type || !value.is_number_integer()) return std::nullopt;
    choice.configuration.knobs[*type] = value;
  }
  return choice;
}

Json json_of(const Choice& choice) {
  Json knobs = Json::object();
  for (const auto& [type, value] : choice.configuration.knobs) knobs[std::to_string(type)] = value;
  return {{"fusion", choice.fusion == Fusion::bias ? kBias : kEverything},
          {"engine", choice.configuration.engine},
          {"knobs", knobs}};
}

std::map<std::string, Choice> read(const std::filesystem::path& path) {
  std::map<std::string, Choice> choices;
  std::ifstream in(path);
  const Json json = Json::parse(in, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return choices;
  for (const auto& [key, value] : json.items())
    if (const auto choice = choice_of(value)) choices.emplace(key, *choice);
  return choices;
}

}  // namespace

PlanCache::PlanCache(const std::filesystem::path& directory, std::string_view gpu,
                     std::size_t version) {
  if (directory.empty()) return;
  std::string name;
  for (const char c : gpu) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '-';
  path_ = directory / fmt::format("cudnn-{}-{}.json", version, name);
  choices_ = read(path_);
}

std::optional<Choice> PlanCache::find(const std::string& key) const {
  const auto found = choices_.find(key);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void PlanCache::add(const std::string& key, const Choice& choice) {
  choices_[key] = choice;
  changed_ = true;
}

void PlanCache::save() {
  if (!changed_ || path_.empty()) return;
  choices_.merge(read(path_));
  Json json = Json::object();
  for (const auto& [key, choice] : choices_) json[key] = json_of(choice);
  std::error_code ignored;
  std::filesystem::create_directories(path_.parent_path(), ignored);
  try {
    replace_file(path_, json.dump(1) + '\n');
  } catch (const std::runtime_error&) {  // the next program chooses again
  }
  changed_ = false;
}

}  // namespace doetune::workloads::cudnn
