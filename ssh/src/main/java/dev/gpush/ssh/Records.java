package dev.gpush.ssh;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.ssh.audit.AuditDetail;
import dev.gpush.ssh.audit.AuditFile;
import dev.gpush.ssh.audit.AuditTrail;
import java.nio.file.Path;
import java.util.Optional;

/** What is kept of what clients do. Thread-safe. */
public final class Records implements AutoCloseable {
  private final Optional<AuditTrail> connections;
  private final Runnable end;

  private Records(Optional<AuditTrail> connections, Runnable end) {
    this.connections = connections;
    this.end = end;
  }

  public static Records none() {
    return new Records(Optional.empty(), () -> {});
  }

  /**
   * Keeps them.
   *
   * @param logs the folder for them
   */
  public static Records start(Path logs, AuditDetail detail, Clock clock, Tasks tasks) {
    Optional<AuditFile> audit =
        detail == AuditDetail.NONE
            ? Optional.empty()
            : Optional.of(AuditFile.start(logs, clock, tasks));
    return new Records(
        audit.map(file -> new AuditTrail(file, detail, clock)),
        () -> audit.ifPresent(AuditFile::close));
  }

  Optional<AuditTrail> connections() {
    return connections;
  }

  /** Writes what waits. */
  @Override
  public void close() {
    end.run();
  }
}
