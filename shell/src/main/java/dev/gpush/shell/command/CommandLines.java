package dev.gpush.shell.command;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.text.Nearest;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/**
 * One verb's command line, parsed by picocli.
 *
 * <p>For verbs whose options end at the first word the words are split off here, before picocli
 * sees them: its own stopAtPositional takes {@code -m} of {@code run -m module} for an option of
 * gpush, and the script's words must not be parsed.
 */
final class CommandLines {
  /** A script's own first word that begins with a dash: {@code run -m module}. */
  private static final String MODULE = "-m";

  private CommandLines() {}

  /** picocli's view of an action and the options that all have. */
  static CommandLine of(Action action, Common common) {
    var line = new CommandLine(action);
    line.addMixin("common", common);
    if (!action.hasJson()) {
      CommandSpec spec = line.getCommandSpec();
      spec.remove(spec.findOption(Common.JSON));
    }
    line.setExpandAtFiles(false);
    line.setOverwrittenOptionsAllowed(false);
    line.setUnmatchedOptionsArePositionalParams(false);
    return line;
  }

  /** The names of the options that every command takes. */
  static Set<String> commonOptions() {
    return of(new WakeCommand(), new Common()).getCommandSpec().optionsMap().keySet();
  }

  /** Fills the action and its options from the arguments after the verb. */
  static void parse(String verb, Action action, Common common, List<String> arguments) {
    CommandLine line = of(action, common);
    List<String> options = arguments;
    if (action instanceof Action.OfWords ofWords) {
      int first = firstWord(line.getCommandSpec(), arguments);
      options = arguments.subList(0, first);
      boolean separated = first < arguments.size() && arguments.get(first).equals("--");
      ofWords.words(arguments.subList(separated ? first + 1 : first, arguments.size()));
    }
    try {
      line.parseArgs(options.toArray(new String[0]));
    } catch (ParameterException wrong) {
      if (common.help) {
        return;
      }
      throw new GpushException(
          new UsageFailure.BadArguments(verb, rule(wrong, action), List.of()), wrong);
    }
  }

  /**
   * Where the verb is: options that all commands take may come before it. At the end if there is
   * none.
   */
  static int verbAt(List<String> arguments) {
    return firstWord(of(new WakeCommand(), new Common()).getCommandSpec(), arguments);
  }

  /** The arguments with the one at this place in front, which is the verb. */
  static List<String> verbFirst(List<String> arguments, int verb) {
    var words = new ArrayList<String>();
    words.add(arguments.get(verb));
    words.addAll(arguments.subList(0, verb));
    words.addAll(arguments.subList(verb + 1, arguments.size()));
    return List.copyOf(words);
  }

  /** What the options before the words name as the session, in a line that is not finished. */
  static Optional<String> session(Action action, List<String> arguments) {
    var common = new Common();
    CommandLine line = of(action, common);
    int end =
        action instanceof Action.OfWords
            ? firstWord(line.getCommandSpec(), arguments)
            : arguments.size();
    line.getCommandSpec().parser().collectErrors(true);
    line.parseArgs(arguments.subList(0, end).toArray(new String[0]));
    return common.session;
  }

  /**
   * Where the words begin: at the first argument that is neither an option nor the value of one.
   */
  static int firstWord(CommandSpec spec, List<String> arguments) {
    int at = 0;
    while (at < arguments.size()) {
      String argument = arguments.get(at);
      if (argument.equals("--")
          || argument.equals("-")
          || argument.equals(MODULE)
          || !argument.startsWith("-")) {
        return at;
      }
      at += takesNext(spec, argument) ? 2 : 1;
    }
    return Math.min(at, arguments.size());
  }

  private static boolean takesNext(CommandSpec spec, String argument) {
    if (argument.startsWith("--")) {
      return takesValue(spec, argument);
    }
    // A cluster: -qs NAME takes the next one, -qsNAME does not.
    for (int i = 1; i < argument.length(); i++) {
      if (takesValue(spec, "-" + argument.charAt(i))) {
        return i == argument.length() - 1;
      }
    }
    return false;
  }

  private static boolean takesValue(CommandSpec spec, String name) {
    OptionSpec option = spec.findOption(name);
    return option != null && option.arity().min() > 0;
  }

  private static String rule(ParameterException wrong, Action action) {
    CommandSpec spec = wrong.getCommandLine().getCommandSpec();
    if (wrong instanceof UnmatchedArgumentException unmatched) {
      String first = unmatched.getUnmatched().getFirst();
      if (!first.startsWith("-") || first.equals("-")) {
        return "it takes no "
            + (spec.positionalParameters().isEmpty() ? "" : "further ")
            + "argument: '"
            + first
            + "'";
      }
      String name = first.contains("=") ? first.substring(0, first.indexOf('=')) : first;
      List<String> nearest = Nearest.to(name, visible(spec));
      return "it has no option "
          + name
          + (nearest.isEmpty() ? "" : "; did you mean " + String.join(" or ", nearest) + "?")
          + (action instanceof Action.OfWords && nearest.isEmpty()
              ? "; options of the script or command come after its name"
              : "");
    }
    if (wrong instanceof CommandLine.MissingParameterException missing) {
      return missing.getMissing().stream()
          .map(
              spot ->
                  spot instanceof OptionSpec option
                      ? option.longestName() + " needs " + option.paramLabel()
                      : "it needs " + spot.paramLabel())
          .collect(Collectors.joining(", "));
    }
    if (wrong instanceof CommandLine.OverwrittenOptionException twice) {
      return twice.getOverwritten() instanceof OptionSpec option
          ? option.longestName() + " is given twice"
          : "an argument is given twice";
    }
    String message = String.valueOf(wrong.getMessage());
    return message.isEmpty()
        ? "its arguments cannot be read"
        : message.substring(0, 1).toLowerCase(java.util.Locale.ROOT) + message.substring(1);
  }

  /** Every name of every option that help shows. */
  static List<String> visible(CommandSpec spec) {
    var names = new ArrayList<String>();
    for (OptionSpec option : spec.options()) {
      if (!option.hidden()) {
        names.addAll(List.of(option.names()));
      }
    }
    return names;
  }
}
