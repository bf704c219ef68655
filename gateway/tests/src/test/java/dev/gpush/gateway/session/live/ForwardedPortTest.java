package dev.gpush.gateway.session.live;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;

final class ForwardedPortTest {
  private static final int FAILURES = 3;

  private final List<Duration> pauses = new CopyOnWriteArrayList<>();

  /** Pauses take no time. */
  private final Clock clock =
      new Clock() {
        @Override
        public Instant now() {
          return Instant.EPOCH;
        }

        @Override
        public long nanos() {
          return 0;
        }

        @Override
        public void sleep(Duration time) {
          pauses.add(time);
        }
      };

  /** Its first calls of accept fail, as when no descriptor is free. */
  private static final class FullListener extends ServerSocket {
    private final AtomicInteger failures = new AtomicInteger(FAILURES);

    FullListener() throws IOException {
      super(0, 1, InetAddress.ofLiteral("127.0.0.1"));
    }

    @Override
    public Socket accept() throws IOException {
      if (failures.getAndDecrement() > 0) {
        throw new SocketException("Too many open files");
      }
      return super.accept();
    }
  }

  private static Link unreachable() {
    throw new GpushException(new AgentFailure.LinkOver(0, "test"));
  }

  @Test
  void pausesWhileAcceptFails() throws Exception {
    try (var tasks = Tasks.named("test", (_, _) -> {});
        var port =
            new ForwardedPort(
                new FullListener(), 80, 1, ForwardedPortTest::unreachable, clock, tasks);
        var client = new Socket("127.0.0.1", port.local())) {
      assertEquals(-1, client.getInputStream().read());
      assertEquals(FAILURES, pauses.size());
    }
  }

  @Test
  void closesMoreConnectionsThanItsLimit() throws Exception {
    var serving = new Semaphore(0);
    var end = new Semaphore(0);
    Supplier<Link> busy =
        () -> {
          serving.release();
          end.acquireUninterruptibly();
          return unreachable();
        };
    try (var tasks = Tasks.named("test", (_, _) -> {});
        var port = new ForwardedPort(ForwardedPort.bind(0), 80, 1, busy, clock, tasks);
        var first = new Socket("127.0.0.1", port.local())) {
      serving.acquire();

      try (var second = new Socket("127.0.0.1", port.local())) {
        assertEquals(-1, second.getInputStream().read());
      }
      assertEquals(0, serving.availablePermits());

      end.release();
      assertEquals(-1, first.getInputStream().read());
    }
  }
}
