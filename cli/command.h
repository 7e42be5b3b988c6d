// A subcommand: its row in the table, its options, its exit code.
#pragma once

#include <boost/program_options.hpp>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace doetune::cli {

/// What every command can end with; scripts depend on these.
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

struct Command {
  std::string_view name;
  std::string_view arguments;  ///< as shown in help: "STUDY.yaml"
  std::string_view summary;
  std::string_view example;
  int (*run)(const Command& command, const std::vector<std::string>& arguments);
};

std::span<const Command> commands();

/// The command of a name; null if there is none.
const Command* find_command(std::string_view name);

/// A command line that cannot be understood. Exit code 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The options of one command over Boost.Program_options, without abbreviations. Every command has
/// --help and --json.
class Options {
 public:
  explicit Options(const Command& command);

  boost::program_options::options_description_easy_init add() { return visible_.add_options(); }

  /// Positional arguments are collected under `name`; at most `most` of them (-1: any number).
  void add_positional(const char* name, int most);

  /// Returns false if --help was asked for and has been printed. Throws UsageError, naming the
  /// nearest option for one that is unknown.
  bool parse(const std::vector<std::string>& arguments);

  bool has(const std::string& name) const { return values_.count(name) > 0; }
  bool json() const { return has("json"); }

  std::string text(const std::string& name, const std::string& otherwise = "") const;
  int integer(const std::string& name, int otherwise) const;
  std::vector<std::string> list(const std::string& name) const;

  /// The only positional argument; throws UsageError naming what is missing.
  std::string required(const std::string& name) const;

 private:
  void print_help() const;

  const Command& command_;
  boost::program_options::options_description visible_;
  boost::program_options::options_description hidden_;
  boost::program_options::positional_options_description positional_;
  boost::program_options::variables_map values_;
};

}  // namespace doetune::cli
