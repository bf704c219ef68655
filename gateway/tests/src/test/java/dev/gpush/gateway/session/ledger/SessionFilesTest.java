package dev.gpush.gateway.session.ledger;

import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.gpush.core.session.SessionState;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.gateway.session.LedgerEntries;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class SessionFilesTest {
  private static final int ROUNDS = 200;
  private static final int COMMANDS = 4;

  @TempDir private Path home;

  /** As recovery and the up that waited for it do. */
  @Test
  void whatSeveralForgetAtOnceIsForgotten() throws Exception {
    var files = new SessionFiles(home);
    LedgerEntry entry = new LedgerEntries(7).any(SessionState.RELEASED);
    try (Tasks tasks = Tasks.named("forget", (_, _) -> {})) {
      for (int round = 0; round < ROUNDS; round++) {
        for (String name : new String[] {"hashes", "runs", "runs/1"}) {
          Files.createDirectories(files.of(entry).resolve(name));
        }
        Work<Boolean, RuntimeException> forget =
            () -> {
              files.forget(entry);
              return true;
            };
        tasks.all("forget", Collections.nCopies(COMMANDS, forget));
        files.forget(entry);

        assertFalse(Files.exists(files.of(entry)));
      }
    }
  }
}
