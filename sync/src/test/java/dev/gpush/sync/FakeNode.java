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
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A node of which only the link is missing: the real {@code files} of the agent as a process, its
 * messages over pipes. Counts bytes, and can be made to die at an exact change of the file system.
 */
final class FakeNode implements SyncNode {
  /** With a number above 0, kills itself before that change; tells of paths what it is told to. */
  private static final String PROGRAM =
      """
      import json, os, signal, sys
      sys.path.insert(0, sys.argv[1])
      left = int(sys.argv[2])
      def counted(call):
          def change(*args, **keywords):
              global left
              left -= 1
              if left == 0:
                  os.kill(os.getpid(), signal.SIGKILL)
              return call(*args, **keywords)
          return change
      from gpush_agent.files import sync
      lies = json.loads(sys.argv[3])
      def lie(self, payload):
          told = lies.get(json.loads(payload.decode())["path"])
          if told:
              answer = told.pop(0)
              if "errno" in answer:
                  raise OSError(answer["errno"], "")
              self.send(sync.PULLED, answer)
          else:
              self.on_pull(payload)
      sync.Conversation.HANDLERS[sync.PULL] = lie
      if left:
          for name in ("rename", "unlink", "mkdir", "rmdir", "symlink", "write", "chmod", "utime"):
              setattr(os, name, counted(getattr(os, name)))
      sys.exit(sync.main({}, 0, 1))
      """;

  private static final String RELEASE =
      """
      import sys
      sys.path.insert(0, sys.argv[1])
      from gpush_agent.files import sync
      print("\\n".join(sync.release(sys.argv[2], sys.argv[3])))
      """;

  /** Where the type of a message is, and the type that asks for a file. */
  private static final int TYPE = 4;

  private static final int PULL = 12;

  private static final int PREPARE = 5;
  private static final int COMMIT = 7;

  private final NodeInfo info;
  private final List<Process> processes = new CopyOnWriteArrayList<>();
  final AtomicLong toNode = new AtomicLong();
  final AtomicLong fromNode = new AtomicLong();
  final AtomicInteger flights = new AtomicInteger();
  final AtomicInteger opened = new AtomicInteger();

  /** Threads that wait until it takes what they write. */
  final AtomicInteger writers = new AtomicInteger();

  volatile int dieAt;
  volatile Runnable beforePull = () -> {};
  volatile Runnable beforePrepare = () -> {};
  volatile Runnable beforeCommit = () -> {};

  /** What happens before that many further bytes are on their way to the node. */
  record Moment(AtomicLong bytes, Runnable action) {}

  final AtomicReference<Moment> moment = new AtomicReference<>();

  // guarded by this
  private boolean isFrozen;

  /** What it says that paths are when they are pulled, one answer after the other. */
  volatile Json.Obj lies = Json.object();

  FakeNode(int index, Path workspace) {
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
    Process process = python(PROGRAM, String.valueOf(dieAt), lies.write());
    dieAt = 0;
    processes.removeIf(each -> !each.isAlive());
    processes.add(process);
    return new ProcessDuplex(process);
  }

  private static Process python(String program, String... arguments) throws IOException {
    var command =
        new ArrayList<>(
            List.of(Interpreters.first(), "-I", "-S", "-B", "-c", program, agent().toString()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
  }

  /** As the agent does at the end of a lease: what was kept. */
  List<String> release() throws IOException, InterruptedException {
    stop();
    Process process = python(RELEASE, info.workspace(), info.state());
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

  /** The line to it: what is being written arrives in part or not at all. */
  void cut() {
    for (Process process : processes) {
      try {
        process.getOutputStream().close();
      } catch (IOException gone) {
        // It is closed already.
      }
    }
  }

  void kill() throws InterruptedException {
    for (Process process : processes) {
      process.destroyForcibly().waitFor();
    }
  }

  void stop() throws InterruptedException {
    for (Process process : processes) {
      process.destroy();
      process.waitFor();
    }
  }

  private final class ProcessDuplex implements Duplex {
    private final Process process;

    // guarded by the node
    private boolean isClosed;

    ProcessDuplex(Process process) {
      this.process = process;
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
      return new FilterInputStream(process.getInputStream()) {
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
      return new FilterOutputStream(process.getOutputStream()) {
        @Override
        public void write(byte[] source, int offset, int length) throws IOException {
          if (length > TYPE && source[offset + TYPE] == PULL) {
            beforePull.run();
          }
          if (length > TYPE && source[offset + TYPE] == PREPARE) {
            beforePrepare.run();
          }
          if (length > TYPE && source[offset + TYPE] == COMMIT) {
            beforeCommit.run();
          }
          Moment next = moment.get();
          if (next != null
              && next.bytes().addAndGet(-length) <= 0
              && moment.compareAndSet(next, null)) {
            next.action().run();
          }
          writers.incrementAndGet();
          try {
            awaitThaw();
          } finally {
            writers.decrementAndGet();
          }
          out.write(source, offset, length);
          toNode.addAndGet(length);
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
      process.getOutputStream().close();
      process.destroy();
    }
  }
}
