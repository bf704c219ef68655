package dev.gpush.shell.command.call;

import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that every command takes. */
public final class Common {
  public static final String JSON = "--json";

  @Option(
      names = {"-s", "--session"},
      paramLabel = "NAME",
      description = "the session (else $GPUSH_SESSION, then this folder's)")
  public Optional<String> session = Optional.empty();

  @Option(
      names = {"-q", "--quiet"},
      description = "no progress, no messages")
  public boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "show phases of a start; code and cause of a failure")
  public boolean verbose;

  @Option(names = JSON, description = "print JSON, for programs")
  public boolean json;

  @Option(
      names = {"-y", "--yes"},
      description = "answer yes to questions")
  public boolean yes;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "show this text")
  public boolean help;
}
