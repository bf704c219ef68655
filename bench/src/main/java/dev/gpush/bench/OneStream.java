package dev.gpush.bench;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.gang.Requester;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkStream;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.StreamReceiver;
import dev.gpush.link.agent.AgentImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * Bulk through one stream of a local node's link, against a plain pipe through Python, both read by
 * this JVM, in turns, in one run. Prints rates from the first byte to the last, and the median
 * ratio. Arguments: MiB, rounds.
 */
public final class OneStream {
  private static final int WARM = 4;

  /** What a user would write who wants bytes from a node by a Python of his own. */
  private static final String COPY =
      "import os\nwhile True:\n b = os.read(0, 65536)\n if not b: break\n os.write(1, b)";

  private final Link link;
  private final long size;

  private OneStream(Link link, long size) {
    this.link = link;
    this.size = size;
  }

  public static void main(String[] arguments) throws Exception {
    long size = (arguments.length > 0 ? Long.parseLong(arguments[0]) : 256) << 20;
    int rounds = arguments.length > 1 ? Integer.parseInt(arguments[1]) : 7;
    Path home = Files.createTempDirectory(Path.of("/tmp"), "gpb");
    try (Tasks tasks = Tasks.named("bench", (thread, bug) -> bug.printStackTrace())) {
      var random = new SecureRandom();
      var image = new AgentImage(tasks, random);
      var host = new SystemHost("here", 2, true, home, System.getenv());
      var block = new BackendConfig("local", "local", Json.object(), "");
      var backend = new HostsBackend(RackSettings.local(block, host), image, random, tasks);
      Gang gang = backend.reserve(request(random));
      var who = new LinkIdentity(0, "bench", "ab".repeat(16), 1);
      try (Link link =
          new Link(
              who,
              () ->
                  backend
                      .capabilities()
                      .agentPipes()
                      .orElseThrow()
                      .openAgentPipe(gang, 0)
                      .orElseThrow(() -> new IOException("no socket")),
              tasks,
              Clock.system(),
              random,
              LinkTiming.usual(),
              _ -> {})) {
        link.connect();
        new OneStream(link, size).compare(rounds);
      } finally {
        backend.release(gang, Duration.ofMinutes(1));
      }
    }
  }

  private static GangRequest request(SecureRandom random) {
    return GangRequest.of(
            GangId.random(random),
            new Requester("bench", "bench@here", "bench", "bench"),
            1,
            GpuRequest.none(),
            new LeaseTerms(Optional.empty(), Duration.ofMinutes(10)))
        .with(new GangRequest.Variables(Map.of(), System.getenv()));
  }

  private void compare(int rounds) throws Exception {
    var ratios = new ArrayList<Double>();
    for (int round = 0; round < WARM + rounds; round++) {
      double stream = stream();
      double pipe = pipe();
      if (round >= WARM) {
        System.out.printf("stream %.0f MB/s, pipe %.0f MB/s, %.2f%n", stream, pipe, stream / pipe);
        ratios.add(stream / pipe);
      }
    }
    ratios.sort(null);
    System.out.printf("median ratio %.2f%n", ratios.get(ratios.size() / 2));
  }

  /** MB/s. */
  private double stream() throws Exception {
    var count = new Count();
    link.open(
        Json.object(
            "type", "exec", "stdin", false, "argv", List.of("head", "-c", "" + size, "/dev/zero")),
        count::of);
    count.ended.await();
    if (count.bytes != size) {
      throw new IllegalStateException(count.bytes + " of " + size + " bytes came");
    }
    return count.rate();
  }

  private static final class Count implements StreamReceiver {
    private final CountDownLatch ended = new CountDownLatch(1);
    private LinkStream stream;
    private long bytes;
    private long first;
    private long firstNanos;
    private long lastNanos;

    Count of(LinkStream opened) {
      stream = opened;
      return this;
    }

    @Override
    public void data(int channel, ByteBuffer data) {
      lastNanos = System.nanoTime();
      if (bytes == 0) {
        first = data.remaining();
        firstNanos = lastNanos;
      }
      bytes += data.remaining();
      stream.consumed(data.remaining());
    }

    @Override
    public void closed(Json.Obj reason) {
      stream.close(Json.object());
      ended.countDown();
    }

    double rate() {
      return (bytes - first) * 1e3 / (lastNanos - firstNanos);
    }
  }

  private double pipe() throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(
                "sh", "-c", "head -c " + size + " /dev/zero | python3 -I -S -c \"$0\"", COPY)
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    byte[] buffer = new byte[64 << 10];
    try (InputStream output = process.getInputStream()) {
      long first = output.read(buffer);
      long start = System.nanoTime();
      long bytes = first;
      for (int read = output.read(buffer); read >= 0; read = output.read(buffer)) {
        bytes += read;
      }
      long nanos = System.nanoTime() - start;
      if (process.waitFor() != 0 || bytes != size) {
        throw new IllegalStateException(bytes + " of " + size + " bytes came");
      }
      return (bytes - first) * 1e3 / nanos;
    }
  }
}
