package dev.gpush.shell.command.call;

import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Configs;
import dev.gpush.core.gateway.GatewayControl;
import dev.gpush.core.gateway.SshAccess;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.BatchScripts;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.time.Clock;
import dev.gpush.shell.console.Ticker;
import java.nio.file.Path;

/**
 * The ports that commands use; made by app.
 *
 * @param log the gateway's log file: shown by {@code gateway logs}
 */
public record Services(
    Sessions sessions,
    Runs runs,
    Configs configs,
    Backends backends,
    BatchScripts scripts,
    GatewayControl gateway,
    SshAccess ssh,
    Clock clock,
    Ticker ticker,
    Version version,
    Path log,
    Bugs bugs) {

  /** The version of gpush: {@code 0.1.0} and the content hash of its jars. */
  public record Version(String number, String build) {}

  /** Records bugs. */
  public interface Bugs {
    /** Logs the failure with its stack, and returns the log file. */
    Path report(String command, Throwable bug);
  }
}
