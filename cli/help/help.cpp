#include "cli/help/help.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/terminal.h"

namespace doetune::cli {
namespace {

constexpr std::size_t kWidestLeft = 30;  // maximum width of options with the description beside
                                         // them

std::string left_of(const OptionRow& row) {
  return fmt::format("  {:<2}{} {}{}{}", row.short_name, row.short_name.empty() ? " " : ",",
                     row.name, row.value.empty() ? "" : " ", row.value);
}

std::string options_text(const Options& options) {
  const std::vector<OptionRow> rows = options.rows();
  std::size_t widest = 0;
  for (const OptionRow& row : rows) {
    const std::size_t width = left_of(row).size();
    if (width <= kWidestLeft) widest = std::max(widest, width);
  }
  const std::size_t indent = widest + 2;
  std::string text;
  for (const OptionRow& row : rows) {
    const std::string left = left_of(row);
    const bool beside = left.size() <= widest;
    text +=
        left + (beside ? std::string(indent - left.size(), ' ') : '\n' + std::string(indent, ' '));
    text += wrapped(row.description, indent, kColumns) + '\n';
  }
  return text;
}

std::string examples_text(std::string_view lines) {
  std::string text = lines.find('\n') == std::string_view::npos ? "Example:\n" : "Examples:\n";
  while (!lines.empty()) {
    const std::size_t end = std::min(lines.find('\n'), lines.size());
    text += fmt::format("  {}\n", lines.substr(0, end));
    lines.remove_prefix(std::min(end + 1, lines.size()));
  }
  return text;
}

}  // namespace

std::string usage_text(const Command& command) {
  return fmt::format("doetune {}{}{}", command.name, command.arguments.empty() ? "" : " ",
                     command.arguments);
}

std::string help_text(const Command& command, const Options& options) {
  return fmt::format("doetune {}: {}\n\n{}\nUsage: {} [options]\n\nOptions:\n{}", command.name,
                     command.summary, examples_text(command.example), usage_text(command),
                     options_text(options));
}

std::string commands_text() {
  std::string text =
      "doetune finds the best settings of a GPU system with few, well-chosen runs.\n"
      "\n"
      "Examples:\n"
      "  doetune init study.yaml            a study file to edit\n"
      "  doetune check study.yaml           one run, to see that it works\n"
      "  doetune plan study.yaml            choose the runs\n"
      "  doetune run study                  execute them\n"
      "  doetune report study               see what is best, and how certain that is\n"
      "\n"
      "Commands:\n";
  for (const Command& command : commands()) {
    text += fmt::format("  {:<10}  {}\n", command.name,
                        wrapped(std::string(command.summary), 14, kColumns));
  }
  return text +
         "\n"
         "`doetune help COMMAND` describes a command; `doetune --version` prints the version.\n";
}

}  // namespace doetune::cli
