package dev.gpush.sync;

import dev.gpush.core.json.Json;
import dev.gpush.sync.node.Duplex;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Processes of the agent's real {@code files}. One Python has loaded it and forks each of them,
 * which takes a fiftieth of the time of a start. It ends with this, or with the test's process.
 */
final class FilesPrograms {
  /**
   * Each program has two connections: that of its conversation, and one whose end says that it is
   * over. Of that one it has the highest descriptor, which the kernel closes last.
   */
  private static final String PROGRAM =
      """
      import fcntl, json, os, select, signal, socket, sys, traceback
      sys.path.insert(0, sys.argv[1])
      from gpush_agent.files import sync

      def dying(left):
          def counted(call):
              def change(*args, **keywords):
                  if left[0] < 0 and str(args[1:]).endswith("/txn',)"):
                      left[0] = -left[0]
                      return call(*args, **keywords)
                  left[0] -= left[0] > 0
                  if left[0] == 0:
                      os.kill(os.getpid(), signal.SIGKILL)
                  return call(*args, **keywords)
              return change
          for name in ("rename", "unlink", "mkdir", "rmdir", "symlink", "write", "chmod", "utime"):
              setattr(os, name, counted(getattr(os, name)))

      def lying(lies):
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

      def serve(life, conversation, want):
          fcntl.fcntl(life, fcntl.F_DUPFD, 900)
          life.sendall(b"%d\\n" % os.getpid())
          os.dup2(conversation.fileno(), 0)
          os.dup2(conversation.fileno(), 1)
          for other in [life, conversation, listener] + [each[0] for each in waiting.values()]:
              other.close()
          if want["lies"]:
              lying(want["lies"])
          if want["die"]:
              dying([want["die"]])
          os._exit(sync.main({}, 0, 1))

      def first_line(connection):
          line = b""
          while not line.endswith(b"\\n"):
              piece = connection.recv(1)
              if not piece:
                  return None
              line += piece
          return json.loads(line.decode())

      listener = socket.socket(socket.AF_UNIX)
      listener.bind(sys.argv[2])
      listener.listen(9)
      print("up", flush=True)
      waiting, alive = {}, set()
      while True:
          if 0 in select.select([listener, 0], [], [])[0]:
              sys.exit()
          alive = {pid for pid in alive if not os.waitpid(pid, os.WNOHANG)[0]}
          connection = listener.accept()[0]
          want = first_line(connection)
          if want is None:
              connection.close()
          elif "die" in want:
              waiting[want["program"]] = connection, want
          else:
              life, want = waiting.pop(want["program"])
              pid = os.fork()
              if pid == 0:
                  try:
                      serve(life, connection, want)
                  except ConnectionError:
                      pass  # The gateway is gone; a pipe would be at its end.
                  except BaseException:
                      traceback.print_exc()
                      sys.stderr.flush()
                  finally:
                      os._exit(1)
              alive.add(pid)
              life.close()
              connection.close()
      """;

  private final Process process;
  private final UnixDomainSocketAddress address;

  // guarded by this
  private int started;

  /** Starts the Python, with its socket in this folder. */
  FilesPrograms(List<String> python, Path agent, Path folder) throws IOException {
    Path socket = Files.createDirectories(folder).resolve("s");
    Files.deleteIfExists(socket);
    address = UnixDomainSocketAddress.of(socket);
    var command = new ArrayList<>(python);
    command.addAll(List.of("-c", PROGRAM, agent.toString(), socket.toString()));
    process = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    if (process.inputReader(StandardCharsets.UTF_8).readLine() == null) {
      throw new IOException("the agent's files does not start");
    }
  }

  /**
   * Starts a program.
   *
   * @param dieAt with a number above 0, it kills itself before that change of the file system;
   *     below 0, before that one of its first commit
   * @param lies what it says that paths are when they are pulled, one answer after the other
   */
  synchronized Program start(int dieAt, Json lies) throws IOException {
    started++;
    SocketChannel life = SocketChannel.open(StandardProtocolFamily.UNIX);
    SocketChannel conversation = SocketChannel.open(StandardProtocolFamily.UNIX);
    try {
      connect(life, Json.object("program", started, "die", dieAt, "lies", lies));
      connect(conversation, Json.object("program", started));
      return new Program(process(life), life, conversation);
    } catch (IOException | RuntimeException failed) {
      try (life;
          conversation) { // A program that was forked ends with its conversation.
        throw failed;
      }
    }
  }

  private void connect(SocketChannel channel, Json first) throws IOException {
    channel.connect(address);
    channel.write(ByteBuffer.wrap((first.write() + "\n").getBytes(StandardCharsets.UTF_8)));
  }

  /** It exists: one that has ended is waited for only before the next is forked. */
  private static ProcessHandle process(SocketChannel life) throws IOException {
    var in = new InputStreamReader(Channels.newInputStream(life), StandardCharsets.UTF_8);
    String pid = new BufferedReader(in, 1).readLine();
    if (pid == null) {
      throw new IOException("no program was forked");
    }
    return ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
  }

  /** One of them. */
  static final class Program implements Duplex {
    private final ProcessHandle handle;
    private final SocketChannel life;
    private final SocketChannel conversation;

    private Program(ProcessHandle handle, SocketChannel life, SocketChannel conversation) {
      this.handle = handle;
      this.life = life;
      this.conversation = conversation;
    }

    @Override
    public InputStream in() {
      return Channels.newInputStream(conversation);
    }

    @Override
    public OutputStream out() {
      return Channels.newOutputStream(conversation);
    }

    /** It gets nothing more, and ends when it has dealt with what it has got. */
    void cut() throws IOException {
      if (conversation.isOpen()) {
        conversation.shutdownOutput();
      }
      awaitEnd();
    }

    void kill() throws IOException {
      handle.destroyForcibly(); // Another process that has its number by now is left alone.
      awaitEnd();
    }

    /** Then it holds no file and no lock. */
    private void awaitEnd() throws IOException {
      boolean isInterrupted = Thread.interrupted(); // It would close the channel.
      synchronized (life) {
        if (life.isOpen()) {
          life.read(ByteBuffer.allocate(1));
          life.close();
        }
      }
      if (isInterrupted) {
        Thread.currentThread().interrupt();
      }
    }

    /** The link is gone. Waits until it has dealt with what it has got. */
    @Override
    public void close() throws IOException {
      conversation.close();
      awaitEnd();
    }
  }

  void close() throws IOException, InterruptedException {
    process.getOutputStream().close();
    process.waitFor();
  }
}
