package dev.gpush.sync.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.pace.NodeWaiting;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The end of a conversation for those who wait for it. */
final class SyncMessagesTest {
  private final AtomicInteger ends = new AtomicInteger();

  private final SyncMessages.Watching watching =
      new SyncMessages.Watching() {
        @Override
        public void watched(String by, String why) {}

        @Override
        public void changed(List<String> paths) {}

        @Override
        public void ended() {
          ends.incrementAndGet();
        }
      };

  /** Has a bug. */
  private record Failing(SyncMessages.Watching rest) implements SyncMessages.Watching {
    @Override
    public void watched(String by, String why) {}

    @Override
    public void changed(List<String> paths) {
      throw new IllegalStateException("a bug");
    }

    @Override
    public void ended() {
      rest.ended();
    }
  }

  /** All that is heard on it. */
  private record Said(byte[] bytes) implements Duplex {
    @Override
    public InputStream in() {
      return new ByteArrayInputStream(bytes);
    }

    @Override
    public OutputStream out() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public void close() {}
  }

  private static SyncMessages messages(byte[] said) {
    return new SyncMessages(new Said(said), new NodeWaiting(Clock.system()));
  }

  @Test
  void whoWaitsForAnAnswerSeesThatTheListenerFailed() throws Exception {
    byte[] changed = "\0\0\0\2\23{}".getBytes(StandardCharsets.ISO_8859_1);
    try (Tasks tasks = Tasks.named("listeners", (_, failure) -> failure.printStackTrace());
        SyncMessages messages = messages(changed)) {
      messages.listen(tasks, new Failing(watching));

      IOException failed = assertThrows(IOException.class, messages::read);

      assertEquals("what the node said could not be handled", failed.getMessage());
      assertThrows(IOException.class, messages::read);
    }
    assertEquals(1, ends.get());
  }

  @Test
  void closedBeforeItsListenerBeganItEndsForAllWhoWait() throws Exception {
    var messages = messages(new byte[0]);
    Tasks closed = Tasks.named("listeners", (_, failure) -> failure.printStackTrace());
    closed.close();
    messages.listen(closed, watching);

    messages.close();
    messages.close();

    assertThrows(IOException.class, messages::read);
    assertEquals(1, ends.get());
  }
}
