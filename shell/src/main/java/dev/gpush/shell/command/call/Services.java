package dev.gpush.shell.command.call;

import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Configs;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.BatchScripts;
import dev.gpush.core.session.SendRules;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.setup.Setup;
import dev.gpush.core.talk.CopyProgram;
import dev.gpush.core.talk.GatewayControl;
import dev.gpush.core.talk.GatewayPage;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.task.Clock;
import dev.gpush.shell.console.Ticker;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.Supplier;

/** What the commands work with; made by app. */
public record Services(
    Sessions sessions,
    Runs runs,
    Configs configs,
    SendRules rules,
    Backends backends,
    BatchScripts scripts,
    FabricPlans plans,
    Setup setup,
    GatewayProcess gateway,
    Timing timing,
    Version version) {

  /**
   * The gateway itself, in which the commands run.
   *
   * @param log its file, shown by {@code gateway logs}
   */
  public record GatewayProcess(
      GatewayControl control,
      Supplier<GatewayPage> page,
      SshAccess ssh,
      CopyProgram copy,
      Path log,
      Bugs bugs) {}

  /**
   * The time, and what happens as it passes.
   *
   * @param ticker redraws what changes while a command waits
   * @param planLimit how long backends may take to say what they would grant, where that is not
   *     what the user has asked for
   */
  public record Timing(Clock clock, Ticker ticker, Duration planLimit) {}

  /**
   * The version of gpush: {@code 0.1.0} and the content hash of its jars, by which processes
   * compare their builds.
   */
  public record Version(String number, String build) {}

  /** Records bugs. */
  public interface Bugs {
    /** Logs the failure with its stack, and returns the log file. */
    Path report(String command, Throwable bug);
  }
}
