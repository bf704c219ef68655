package dev.gpush.ssh;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.ssh.audit.AuditDetail;
import dev.gpush.ssh.audit.AuditFile;
import dev.gpush.ssh.audit.AuditTrail;
import dev.gpush.ssh.recording.Recordings;
import dev.gpush.ssh.recording.TerminalRecorder;
import java.nio.file.Path;
import java.util.Optional;

/** What is kept of what clients do: the audit, and recordings of terminals. Thread-safe. */
public final class Records implements AutoCloseable {
  private final Optional<AuditTrail> connections;
  private final TerminalRecorder terminals;
  private final Runnable end;

  private Records(Optional<AuditTrail> connections, TerminalRecorder terminals, Runnable end) {
    this.connections = connections;
    this.terminals = terminals;
    this.end = end;
  }

  public static Records none() {
    return new Records(Optional.empty(), TerminalRecorder.NONE, () -> {});
  }

  /** Whether terminals are recorded. */
  public enum Terminals {
    RECORDED,
    NOT_RECORDED
  }

  /**
   * Keeps them.
   *
   * @param logs the folder for them
   */
  public static Records start(
      Path logs, AuditDetail detail, Terminals terminals, Clock clock, Tasks tasks) {
    Optional<AuditFile> audit =
        detail == AuditDetail.NONE
            ? Optional.empty()
            : Optional.of(AuditFile.start(logs, clock, tasks));
    Optional<Recordings> recordings =
        terminals == Terminals.RECORDED
            ? Optional.of(Recordings.start(logs, clock, tasks))
            : Optional.empty();
    return new Records(
        audit.map(file -> new AuditTrail(file, detail, clock)),
        recordings.isPresent() ? recordings.orElseThrow() : TerminalRecorder.NONE,
        () -> {
          recordings.ifPresent(Recordings::close);
          audit.ifPresent(AuditFile::close);
        });
  }

  Optional<AuditTrail> connections() {
    return connections;
  }

  TerminalRecorder terminals() {
    return terminals;
  }

  /** Writes what waits. */
  @Override
  public void close() {
    end.run();
  }
}
