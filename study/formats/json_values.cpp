#include "study/formats/json_values.h"

#include <fmt/format.h>

#include <cmath>

namespace doetune::study {
namespace {

using nlohmann::json;
using Visit = std::function<void(const std::string& key, const std::string& cell)>;

constexpr int kMaxDepth = 16;

void visit_below(const json& value, const std::string& key, int depth, const Visit& visit) {
  if (depth > kMaxDepth) return;
  if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      visit_below(member, key.empty() ? name : key + "." + name, depth + 1, visit);
    }
  } else if (value.is_array()) {
    if (value.size() == 1) visit_below(value[0], key, depth + 1, visit);
  } else if (const std::string cell = cell_of(value); !cell.empty()) {
    visit(key, cell);
  }
}

}  // namespace

std::string cell_of(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_float()) return fmt::format("{}", value.get<double>());
  return value.is_number() ? value.dump() : "";
}

std::optional<double> number_of(const json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  const double number = found->get<double>();
  return std::isfinite(number) ? std::optional<double>(number) : std::nullopt;
}

std::string text_of_key(const json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

void for_each_value(const json& object, const Visit& visit) { visit_below(object, "", 0, visit); }

}  // namespace doetune::study
