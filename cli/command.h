// Subcommands: their table, options and exit codes.
#pragma once

#include <boost/program_options.hpp>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::cli {

/// Exit codes of all commands; scripts depend on them.
enum ExitCode : int {
  kDone = 0,
  kInternalError = 1,
  kUsage = 2,
  kStudyFile = 3,
  kStudyDirectory = 4,
  kRunsMissing = 5,
  kNoSettingsMeetGoals = 6,
  kNotConfirmed = 8,
  kInterrupted = 130,
};

/// The meaning of an exit code, for the manual.
struct ExitMeaning {
  ExitCode code;
  std::string_view meaning;
};

std::span<const ExitMeaning> exit_meanings();

class Options;

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as shown in help: "STUDY.yaml"
  std::string_view summary;
  std::string_view example;  ///< command lines, one per line
  int (*run)(const Command& command, const std::vector<std::string>& arguments);
  void (*describe)(Options& options) = nullptr;  ///< declares the options; null if there are only
                                                 ///< the common ones
};

std::span<const Command> commands();

/// The command with this name; null if there is none.
const Command* find_command(std::string_view name);

/// An invalid command line. Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The permitted values of an option or argument.
struct Choices {
  std::vector<std::string> words;
  bool others = false;  ///< whether other values are permitted as well
};

/// An option as shown by help, completion and man pages.
struct OptionRow {
  std::string name;        ///< "--output"
  std::string short_name;  ///< "-o", or empty
  std::string value;       ///< "DIR"; empty if it needs no value
  std::string description;
};

/// The options of one command, on top of Boost.Program_options, without abbreviations. Every
/// command has --help and --json. The options are known without running the command
/// (Command::describe).
class Options {
 public:
  explicit Options(const Command& command);

  boost::program_options::options_description_easy_init add() { return visible_.add_options(); }

  /// Positional arguments are collected under `name`; at most `max_count` of them (-1: unlimited).
  void add_positional(const char* name, int max_count);

  /// Sets the permitted values of an option ("format") or argument ("NAME"); parse() rejects other
  /// values of an option unless `others` is set.
  void choices(const std::string& name, Choices choices) { choices_[name] = std::move(choices); }

  /// Null if there are none.
  const Choices* choices_of(const std::string& name) const;

  std::vector<OptionRow> rows() const;

  /// Returns false if --help was given and has been printed. Throws UsageError for an unknown
  /// option or value, with the most similar one.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  bool json() const { return has("json"); }

  std::string text(const std::string& name, const std::string& otherwise = "") const;
  int integer(const std::string& name, int otherwise) const;
  std::vector<std::string> list(const std::string& name) const;

  /// The only positional argument; throws UsageError naming it if it is missing.
  std::string required(const std::string& name) const;

 private:
  void check_choices() const;
  std::string without_value(const boost::program_options::invalid_command_line_syntax& error) const;

  const Command& command_;
  boost::program_options::options_description visible_;
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
  std::map<std::string, Choices> choices_;
};

}  // namespace doetune::cli
