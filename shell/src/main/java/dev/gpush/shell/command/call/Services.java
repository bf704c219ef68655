package dev.gpush.shell.command.call;

import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Configs;
import dev.gpush.core.fabric.FabricPlans;
import dev.gpush.core.gateway.GatewayControl;
import dev.gpush.core.gateway.SshAccess;
import dev.gpush.core.run.Runs;
import dev.gpush.core.session.BatchScripts;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.time.Clock;
import dev.gpush.shell.console.Ticker;
import java.nio.file.Path;

/**
 * What the commands work with; made by app.
 *
 * @param log the gateway's log file: shown by {@code gateway logs}
 */
public record Services(
    Sessions sessions,
    Runs runs,
    Configs configs,
    Backends backends,
    BatchScripts scripts,
    FabricPlans plans,
    GatewayControl gateway,
    SshAccess ssh,
    Clock clock,
    Ticker ticker,
    Version version,
    Path log,
    Bugs bugs) {

  /** Which gpush this is: {@code 0.1.0} and the content hash of its jars. */
  public record Version(String number, String build) {}

  /** Where bugs are written down. */
  public interface Bugs {
    /** Logs the failure with its stack; the file to look into. */
    Path report(String command, Throwable bug);
  }
}
