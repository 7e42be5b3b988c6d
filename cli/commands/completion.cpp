#include <fmt/format.h>

#include <array>

#include "base/json_format.h"
#include "cli/commands/commands.h"
#include "cli/documents.h"
#include "cli/help/completion.h"
#include "cli/terminal/terminal.h"

namespace doetune::cli {
namespace {

struct Shell {
  const char* name;
  const char* script;
};

// The scripts call `doetune completion --words`, so that they match the installed version.
constexpr std::array kShells{
    Shell{"bash",
          R"(# bash completion of doetune. For this shell:  source <(doetune completion bash)
# For all later ones:  doetune completion bash >~/.local/share/bash-completion/completions/doetune
_doetune() {
  local line="${COMP_LINE:0:COMP_POINT}" words candidate
  read -ra words <<<"$line"
  [[ $line == *[[:space:]] ]] && words+=("")
  local current="${words[-1]}"
  # Readline completes what follows the last = or : of a word.
  local kept="${current%"${current##*[=:]}"}"
  COMPREPLY=()
  while IFS=$'\t' read -r candidate _; do
    COMPREPLY+=("${candidate#"$kept"}")
  done < <("${words[0]}" completion --words "${words[@]:1}" 2>/dev/null)
  if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=:/,] ]]; then
    compopt -o nospace 2>/dev/null
  fi
}
complete -F _doetune doetune
)"},
    Shell{"zsh", R"(#compdef doetune
# zsh completion of doetune. For this shell:  source <(doetune completion zsh)
# For all later ones:  doetune completion zsh >"${fpath[1]}/_doetune"
_doetune() {
  local -a complete_words complete_texts open_words open_texts
  local word text
  while IFS=$'\t' read -r word text; do
    if [[ $word == *[=:/,] ]]; then
      open_words+=("$word")
      open_texts+=("$word${text:+  -- $text}")
    else
      complete_words+=("$word")
      complete_texts+=("$word${text:+  -- $text}")
    fi
  done < <("${words[1]}" completion --words "${(@)words[2,CURRENT]}" 2>/dev/null)
  compadd -l -d complete_texts -a complete_words
  compadd -S '' -l -d open_texts -a open_words
}
if [ "$funcstack[1]" = "_doetune" ]; then
  _doetune "$@"
else
  compdef _doetune doetune
fi
)"},
    Shell{"fish", R"(# fish completion of doetune. For this shell:  doetune completion fish | source
# For all later ones:  doetune completion fish >~/.config/fish/completions/doetune.fish
function __doetune_words
    set -l words (commandline -opc) (commandline -ct)
    $words[1] completion --words $words[2..-1] 2>/dev/null
end
complete -c doetune -f -a '(__doetune_words)'
)"},
};

json::Format<Shell> script_format() { return json::document<Shell>({{"script", &Shell::script}}); }

}  // namespace

json::Schema completion_schema() { return script_format().schema; }

void describe_completion(Options& options) {
  Choices shells;
  for (const Shell& shell : kShells) shells.words.emplace_back(shell.name);
  options.choices("SHELL", std::move(shells));
  options.add_positional("SHELL", 1);
  options.add()("words",
                "print the possible completions of the last of the following words, one per line "
                "(used by the scripts)");
}

int command_completion(const Command& command, const Arguments& arguments) {
  if (!arguments.empty() && arguments[0] == "--words") {
    for (const Candidate& candidate : completions({arguments.begin() + 1, arguments.end()})) {
      fmt::print("{}\t{}\n", candidate.word, candidate.description);
    }
    return kDone;
  }
  Options options(command);
  if (!options.parse(arguments)) return kDone;
  const std::string name = options.required("SHELL");
  for (const Shell& shell : kShells) {
    if (name != shell.name) continue;
    if (options.json()) {
      fmt::print("{}", script_format().text(shell));
    } else {
      fmt::print("{}", shell.script);
    }
  }
  return kDone;
}

}  // namespace doetune::cli
