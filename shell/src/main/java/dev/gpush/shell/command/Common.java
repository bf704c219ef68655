package dev.gpush.shell.command;

import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that every command takes. */
final class Common {
  @Option(
      names = {"-s", "--session"},
      paramLabel = "NAME",
      description = "the session (else $GPUSH_SESSION, then this folder's)")
  Optional<String> session;

  @Option(
      names = {"-q", "--quiet"},
      description = "no progress, no remarks")
  boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "with a failure: its code and cause")
  boolean verbose;

  @Option(
      names = {"-y", "--yes"},
      description = "yes to questions beforehand")
  boolean yes;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "this text")
  boolean help;
}
