#include "cli/help/completion.h"

#include <algorithm>
#include <filesystem>
#include <optional>

#include "cli/command.h"
#include "cli/options/study_argument.h"
#include "runner/attempts/workload.h"
#include "study/files.h"

namespace doetune::cli {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

constexpr std::size_t kMaxSettings = 64;

constexpr std::string_view kRepeated = "...";  // "RESULTS...": one or more

/// The placeholders of arguments: DIR for "[DIR] --runs N", two for "STUDY.yaml TABLE.csv".
Words placeholders(std::string_view arguments) {
  Words names;
  while (!arguments.empty()) {
    const std::size_t end = std::min(arguments.find(' '), arguments.size());
    std::string name(arguments.substr(0, end));
    arguments.remove_prefix(std::min(end + 1, arguments.size()));
    std::erase_if(name, [](char c) { return c == '[' || c == ']'; });
    if (name.starts_with("-")) break;
    names.push_back(name);
  }
  return names;
}

class Completer {
 public:
  Completer(const Command& command, const Words& words)
      : command_(command), rows_(options_.rows()), current_(words.back()) {
    bool literal = false;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
      const std::string& word = words[i];
      awaited_.reset();
      if (literal || !word.starts_with("-")) {
        given_.push_back(word);
      } else if (word == "--") {
        literal = true;
      } else if (const OptionRow* row = row_of(word); row != nullptr && !row->value.empty()) {
        if (i + 2 < words.size())
          ++i;  // skips its value
        else
          awaited_ = *row;
      }
    }
  }

  std::vector<Candidate> candidates() {
    const std::size_t equals = current_.find('=');
    if (awaited_) {
      add_values(*awaited_, "");
    } else if (current_.starts_with("--") && equals != std::string::npos) {
      const OptionRow* row = row_of(current_.substr(0, equals));
      if (row != nullptr) add_values(*row, current_.substr(0, equals + 1));
    } else if (current_.starts_with("-")) {
      for (const OptionRow& row : rows_) add(row.name, row.description);
    } else {
      add_arguments();
    }
    return found_;
  }

 private:
  const OptionRow* row_of(const std::string& name) const {
    const auto found = std::find_if(rows_.begin(), rows_.end(), [&](const OptionRow& row) {
      return row.name == name || row.short_name == name;
    });
    return found == rows_.end() ? nullptr : &*found;
  }

  void add(const std::string& word, const std::string& description = "") {
    if (word.starts_with(current_)) found_.push_back({word, description});
  }

  void add_values(const OptionRow& row, const std::string& before) {
    const Choices* choices = options_.choices_of(row.name.substr(2));
    if (choices != nullptr) return add_list(choices->words, before);
    if (row.value == "DIR" || row.value == "PATH" || row.value == "FILE") {
      return add_files(row.value, before);
    }
    const std::optional<study::Study> study = study_meant();
    if (!study) return;
    Words names;
    if (row.value.starts_with("RESPONSE")) {
      for (const study::Response& response : study->responses) names.push_back(response.name);
    } else if (row.value.starts_with("FACTOR")) {
      names = study->factor_names();
    }
    if (row.value.find('=') == std::string::npos) return add_list(names, before);
    add_assignments(*study, names, before);
  }

  /// Adds words as candidates, also after the last comma of a list.
  void add_list(const Words& words, const std::string& before) {
    const std::size_t comma = current_.rfind(',');
    const std::string kept = comma == std::string::npos ? before : current_.substr(0, comma + 1);
    for (const std::string& word : words) add(kept + word);
  }

  void add_assignments(const study::Study& study, const Words& names, const std::string& before) {
    for (const std::string& name : names) {
      const std::string start = before + name + "=";
      if (!current_.starts_with(start)) {
        add(start);
      } else if (study.find_response(name) != nullptr) {
        for (const std::string& goal : goal_words()) add(start + goal);
      } else {
        add_settings(study, name, start);
      }
    }
  }

  void add_settings(const study::Study& study, const std::string& name, const std::string& start) {
    for (const doe::Factor& factor : study.factors) {
      if (factor.name != name) continue;
      const std::vector<double> settings = factor.usable_settings();
      if (settings.size() > kMaxSettings) return;
      for (const double setting : settings) add(start + factor.format(setting));
    }
  }

  void add_arguments() {
    const Words names = placeholders(command_.arguments);
    const bool repeats = !names.empty() && names.back().ends_with(kRepeated);
    if (given_.size() >= names.size() && !repeats) return;
    std::string name = names[std::min(given_.size(), names.size() - 1)];
    if (name.ends_with(kRepeated)) name.resize(name.size() - kRepeated.size());
    if (const Choices* choices = options_.choices_of(name)) {
      for (const std::string& word : choices->words) add(word);
    } else {
      add_files(name, "");
    }
  }

  /// Adds files that match a placeholder such as DIR or STUDY.yaml, and directories that may lead
  /// to them.
  void add_files(const std::string& placeholder, const std::string& before) {
    const fs::path typed = current_.substr(before.size());
    const std::string folder = typed.has_parent_path() ? typed.parent_path() / "" : "";
    const std::string extension = fs::path(placeholder).extension();
    const bool hidden = typed.filename().string().starts_with(".");
    std::error_code error;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(folder.empty() ? "." : folder, error)) {
      const std::string name = entry.path().filename();
      if (name.starts_with(".") && !hidden) continue;
      const bool is_study = study::is_study_directory(entry.path());
      if (entry.is_directory(error)) {
        add(before + folder + name + (is_study && extension.empty() ? "" : "/"));
      } else if (placeholder != "DIR" &&
                 (extension.empty() || entry.path().extension() == extension)) {
        add(before + folder + name);
      }
    }
    std::sort(found_.begin(), found_.end(),
              [](const Candidate& a, const Candidate& b) { return a.word < b.word; });
  }

  /// The study named on the command line; empty if it cannot be read.
  std::optional<study::Study> study_meant() const {
    try {
      std::optional<fs::path> argument;
      if (!given_.empty()) argument = given_.front();
      return study::load_study(study::find_directory(argument) / "study.yaml");
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const Command& command_;
  Options options_{command_};
  std::vector<OptionRow> rows_;
  std::string current_;
  Words given_;                       ///< positional arguments before the current word
  std::optional<OptionRow> awaited_;  ///< the option whose value is being completed
  std::vector<Candidate> found_;
};

std::vector<Candidate> command_candidates(const std::string& typed) {
  std::vector<Candidate> found;
  const auto add = [&](std::string_view word, std::string_view description) {
    if (word.starts_with(typed)) found.push_back({std::string(word), std::string(description)});
  };
  for (const Command& command : commands()) add(command.name, command.summary);
  add("help", "show the help of a command");
  if (typed.starts_with("-")) {
    add("--help", "list the commands");
    add("--version", "print the version");
  }
  return found;
}

/// Arguments of `workload` after its name: the workload's factors.
std::vector<Candidate> factor_candidates(const Words& words) {
  std::vector<Candidate> found;
  try {
    for (const runner::WorkloadFactor& factor :
         runner::describe_workload(runner::find_workload(words[1])).factors) {
      if (("--" + factor.name).starts_with(words.back())) {
        found.push_back({"--" + factor.name, factor.description});
      }
    }
  } catch (const std::exception&) {
    return {};
  }
  return found;
}

}  // namespace

std::vector<Candidate> completions(const std::vector<std::string>& words) {
  if (words.empty()) return command_candidates("");
  if (words.size() == 1) return command_candidates(words[0]);
  if (words[0] == "help") return command_candidates(words.back());
  const Command* command = find_command(words[0]);
  if (command == nullptr) return {};
  if (command->name == "workload" && words.size() > 2) return factor_candidates(words);
  return Completer(*command, words).candidates();
}

}  // namespace doetune::cli
