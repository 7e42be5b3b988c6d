#include <fmt/format.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/terminal.h"
#include "doe/design.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kDesignIndent = 22;

void print_type(const doe::DesignType& type) {
  const std::string options = fmt::format("{}", fmt::join(doe::option_names(type), ", "));
  fmt::print("{}{}{}\n", coloured(std::string(type.name), Colour::kStrong),
             std::string(kDesignIndent - type.name.size(), ' '),
             wrapped(std::string(type.summary), kDesignIndent, kColumns));
  fmt::print("{:{}}{}\n", "", kDesignIndent,
             wrapped(fmt::format("options: {}", options), kDesignIndent, kColumns));
  fmt::print("{:{}}{}\n", "", kDesignIndent,
             coloured(wrapped(std::string(type.source), kDesignIndent, kColumns), Colour::kFaint));
}

}  // namespace

int command_designs(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  for (const doe::DesignType& type : doe::design_types()) {
    list.push_back({{"type", type.name},
                    {"summary", type.summary},
                    {"source", type.source},
                    {"options", doe::option_names(type)},
                    {"default_model", type.default_model}});
    if (!options.json()) print_type(type);
  }
  if (options.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema_version", 1}, {"designs", list}}.dump(2));
  }
  return kDone;
}

}  // namespace doetune::cli
