#include "cli/command.h"

#include <fmt/format.h>
#include <fmt/ostream.h>

#include <iostream>

#include "doe/nearest_name.h"

namespace po = boost::program_options;

namespace doetune::cli {
namespace {

/// Boost's usual Unix style without guessing at abbreviated options.
constexpr int kStyle = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

}  // namespace

Options::Options(const Command& command) : command_(command), visible_("Options", 90) {
  visible_.add_options()("json", "print one JSON document on standard output")("help,h",
                                                                               "print this help");
}

void Options::add_positional(const char* name, int most) {
  hidden_.add_options()(name, po::value<std::vector<std::string>>());
  positional_.add(name, most);
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
                    doe::did_you_mean(error.get_option_name(), option_names(visible_))));
  } catch (const po::too_many_positional_options_error&) {
    throw UsageError(fmt::format("doetune {}: too many arguments; usage: doetune {} {}",
                                 command_.name, command_.name, command_.arguments));
  } catch (const po::error& error) {
    throw UsageError(fmt::format("doetune {}: {}", command_.name, error.what()));
  }
  if (!has("help")) return true;
  print_help();
  return false;
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
  if (!given.empty()) return given.front();
  throw UsageError(fmt::format("doetune {}: {} is missing; usage: doetune {} {}\n  for example: {}",
                               command_.name, name, command_.name, command_.arguments,
                               command_.example));
}

void Options::print_help() const {
  fmt::print("{}\n\nExample:\n  {}\n\nUsage: doetune {} {} [options]\n\n", command_.summary,
             command_.example, command_.name, command_.arguments);
  std::cout << visible_;
}

}  // namespace doetune::cli
