package dev.gpush.gateway.session.saves;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.home.OutputNames;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells the nodes of a session that a person has done something with its files, so that they are
 * not idle. What changes by itself, such as a log or an editor's own state, counts for nothing.
 * Thread-safe.
 */
final class FileUse {
  private static final Duration ANSWER_LIMIT = Duration.ofSeconds(5);

  private static final System.Logger LOG = System.getLogger("gpush.sync");

  private final SessionPort session;
  private final Tasks tasks;
  private final AtomicBoolean isTelling = new AtomicBoolean();

  FileUse(SessionPort session, Tasks tasks) {
    this.session = session;
    this.tasks = tasks;
  }

  /**
   * A save has gone to the nodes.
   *
   * @param busy paths that change more often than a person saves
   */
  void saved(List<String> paths, BusyPaths busy) {
    if (paths.stream().anyMatch(path -> !busy.isBusy(path) && OutputNames.isWritten(path))) {
      byAPerson();
    }
  }

  void byAPerson() {
    if (isTelling.compareAndSet(false, true)) {
      tasks.start("used", this::tell);
    }
  }

  private void tell() throws InterruptedException {
    try {
      tasks.within(ANSWER_LIMIT, "active", session::used);
    } catch (GpushException | TimeoutException away) {
      // The next save says it again.
      LOG.log(System.Logger.Level.DEBUG, "the nodes were not told that they are used", away);
    } finally {
      isTelling.set(false);
    }
  }
}
