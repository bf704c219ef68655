package dev.gpush.link;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * Streams of all kinds at once, of which every byte and every end is known beforehand. Sizes and
 * pauses come from a seed.
 */
final class Oracle implements AutoCloseable {
  private final Link link;
  private final Tasks tasks;
  private final int scale;
  private final Random random;
  private final List<Task<Long, Exception>> streams = new ArrayList<>();
  private final ServerSocket server;

  /**
   * @param scale how much is carried; 1 is about a megabyte
   */
  Oracle(Link link, Tasks tasks, long seed, int scale) throws IOException {
    this.link = link;
    this.tasks = tasks;
    this.scale = scale;
    this.random = new Random(seed);
    this.server = new ServerSocket(0, 10, InetAddress.getLoopbackAddress());
  }

  private BlockingStream exec(String command, Object... more) {
    var request = Json.object("type", "exec", "stdin", true, "command", command);
    for (int i = 0; i < more.length; i += 2) {
      request = request.with((String) more[i], more[i + 1]);
    }
    return link.open(request);
  }

  private static String lines(int count, String end) {
    return IntStream.rangeClosed(1, count)
        .mapToObj(number -> number + end)
        .collect(Collectors.joining());
  }

  private int some(int around) {
    return around / 2 + random.nextInt(around);
  }

  /** Starts one stream of each kind. */
  void start() {
    int size = some(300_000 * scale);
    var echo = exec("cat; exit 7");
    long seed = random.nextLong();
    add(() -> echoed(echo, size, seed) + end(echo, Json.object("exit", 7)));
    int count = some(30_000 * scale);
    var bulk = exec("seq 1 " + count + "; exit 3");
    add(() -> same(bulk.output(0), lines(count, "\n")) + end(bulk, Json.object("exit", 3)));
    int both = some(15_000 * scale);
    var errors = exec("seq 1 " + both + " >&2 & seq 1 " + both + "; wait; kill -TERM $$");
    var stderr = tasks.fork("stderr", () -> same(errors.output(1), lines(both, "\n")));
    add(
        () ->
            same(errors.output(0), lines(both, "\n"))
                + stderr.get()
                + end(errors, Json.object("signal", "TERM", "core", false)));
    int typed = some(1_500 * scale);
    var terminal =
        exec(
            "i=0; while [ $i -lt " + typed + " ]; do i=$((i+1)); echo $i; done; exit 5",
            "pty",
            Json.object("term", "xterm", "columns", 80, "rows", 24, "modes", Json.object()));
    add(
        () ->
            same(terminal.output(0), lines(typed, "\r\n")) + end(terminal, Json.object("exit", 5)));
    add(this::answeredByTheNodesServer);
    add(this::calls);
  }

  private void add(Work<Long, Exception> stream) {
    streams.add(tasks.fork("stream", stream));
  }

  private long answeredByTheNodesServer() throws Exception {
    var stream =
        link.open(Json.object("type", "tcp", "host", "127.0.0.1", "port", server.getLocalPort()));
    int size = 200_000 * scale;
    var serving =
        tasks.fork(
            "serve",
            () -> {
              try (var socket = server.accept()) {
                return socket.getInputStream().transferTo(socket.getOutputStream());
              }
            });
    long done = echoed(stream, size, 11);
    serving.get();
    return done + end(stream, Json.object());
  }

  private long calls() throws InterruptedException {
    for (int call = 0; call < 10 * scale; call++) {
      assertEquals(1, link.call("ports", Json.object("count", 1)).items("ports").size());
    }
    return 0;
  }

  private static long end(BlockingStream stream, Json.Obj wanted) throws InterruptedException {
    assertEquals(wanted, stream.awaitClose());
    return 0;
  }

  private long echoed(BlockingStream stream, int size, long seed) throws Exception {
    var bytes = new byte[size];
    new Random(seed).nextBytes(bytes);
    var sending =
        tasks.fork(
            "send",
            () -> {
              var chance = new Random(seed);
              try (OutputStream output = stream.input()) {
                for (int at = 0; at < size; ) {
                  int piece =
                      Math.min(
                          size - at, 1 + chance.nextInt(chance.nextInt(10) == 0 ? 90_000 : 900));
                  output.write(bytes, at, piece);
                  at += piece;
                  if (chance.nextInt(20) == 0) {
                    LockSupport.parkNanos(chance.nextInt(3_000_000));
                  }
                }
              }
              return true;
            });
    long count = same(stream.output(0), bytes);
    sending.get();
    return count;
  }

  private static long same(InputStream input, String wanted) throws IOException {
    return same(input, wanted.getBytes(StandardCharsets.UTF_8));
  }

  /** Says where the first wrong byte is: two megabytes side by side help nobody. */
  private static long same(InputStream input, byte[] wanted) throws IOException {
    var piece = new byte[8_192];
    int at = 0;
    for (int count = input.read(piece); count >= 0; count = input.read(piece)) {
      for (int i = 0; i < count; i++, at++) {
        if (at >= wanted.length || piece[i] != wanted[at]) {
          throw new AssertionError("byte " + at + " of " + wanted.length + " is wrong");
        }
      }
    }
    assertEquals(wanted.length, at, "bytes that came");
    return at;
  }

  /** Waits for all; how many bytes came. */
  long await() throws Exception {
    long bytes = 0;
    for (Task<Long, Exception> stream : streams) {
      bytes += stream.get();
    }
    return bytes;
  }

  @Override
  public void close() throws IOException {
    server.close();
  }
}
