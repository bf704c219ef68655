package dev.gpush.ssh.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkStream;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.StreamReceiver;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ListenersTest {
  private final Listeners listeners = new Listeners();
  private final List<Json.Obj> ends = new ArrayList<>();

  private final class Listening implements StreamReceiver {
    @Override
    public void data(int channel, ByteBuffer bytes) {}

    @Override
    public void closed(Json.Obj reason) {
      ends.add(reason);
    }
  }

  private Listening asking(LinkStream stream) {
    assertTrue(listeners.asks(stream));
    return new Listening();
  }

  /** The link has no pipe, and so waits, as one that is cut. */
  @Test
  void whatTheNodeHasNotHeardOfEndsWithTheConnection() {
    try (Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());
        var link =
            new Link(
                new LinkIdentity(0, "me@here", "c".repeat(32), 1),
                () -> {
                  throw new IOException("no pipe");
                },
                tasks,
                Clock.system(),
                new Random(1),
                LinkTiming.usual(),
                _ -> {})) {
      LinkStream asked = link.open(Json.object("type", "listen-tcp"), this::asking);

      listeners.closeAll();

      assertFalse(listeners.asks(asked));
    }
    assertEquals(List.of(Json.object()), ends);
  }
}
