package dev.gpush.sync.node;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.sync.pace.NodeWaiting;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
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

  /** Nothing is heard on it. */
  private static final class Silent implements Duplex {
    @Override
    public InputStream in() {
      return InputStream.nullInputStream();
    }

    @Override
    public OutputStream out() {
      return OutputStream.nullOutputStream();
    }

    @Override
    public void close() {}
  }

  @Test
  void closedBeforeItsListenerBeganItEndsForAllWhoWait() throws Exception {
    var messages = new SyncMessages(new Silent(), new NodeWaiting(Clock.system()));
    Tasks closed = Tasks.named("listeners", (_, failure) -> failure.printStackTrace());
    closed.close();
    messages.listen(closed, watching);

    messages.close();
    messages.close();

    assertThrows(IOException.class, messages::read);
    assertEquals(1, ends.get());
  }
}
