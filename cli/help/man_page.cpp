#include "cli/help/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

#include "analysis/format.h"
#include "base/version.h"
#include "cli/terminal/terminal.h"
#include "study/file/schema.h"

namespace doetune::cli {
namespace {

using Kind = study::Schema::Kind;

/// Escapes text for roff.
std::string plain(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if ((c == '.' || c == '\'') && (escaped.empty() || escaped.back() == '\n')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

std::string title(const std::string& name, int section) {
  return fmt::format(".TH \"{}\" {} \"{}\" \"doetune {}\" \"doetune\"\n", plain(name), section,
                     release_date(), version());
}

/// A term and its text, in lines of moderate length for readers of the source.
std::string entry(const std::string& term, std::string_view text) {
  constexpr std::size_t kSourceColumns = 72;
  return fmt::format(".TP\n{}\n{}\n", term, plain(wrapped(std::string(text), 0, kSourceColumns)));
}

std::string heading(std::string_view name) { return fmt::format(".SH {}\n", name); }

std::string exit_status() {
  std::string text = heading("EXIT STATUS");
  for (const auto& [code, meaning] : exit_meanings()) {
    text += entry(bold(std::to_string(code)), meaning);
  }
  return text;
}

std::string options_section(const Options& options) {
  std::string text = heading("OPTIONS");
  for (const OptionRow& row : options.rows()) {
    const std::string short_name = row.short_name.empty() ? "" : bold(row.short_name) + ", ";
    const std::string value = row.value.empty() ? "" : " " + italic(row.value);
    text += entry(short_name + bold(row.name) + value, row.description);
  }
  return text;
}

/// The values that a key of the study file may have, in words.
std::string kind_text(const study::Schema& schema) {
  const auto range = [&](const char* noun) {
    if (std::isfinite(schema.minimum) && std::isfinite(schema.maximum)) {
      return fmt::format("{} from {:.17g} to {:.17g}", noun, schema.minimum, schema.maximum);
    }
    return std::isfinite(schema.minimum) ? fmt::format("{} from {:.17g}", noun, schema.minimum)
                                         : std::string(noun);
  };
  switch (schema.kind) {
    case Kind::kText:
      return "text";
    case Kind::kNumber:
      return range("a number");
    case Kind::kInteger:
      return range("an integer");
    case Kind::kBoolean:
      return "true or false";
    case Kind::kDuration:
      return "a duration, such as 30 s";
    case Kind::kEnum:
      return fmt::format("one of {}", fmt::join(schema.words, ", "));
    case Kind::kScalar:
      return "a number or text";
    case Kind::kList:
      return fmt::format("a list, each item {}", kind_text(schema.alternatives.front()));
    case Kind::kObject:
      return "the keys below";
    case Kind::kMap:
      return fmt::format("any names, each with {}", kind_text(schema.alternatives.front()));
    case Kind::kOneOf:
      break;
  }
  std::string text;
  for (const study::Schema& alternative : schema.alternatives) {
    text += (text.empty() ? "" : "; or ") + kind_text(alternative);
  }
  return text;
}

std::string keys_text(const study::Schema& schema) {
  std::string text;
  for (const study::SchemaKey& key : schema.keys) {
    text += entry(bold(key.name),
                  fmt::format("{}{}. {}.", key.description, key.required ? " (required)" : "",
                              analysis::capitalised(kind_text(key.value))));
    const std::string inner = keys_text(key.value);
    if (!inner.empty()) text += ".RS\n" + inner + ".RE\n";
  }
  for (const study::Schema& alternative : schema.alternatives) text += keys_text(alternative);
  return text;
}

}  // namespace

std::string main_page() {
  std::string text =
      title("DOETUNE", 1) + heading("NAME") +
      "doetune \\- find the best settings of a GPU system with few runs\n" + heading("SYNOPSIS") +
      ".B doetune\n.I COMMAND\n[\\fIarguments\\fR] [\\fIoptions\\fR]\n" + heading("DESCRIPTION") +
      "A study file says what to vary, what to run and what the goals are.\n"
      "doetune chooses the runs, executes them, fits response surfaces\n"
      "and finds the settings that meet the goals.\n" +
      heading("COMMANDS");
  for (const Command& command : commands()) {
    const std::string arguments = command.arguments.empty() ? "" : " " + italic(command.arguments);
    text += entry(bold(command.name) + arguments, command.summary);
  }
  return text + exit_status() + heading("ENVIRONMENT") +
         entry(bold("NO_COLOR"), "if it is set and not empty, output has no colours") +
         heading("SEE ALSO") + "\\fBdoetune\\-\\fICOMMAND\\fR(1), \\fBdoetune\\-study\\fR(5)\n";
}

std::string command_page(const Command& command) {
  const std::string name = fmt::format("doetune-{}", command.name);
  std::string capitals = name;
  for (char& c : capitals) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return title(capitals, 1) + heading("NAME") + plain(name) + " \\- " + plain(command.summary) +
         "\n" + heading("SYNOPSIS") +
         fmt::format("{}{}{} [\\fIoptions\\fR]\n", bold(fmt::format("doetune {}", command.name)),
                     command.arguments.empty() ? "" : " ",
                     command.arguments.empty() ? "" : italic(command.arguments)) +
         options_section(Options(command)) + heading("EXAMPLES") +
         fmt::format(".nf\n{}\n.fi\n", plain(command.example)) + exit_status() +
         heading("SEE ALSO") + "\\fBdoetune\\fR(1), \\fBdoetune\\-study\\fR(5)\n";
}

std::string study_page() {
  return title("DOETUNE-STUDY", 5) + heading("NAME") +
         "doetune\\-study \\- the study file of doetune\n" + heading("DESCRIPTION") +
         "A YAML file that says what to vary, what to run and what the goals are.\n"
         "\\fBdoetune init\\fR writes one to start from.\n" +
         heading("KEYS") + keys_text(study::study_schema()) + heading("SEE ALSO") +
         "\\fBdoetune\\fR(1), \\fBdoetune\\-plan\\fR(1), \\fBdoetune\\-schema\\fR(1)\n";
}

}  // namespace doetune::cli
