package dev.gpush.ssh.recording;

import dev.gpush.core.file.FileReason;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;

/**
 * Records terminals into a folder, each into a file of its own, for this user only. Terminals never
 * wait: their output goes into a queue of a limited size, and one thread writes. When all files are
 * too large together, the oldest that have ended are deleted. Thread-safe.
 */
public final class Recordings implements TerminalRecorder, AutoCloseable {
  private static final System.Logger LOG = System.getLogger("gpush.recordings");

  public static final String FOLDER = "recordings";

  public static final String ENDING = ".cast";

  /** Of what waits for the disk, so that one file is written in pieces of this size at least. */
  private static final int BATCH = 256 << 10;

  /** A thread that wakes up for each piece would cost more than all the rest. */
  private static final Duration GATHERING = Duration.ofMillis(20);

  /** Of a queued piece, besides its bytes. */
  private static final int OVERHEAD = 96;

  private static final int LONGEST_NODE = 60;

  /** Between two complaints about a disk that is full again and again. */
  private static final Duration SILENCE = Duration.ofMinutes(10);

  private static final Duration FAREWELL = Duration.ofSeconds(2);

  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);

  /**
   * How much is kept.
   *
   * @param file bytes of one recording: a week of typing, or one mistaken {@code cat}
   * @param all bytes of all recordings
   * @param waiting bytes in memory: half a second of the fastest terminals
   */
  record Limits(long file, long all, long waiting) {
    static final Limits USUAL = new Limits(64L << 20, 1L << 30, 16L << 20);
  }

  /** What the thread does. */
  sealed interface Piece {
    record Output(CastFile file, long nanos, ByteBuffer bytes, long lost) implements Piece {}

    record Resize(CastFile file, long nanos, RecordedTerminal.Size to) implements Piece {}

    record End(CastFile file, long nanos, long lost) implements Piece {}

    /** No terminal follows. */
    record Stop() implements Piece {}
  }

  private final Path folder;
  private final Limits limits;
  private final Clock clock;
  private final LinkedBlockingQueue<Piece> queue = new LinkedBlockingQueue<>();
  private final AtomicLong waiting = new AtomicLong();
  private final CountDownLatch ended = new CountDownLatch(1);

  // of the thread
  private final Set<CastFile> open = new LinkedHashSet<>();
  private long sinceLook;
  private Optional<Long> warned = Optional.empty();

  Recordings(Path folder, Limits limits, Clock clock) {
    this.folder = folder;
    this.limits = limits;
    this.clock = clock;
    this.sinceLook = limits.file();
  }

  /** Records into a folder beside the logs of a home. */
  public static Recordings start(Path logs, Clock clock, Tasks tasks) {
    return start(logs.resolve(FOLDER), Limits.USUAL, clock, tasks);
  }

  static Recordings start(Path folder, Limits limits, Clock clock, Tasks tasks) {
    var recordings = new Recordings(folder, limits, clock);
    if (!tasks.startOnThread("recordings", recordings::run)) {
      recordings.ended.countDown();
    }
    return recordings;
  }

  @Override
  public Optional<TerminalRecording> begin(RecordedTerminal terminal) {
    String node = terminal.node().replaceAll("[^A-Za-z0-9._-]", "_");
    String name =
        String.join(
                "-",
                TIME.format(clock.now()),
                node.substring(0, Math.min(node.length(), LONGEST_NODE)),
                terminal.connection(),
                Long.toString(terminal.channel()))
            + ENDING;
    var file = new CastFile(folder, name, limits.file(), terminal, nanos(), clock.now());
    return Optional.of(new TerminalRecording(name, this, file));
  }

  long nanos() {
    return clock.nanos();
  }

  /** Reserves room for these bytes until they are written. */
  boolean hasRoom(int bytes) {
    if (waiting.addAndGet(bytes + OVERHEAD) > limits.waiting()) {
      waiting.addAndGet(-bytes - OVERHEAD);
      return false;
    }
    return true;
  }

  void add(Piece piece) {
    queue.add(piece);
  }

  void run() throws InterruptedException {
    try {
      boolean goesOn = true;
      while (goesOn) {
        goesOn = take(queue.take()) && drain();
        if (goesOn) {
          Thread.sleep(GATHERING);
        }
      }
    } finally {
      flush();
      open.forEach(Recordings::close);
      ended.countDown();
    }
  }

  /** Writes what waits; false when nothing follows. */
  boolean drain() {
    boolean goesOn = true;
    while (goesOn && !queue.isEmpty()) {
      goesOn = take(queue.remove());
    }
    flush();
    return goesOn;
  }

  private void flush() {
    open.forEach(this::flush);
    open.removeIf(this::isOver);
  }

  private boolean take(Piece piece) {
    switch (piece) {
      case Piece.Output(var file, var nanos, var bytes, var lost) -> {
        open.add(file);
        file.output(nanos, bytes, lost);
        if (file.waiting() >= BATCH) {
          flush(file);
        }
        waiting.addAndGet(-bytes.capacity() - OVERHEAD);
      }
      case Piece.Resize(var file, var nanos, var to) -> {
        open.add(file);
        file.resized(nanos, to);
      }
      case Piece.End(var file, var nanos, var lost) -> {
        open.add(file);
        file.end(nanos, lost);
      }
      case Piece.Stop _ -> {
        return false;
      }
    }
    return true;
  }

  private void flush(CastFile file) {
    if (file.waiting() == 0) {
      return;
    }
    try {
      if (sinceLook >= limits.file() / 4) {
        makeRoom();
        sinceLook = 0;
      }
      sinceLook += file.flush();
    } catch (IOException failed) {
      warn(failed);
    }
  }

  private void warn(IOException failed) {
    long now = nanos();
    if (warned.isEmpty() || now - warned.orElseThrow() > SILENCE.toNanos()) {
      warned = Optional.of(now);
      LOG.log(
          System.Logger.Level.WARNING,
          "terminals cannot be recorded in " + folder + ": " + FileReason.of(failed));
    }
  }

  private boolean isOver(CastFile file) {
    if (file.isEnded()) {
      close(file);
    }
    return file.isEnded();
  }

  private static void close(CastFile file) {
    try {
      file.close();
    } catch (IOException full) {
      LOG.log(System.Logger.Level.DEBUG, "closing a recording failed", full);
    }
  }

  /** Names begin with the time, so their order is that of age. */
  private void makeRoom() throws IOException {
    if (!Files.isDirectory(folder)) {
      return;
    }
    List<Path> files;
    try (Stream<Path> all = Files.list(folder)) {
      files = all.filter(each -> each.toString().endsWith(ENDING)).sorted().toList();
    }
    List<Path> busy = open.stream().filter(each -> !each.isEnded()).map(CastFile::path).toList();
    long bytes = files.stream().mapToLong(each -> each.toFile().length()).sum();
    for (Path file : files) {
      if (bytes + limits.file() / 4 > limits.all() && !busy.contains(file)) {
        bytes -= file.toFile().length();
        Files.deleteIfExists(file);
      }
    }
  }

  /** Writes what waits. */
  @Override
  public void close() {
    queue.add(new Piece.Stop());
    try {
      ended.await(FAREWELL.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }
}
