package dev.gpush.ssh.audit;

import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.HomePart;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One JSON object a line, for this user only, in files of a limited size: {@code audit.jsonl} is
 * the newest, then {@code audit.jsonl.1} and so on. Callers never wait: a thread writes, and what
 * finds no room is counted and reported in the file once there is room again.
 */
public final class AuditFile implements AutoCloseable {
  private static final System.Logger LOG = System.getLogger("gpush.audit");

  public static final String NAME = "audit.jsonl";

  /** Some twenty thousand records. */
  static final long LIMIT_BYTES = 8 << 20;

  /** With the newest, 64 MiB at most. */
  static final int KEPT = 7;

  /** Records that wait for the disk: more than 2,000 channels opening at once. */
  private static final int WAITING = 8_192;

  /**
   * After writing it rests for so long, while records gather. If it were woken for each it would
   * take a processor from the client that opens one channel after the other.
   */
  private static final Duration GATHERING = Duration.ofMillis(20);

  private static final Duration FAREWELL = Duration.ofSeconds(2);

  private static final Json.Obj END = Json.object("event", "end");

  private final Path path;
  private final Clock clock;
  private final long limitBytes;
  private final BlockingQueue<Json.Obj> waiting = new ArrayBlockingQueue<>(WAITING);
  private final AtomicLong lost = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(1);

  // of the thread
  private Optional<SeekableByteChannel> out = Optional.empty();
  private boolean isFailing;

  AuditFile(Path folder, long limitBytes, Clock clock) {
    this.path = folder.resolve(NAME);
    this.limitBytes = limitBytes;
    this.clock = clock;
  }

  /** Writes into this folder of the home. */
  public static AuditFile start(Path folder, Clock clock, Tasks tasks) {
    return start(folder, LIMIT_BYTES, clock, tasks);
  }

  static AuditFile start(Path folder, long limitBytes, Clock clock, Tasks tasks) {
    var file = new AuditFile(folder, limitBytes, clock);
    if (!tasks.startOnThread("audit", file::run)) {
      file.ended.countDown();
    }
    return file;
  }

  /** Adds the time. */
  public void write(Json.Obj record) {
    var line = Json.object("time", clock.now().toString());
    for (var field : record.fields().entrySet()) {
      line = line.with(field.getKey(), field.getValue());
    }
    if (!waiting.offer(line)) {
      lost.incrementAndGet();
    }
  }

  private void run() throws InterruptedException {
    try {
      var records = new ArrayList<Json.Obj>();
      do {
        records.clear();
        records.add(waiting.take());
        waiting.drainTo(records);
        records.stream().takeWhile(record -> !record.equals(END)).forEach(this::append);
        Thread.sleep(GATHERING);
      } while (!records.contains(END));
    } finally {
      closeFile();
      ended.countDown();
    }
  }

  void append(Json.Obj record) {
    try {
      long missing = lost.get();
      if (isFailing || missing > 0) {
        // The line that failed may have been written in part.
        write("\n" + lost(missing).write() + "\n");
        lost.addAndGet(-missing);
        isFailing = false;
      }
      write(record.write() + "\n");
    } catch (IOException failed) {
      lost.incrementAndGet();
      closeFile();
      if (!isFailing) {
        isFailing = true;
        LOG.log(
            System.Logger.Level.WARNING,
            "the audit log " + path + " cannot be written: " + FileReason.of(failed));
      }
    }
  }

  private Json.Obj lost(long records) {
    return Json.object("time", clock.now().toString(), "event", "lost", "records", records);
  }

  private void write(String text) throws IOException {
    ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
    SeekableByteChannel file = out.isPresent() ? out.orElseThrow() : open();
    long size = file.size();
    if (size > 0 && size + bytes.remaining() > limitBytes) {
      closeFile();
      rotate();
      file = open();
    }
    while (bytes.hasRemaining()) {
      file.write(bytes);
    }
  }

  private SeekableByteChannel open() throws IOException {
    HomePart.make(path.resolveSibling(""));
    SeekableByteChannel opened =
        Files.newByteChannel(
            path,
            Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
    out = Optional.of(opened);
    return opened;
  }

  private void rotate() throws IOException {
    for (int number = KEPT - 1; number >= 0; number--) {
      Path file = numbered(number);
      if (Files.exists(file)) {
        Files.move(file, numbered(number + 1), StandardCopyOption.REPLACE_EXISTING);
      }
    }
  }

  private Path numbered(int number) {
    return number == 0 ? path : path.resolveSibling(NAME + "." + number);
  }

  private void closeFile() {
    try {
      if (out.isPresent()) {
        out.orElseThrow().close();
      }
    } catch (IOException full) {
      LOG.log(System.Logger.Level.DEBUG, "closing the audit log failed", full);
    }
    out = Optional.empty();
  }

  /** Writes what waits. */
  @Override
  public void close() {
    try {
      if (waiting.offer(END, FAREWELL.toMillis(), TimeUnit.MILLISECONDS)) {
        ended.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
