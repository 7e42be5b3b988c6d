#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/terminal/terminal.h"
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

using Types = std::span<const doe::DesignType>;

json::Format<Types> types_format() {
  using doe::DesignType;
  const auto type = json::object<DesignType>({{"type", &DesignType::name},
                                              {"summary", &DesignType::summary},
                                              {"source", &DesignType::source},
                                              {"options", doe::option_names},
                                              {"default_model", &DesignType::default_model}});
  return json::document<Types>({{"designs", std::identity(), type}});
}

}  // namespace

json::Schema designs_schema() { return types_format().schema; }

int command_designs(const Command& command, const Arguments& arguments) {
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const Types types = doe::design_types();
  if (options.json()) {
    fmt::print("{}", types_format().text(types));
  } else {
    for (const doe::DesignType& type : types) print_type(type);
  }
  return kDone;
}

}  // namespace doetune::cli
