package dev.gpush.core.failure;

import java.util.List;

/** The command line, or something that it names, is wrong. */
public sealed interface UsageFailure extends Failure {
  /**
   * A word that is no command.
   *
   * @param nearest the commands that may be meant, possibly none
   * @param isAtPrompt of the interactive shell, where it may be a program
   */
  record UnknownCommand(String word, List<String> nearest, boolean isAtPrompt)
      implements UsageFailure {}

  /**
   * An option, argument or combination that the command does not take: {@code rule} is the parser's
   * sentence.
   */
  record BadArguments(String command, String rule, List<String> nearest) implements UsageFailure {}

  /** Words of {@code run} that it does not take. */
  static GpushException ofRun(String rule) {
    return new GpushException(new BadArguments("run", rule, List.of()));
  }

  /** A value that breaks a rule: {@code what} names the thing ("--nodes", "session name"). */
  record BadValue(String what, String value, String rule) implements UsageFailure {}

  /** The headers of a batch script cannot be used as a request. */
  record BadScript(String file, List<BadLine> lines) implements UsageFailure {
    public BadScript {
      lines = List.copyOf(lines);
    }
  }

  /** Lines of a file that cannot be run on nodes of a session. */
  record BadCommands(String file, List<BadLine> lines) implements UsageFailure {
    public BadCommands {
      lines = List.copyOf(lines);
    }
  }

  /** One line of it, counted from 1. */
  record BadLine(int line, String what) {}

  /** No session has this name. */
  record UnknownSession(String name, List<String> nearest, List<String> known)
      implements UsageFailure {}

  /** No session was named, and the folder has none or several. */
  record WhichSession(List<String> known) implements UsageFailure {}

  /** A gang that exists and is not in this home's ledger. */
  record Adoptable(String gang, String session, String backend, String holder) {}

  /**
   * No gang was named that could be adopted, or several could.
   *
   * @param name as it was given, possibly empty
   * @param unasked why some backends could not be asked
   */
  record WhichGang(String name, List<Adoptable> there, List<String> unasked)
      implements UsageFailure {
    public WhichGang {
      there = List.copyOf(there);
      unasked = List.copyOf(unasked);
    }
  }

  /** A question has no terminal to be asked on: {@code flag} answers it beforehand. */
  record NobodyToAsk(String question, String flag) implements UsageFailure {}

  /**
   * The user answered no.
   *
   * @param remedy a command after which it is not asked again; possibly empty
   */
  record Declined(String question, String remedy) implements UsageFailure {
    public Declined(String question) {
      this(question, "");
    }
  }

  /** The editor that was asked for is not installed here, as far as can be seen. */
  record NoEditor(String editor, String program) implements UsageFailure {
    @Override
    public ExitStatus exit() {
      return ExitStatus.ENVIRONMENT;
    }
  }

  @Override
  default ExitStatus exit() {
    return ExitStatus.USAGE;
  }
}
