#include "cli/command.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest_name.h"
#include "cli/help/help.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

/// Boost's Unix style without abbreviated options.
constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

}  // namespace

Options::Options(const Command& command) : command_(command) {
  if (command.describe != nullptr) command.describe(*this);
  visible_.add_options()("json", "print one JSON document on standard output")("help,h",
                                                                               "print this help");
}

const Choices* Options::choices_of(const std::string& name) const {
  const auto found = choices_.find(name);
  return found == choices_.end() ? nullptr : &found->second;
}

std::vector<OptionRow> Options::rows() const {
  std::vector<OptionRow> rows;
  for (const auto& option : visible_.options()) {
    const std::string short_name =
        option->canonical_display_name(po::command_line_style::allow_dash_for_short);
    rows.push_back({"--" + option->long_name(), short_name.starts_with('-') ? short_name : "",
                    option->semantic()->min_tokens() == 0 ? "" : option->semantic()->name(),
                    option->description()});
  }
  return rows;
}

void Options::check_choices() const {
  for (const auto& [name, choices] : choices_) {
    if (choices.others || !has(name)) continue;
    const bool is_option = visible_.find_nothrow(name, false) != nullptr;
    const std::vector<std::string>& known = choices.words;
    for (const std::string& word : is_option ? std::vector{text(name)} : list(name)) {
      if (std::find(known.begin(), known.end(), word) != known.end()) continue;
      throw UsageError(fmt::format("doetune {}: {}{}: unknown value '{}'{}", command_.name,
                                   is_option ? "--" : "", name, word,
                                   did_you_mean_or_list(word, known)));
    }
  }
}

void Options::add_positional(const char* name, int max_count) {
  hidden_.add_options()(name, po::value<std::vector<std::string>>());
  positional_.add(name, max_count);
}

/// The error message for an option with a missing or an unexpected value.
std::string Options::without_value(const po::invalid_command_line_syntax& error) const {
  for (const OptionRow& row : rows()) {
    if (row.name != error.get_option_name() && row.short_name != error.get_option_name()) continue;
    return fmt::format("doetune {}: {} {}", command_.name, row.name,
                       row.value.empty()
                           ? "takes no value"
                           : fmt::format("needs a value: {} {}", row.name, row.value));
  }
  return fmt::format("doetune {}: {}", command_.name, error.what());
}

bool Options::parse(const std::vector<std::string>& arguments) {
  po::options_description all;
  all.add(visible_).add(hidden_);
  try {
    po::store(
        po::command_line_parser(arguments).options(all).positional(positional_).style(kStyle).run(),
        values_);
    po::notify(values_);
  } catch (const po::unknown_option& error) {
    throw UsageError(
        fmt::format("doetune {}: unknown option '{}'{}", command_.name, error.get_option_name(),
                    did_you_mean_or_list(error.get_option_name(), option_names(visible_))));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError(fmt::format("doetune {}: too many arguments; usage: {}", command_.name,
                                 usage_text(command_)));
  } catch (const po::invalid_command_line_syntax& error) {
    throw UsageError(without_value(error));
  } catch (const po::validation_error& error) {
    throw UsageError(
        fmt::format("doetune {}: {}; expected an integer", command_.name, error.what()));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("doetune {}: {}", command_.name, error.what()));
  }
  if (has("help")) {
    fmt::print("{}", help_text(command_, *this));
    return false;
  }
  check_choices();
  return true;
}

std::string Options::text(const std::string& name, const std::string& otherwise) const {
  return has(name) ? values_[name].as<std::string>() : otherwise;
}

int Options::integer(const std::string& name, int otherwise) const {
  return has(name) ? values_[name].as<int>() : otherwise;
}

std::vector<std::string> Options::list(const std::string& name) const {
  return has(name) ? values_[name].as<std::vector<std::string>>() : std::vector<std::string>{};
}

std::string Options::required(const std::string& name) const {
  const std::vector<std::string> given = list(name);
  if (!given.empty() && !given.front().empty()) return given.front();
  throw UsageError(fmt::format("doetune {}: {} is missing; usage: {}\n  for example: {}",
                               command_.name, name, usage_text(command_),
                               command_.example.substr(0, command_.example.find('\n'))));
}

}  // namespace doetune::cli
