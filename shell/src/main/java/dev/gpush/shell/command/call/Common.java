package dev.gpush.shell.command.call;

import java.util.Optional;
import picocli.CommandLine.Option;

/** The options that every command takes. */
public final class Common {
  @Option(
      names = {"-s", "--session"},
      paramLabel = "NAME",
      description = "the session (else $GPUSH_SESSION, then this folder's)")
  public Optional<String> session;

  @Option(
      names = {"-q", "--quiet"},
      description = "no progress, no remarks")
  public boolean quiet;

  @Option(
      names = {"-v", "--verbose"},
      description = "with a failure: its code and cause")
  public boolean verbose;

  @Option(
      names = {"-y", "--yes"},
      description = "yes to questions beforehand")
  public boolean yes;

  @Option(
      names = {"-h", "--help"},
      usageHelp = true,
      description = "this text")
  public boolean help;
}
