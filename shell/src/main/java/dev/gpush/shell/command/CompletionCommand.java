package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "completion",
    header = "Print the completion script for your shell",
    description = {
      "For bash, zsh or fish. The script asks gpush itself, so it is never out of date. In"
          + " ~/.bashrc or ~/.zshrc: eval \"$(gpush completion bash)\"; in fish: gpush completion"
          + " fish | source"
    },
    footer = {"$ eval \"$(gpush completion bash)\""})
final class CompletionCommand implements Action {
  static final List<String> SHELLS = List.of("bash", "zsh", "fish");

  @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish")
  String shell;

  @Override
  public boolean hasJson() {
    return false;
  }

  @Override
  public int run(Call call) {
    switch (Values.oneOf("completion", "SHELL", shell, SHELLS)) {
      case "bash" -> call.print(BASH);
      case "zsh" -> call.print(ZSH);
      default -> call.print(FISH);
    }
    return 0;
  }

  static final String BASH =
      """
      # gpush completion for bash: eval "$(gpush completion bash)"
      _gpush() {
        local line current=${COMP_WORDS[COMP_CWORD]}
        COMPREPLY=()
        while IFS= read -r line; do
          if [[ $line == :files ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
          else
            COMPREPLY+=("${line%%$'\\t'*}")
          fi
        done < <(gpush __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
      }
      complete -F _gpush gpush
      """;

  static final String ZSH =
      """
      #compdef gpush
      # gpush completion for zsh: eval "$(gpush completion zsh)"
      _gpush() {
        local line word
        local -a names open
        local -i none=1
        for line in "${(@f)$(gpush __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
          if [[ $line == :files ]]; then
            _files && none=0
          elif [[ -n $line ]]; then
            word=${line%%$'\\t'*}
            line="${word//:/\\\\:}${${line#"$word"}/$'\\t'/:}"
            if [[ $word == *[:=] ]]; then open+=("$line"); else names+=("$line"); fi
          fi
        done
        (( ${#names} )) && _describe gpush names && none=0
        (( ${#open} )) && _describe gpush open -S '' && none=0
        return none
      }
      if [[ ${funcstack[1]:-} == _gpush ]]; then
        _gpush "$@" # This file is a function that is loaded at the first Tab.
      else
        (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
        compdef _gpush gpush
      fi
      """;

  static final String FISH =
      """
      # gpush completion for fish: gpush completion fish | source
      function __gpush_complete
        set -l before (commandline -opc)
        set -l current (commandline -ct)
        for line in (gpush __complete -- $before[2..-1] "$current" 2>/dev/null)
          if test "$line" = :files
            __fish_complete_path "$current"
          else
            echo $line
          end
        end
      end
      complete -c gpush -f -a '(__gpush_complete)'
      """;
}
