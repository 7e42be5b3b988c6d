#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/command_list.h"
#include "cli/terminal.h"
#include "doe/design.h"

namespace doetune::cli {

int command_designs(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  nlohmann::ordered_json list = nlohmann::ordered_json::array();
  TextTable table({"type", "what it is for", "source"});
  for (const doe::DesignType& type : doe::design_types()) {
    list.push_back({{"type", type.name}, {"summary", type.summary}, {"source", type.source}});
    table.add({std::string(type.name), std::string(type.summary), std::string(type.source)});
  }
  if (options.json()) {
    fmt::print("{}\n", nlohmann::ordered_json{{"schema_version", 1}, {"designs", list}}.dump(2));
  } else {
    fmt::print("{}", table.str());
  }
  return kDone;
}

}  // namespace doetune::cli
