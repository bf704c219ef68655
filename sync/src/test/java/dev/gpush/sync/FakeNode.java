package dev.gpush.sync;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.sync.node.Duplex;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.testkit.fake.Interpreters;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * A node of which only the link is missing: the real {@code files} of the agent as a process, its
 * messages over a socket. Counts bytes, and can be made to die at an exact change of the file
 * system.
 */
final class FakeNode implements SyncNode {
  private static final List<String> PYTHON = List.of(Interpreters.first(), "-I", "-S", "-B");

  private static final String RELEASE =
      """
      import sys
      sys.path.insert(0, sys.argv[1])
      from gpush_agent.lifetime.release import release
      print("\\n".join(release(sys.argv[2], sys.argv[3])))
      """;

  /** Where the type of a message is, and the type that asks for a file. */
  private static final int TYPE = 4;

  private static final int PULL = 12;

  private static final int PREPARE = 5;
  private static final int COMMIT = 7;

  private final NodeInfo info;
  private final Path socketFolder;
  private final List<FilesPrograms.Program> running = new CopyOnWriteArrayList<>();
  final AtomicLong toNode = new AtomicLong();
  final AtomicLong fromNode = new AtomicLong();
  final AtomicInteger flights = new AtomicInteger();
  final AtomicInteger opened = new AtomicInteger();

  /** Threads that wait until it takes what they write. */
  final AtomicInteger writers = new AtomicInteger();

  /** The change of the file system at which the next program dies; negative: of its commit. */
  volatile int dieAt;

  /** After the next program none can be started. */
  volatile boolean isOffThen;

  /** Gets the path. */
  volatile Consumer<String> beforePull = _ -> {};

  volatile Runnable beforePrepare = () -> {};
  volatile Runnable beforeCommit = () -> {};

  /** What happens before that many further bytes are on their way to the node. */
  record Moment(AtomicLong bytes, Runnable action) {}

  final AtomicReference<Moment> moment = new AtomicReference<>();

  // guarded by this
  private boolean isFrozen;

  /** No conversation can be opened. */
  volatile boolean isDown;

  // guarded by this
  private Optional<FilesPrograms> programs = Optional.empty();
  private List<String> python = PYTHON;

  /** What it says that paths are when they are pulled, one answer after the other. */
  volatile Json.Obj lies = Json.object();

  /** A node whose programs are reached by a socket in a folder of its own below this one. */
  FakeNode(int index, Path workspace, Path base) {
    this.socketFolder = base.resolve("files-" + index);
    this.info = new NodeInfo(index, "node" + index, "", List.of("0"), "", 1, workspace.toString());
  }

  /** The sources of the agent, from wherever the build runs. */
  static Path agent() {
    for (Path at = Path.of("").toAbsolutePath(); at != null; at = at.getParent()) {
      Path found = at.resolve("agent");
      if (Files.isDirectory(found.resolve("gpush_agent"))) {
        return found;
      }
    }
    throw new IllegalStateException("no agent above " + Path.of("").toAbsolutePath());
  }

  @Override
  public NodeInfo info() {
    return info;
  }

  WorkFolder folder() {
    return new WorkFolder(Path.of(info.workspace()));
  }

  @Override
  public Duplex open() throws IOException {
    opened.incrementAndGet();
    if (isDown) {
      throw new IOException("its link is down");
    }
    FilesPrograms.Program program = programs().start(dieAt, lies);
    dieAt = 0;
    isDown |= isOffThen;
    running.add(program);
    return new Conversation(program);
  }

  private synchronized FilesPrograms programs() throws IOException {
    if (programs.isEmpty()) {
      programs = Optional.of(new FilesPrograms(python, agent(), socketFolder));
    }
    return programs.get();
  }

  /** Its programs read only what modes let them, also where the tests are run by root. */
  synchronized void obeysModes() {
    if (System.getProperty("user.name").equals("root")) {
      python = new ArrayList<>(List.of("setpriv", "--bounding-set=-dac_override,-dac_read_search"));
      python.addAll(PYTHON);
    }
  }

  /** As the agent does at the end of a lease: what was kept. */
  List<String> release() throws IOException, InterruptedException {
    kill();
    var command = new ArrayList<>(PYTHON);
    command.addAll(List.of("-c", RELEASE, agent().toString(), info.workspace(), info.state()));
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String out = new String(process.getInputStream().readAllBytes());
    if (process.waitFor() != 0) {
      throw new IOException("release failed");
    }
    return out.isBlank() ? List.of() : List.of(out.strip().split("\n"));
  }

  /** It takes and says nothing until {@link #thaw}, but is connected. */
  synchronized void freeze() {
    isFrozen = true;
  }

  synchronized void thaw() {
    isFrozen = false;
    notifyAll();
  }

  /** The line to it: what is being written arrives in part or not at all. Waits for its end. */
  void cut() throws IOException {
    for (FilesPrograms.Program program : ended()) {
      program.cut();
    }
  }

  /** Nothing that was prepared happens any more, and its link is up. */
  void calm() {
    moment.set(null);
    dieAt = 0;
    isDown = false;
    isOffThen = false;
    beforePull = _ -> {};
    beforePrepare = () -> {};
    beforeCommit = () -> {};
  }

  /** Ends what runs there. The next conversation starts another process. */
  void kill() throws IOException {
    for (FilesPrograms.Program program : ended()) {
      program.kill();
    }
  }

  private List<FilesPrograms.Program> ended() {
    List<FilesPrograms.Program> all = List.copyOf(running);
    running.removeAll(all);
    return all;
  }

  /** Ends all of it. */
  synchronized void close() throws IOException, InterruptedException {
    try {
      kill();
    } finally {
      if (programs.isPresent()) {
        programs.get().close();
        programs = Optional.empty();
      }
    }
  }

  private final class Conversation implements Duplex {
    private final FilesPrograms.Program program;

    // guarded by the node
    private boolean isClosed;

    Conversation(FilesPrograms.Program program) {
      this.program = program;
    }

    private void awaitThaw() throws IOException {
      synchronized (FakeNode.this) {
        try {
          while (isFrozen && !isClosed) {
            FakeNode.this.wait();
          }
        } catch (InterruptedException stop) {
          Thread.currentThread().interrupt();
          throw new InterruptedIOException("interrupted");
        }
        if (isClosed) {
          throw new IOException("closed");
        }
      }
    }

    @Override
    public InputStream in() {
      return new FilterInputStream(program.in()) {
        @Override
        public int read(byte[] target, int offset, int length) throws IOException {
          awaitThaw();
          int count = super.read(target, offset, length);
          awaitThaw();
          fromNode.addAndGet(Math.max(count, 0));
          return count;
        }
      };
    }

    @Override
    public OutputStream out() {
      return new FilterOutputStream(program.out()) {
        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
          ByteBuffer pulls = ByteBuffer.wrap(source, offset, length);
          while (pulls.remaining() > TYPE && pulls.get(pulls.position() + TYPE) == PULL) {
            beforePull.accept(pulled(pulls));
          }
          if (length > TYPE && source[offset + TYPE] == PREPARE) {
            beforePrepare.run();
          }
          if (length > TYPE && source[offset + TYPE] == COMMIT) {
            beforeCommit.run();
          }
          int first = atMoment(source, offset, length);
          writers.incrementAndGet();
          try {
            awaitThaw();
          } finally {
            writers.decrementAndGet();
          }
          out.write(source, offset + first, length - first);
          toNode.addAndGet(length);
        }

        private static String pulled(ByteBuffer message) {
          var text = new byte[message.getInt()];
          message.get(); // the type
          message.get(text);
          return Json.parse(new String(text, StandardCharsets.UTF_8)).text("path").orElse("");
        }

        /** Returns how many of the bytes were written before it. */
        private int atMoment(byte[] source, int offset, int length) throws IOException {
          Moment next = moment.get();
          if (next == null) {
            return 0;
          }
          long left = next.bytes().getAndAdd(-length);
          if (left > length || !moment.compareAndSet(next, null)) {
            return 0;
          }
          int first = (int) Math.max(left, 0);
          out.write(source, offset, first);
          next.action().run();
          return first;
        }

        @Override
        public void flush() throws IOException {
          flights.incrementAndGet();
          super.flush();
        }
      };
    }

    @Override
    public void close() throws IOException {
      synchronized (FakeNode.this) {
        isClosed = true;
        FakeNode.this.notifyAll();
      }
      program.close();
      running.remove(program);
    }
  }
}
