package dev.gpush.gateway.session;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.journal.NodeOutput;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.StreamClosedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One command on one node with a client's streams: {@code exec}. Bytes are passed on as they are;
 * the client's signals go to the command.
 */
final class NodeCommand {
  private static final int BUFFER = 128 * 1024;

  /** A block of a copy, so that the node sends one while the one before is written. */
  private static final int COPY_WINDOW = 4 << 20;

  /** Those of Linux, by their numbers from 1 on. */
  private static final List<String> SIGNALS =
      List.of(
          "HUP", "INT", "QUIT", "ILL", "TRAP", "ABRT", "BUS", "FPE", "KILL", "USR1", "SEGV", "USR2",
          "PIPE", "ALRM", "TERM", "STKFLT", "CHLD", "CONT", "STOP", "TSTP", "TTIN", "TTOU", "URG",
          "XCPU", "XFSZ", "VTALRM", "PROF", "WINCH", "IO", "PWR", "SYS");

  private final Link link;
  private final Tasks tasks;

  NodeCommand(Link link, Tasks tasks) {
    this.link = link;
    this.tasks = tasks;
  }

  /**
   * The exec request: one word with spaces is a shell's, as with ssh; several words are executed as
   * they are.
   */
  static Json.Obj request(
      List<String> words,
      String folder,
      Map<String, String> environment,
      Optional<Streams.Terminal> terminal,
      boolean hasInput) {
    Json.Obj request =
        Json.object(
            "type",
            "exec",
            "client",
            "gpush exec",
            "cwd",
            folder,
            "env",
            environment,
            "stdin",
            hasInput,
            "kill_on_close",
            true,
            "pty",
            terminal.map(
                screen ->
                    Json.object(
                        "term",
                        screen.type(),
                        "columns",
                        screen.columns(),
                        "rows",
                        screen.rows(),
                        "modes",
                        Json.object())));
    if (words.isEmpty()) {
      return request.with("login", true);
    }
    boolean isLine = words.size() == 1 && words.getFirst().contains(" ");
    return isLine
        ? request.with("argv", List.of("/bin/sh", "-c", words.getFirst()))
        : request.with("argv", words);
  }

  /** The node's end of {@code gpush cp}; it ends with its stream. */
  static Json.Obj copy() {
    return Link.builtin("copy")
        .with("client", "gpush cp")
        .with("stdin", true)
        .with("credit", COPY_WINDOW);
  }

  /** Runs it with the client's own streams; the status as a shell would say it. */
  int run(Json.Obj request, Streams streams, boolean isRaw) throws InterruptedException {
    BlockingStream stream = link.open(request);
    try (Tasks pumps = tasks.group("exec");
        Streams.Raw _ =
            isRaw ? streams.terminal().map(Streams.Terminal::raw).orElse(() -> {}) : () -> {}) {
      streams.onSignal(name -> signal(stream, streams, name));
      stream.awaitOpened();
      pumps.start("in", () -> pumpInput(streams.in(), stream));
      Task<Boolean, IOException> out =
          pumps.fork("out", () -> pump(stream, 0, from -> copy(from, streams.out())));
      Task<Boolean, IOException> err =
          pumps.fork("err", () -> pump(stream, 1, from -> copy(from, streams.err())));
      await(out);
      await(err);
      return status(stream.awaitClose(), stream);
    } finally {
      stream.close();
    }
  }

  /** Runs it without input, as one of several nodes. */
  int run(Json.Obj request, int node, NodeOutput lines) throws InterruptedException {
    BlockingStream stream = link.open(request);
    try (Tasks pumps = tasks.group("exec")) {
      stream.awaitOpened();
      Task<Boolean, IOException> out =
          pumps.fork("out", () -> pump(stream, 0, from -> lines.copy(from, node, false)));
      Task<Boolean, IOException> err =
          pumps.fork("err", () -> pump(stream, 1, from -> lines.copy(from, node, true)));
      await(out);
      await(err);
      return status(stream.awaitClose(), stream);
    } finally {
      stream.close();
    }
  }

  static int status(Json.Obj reason, BlockingStream stream) {
    Optional<Integer> exit = reason.integer("exit");
    if (exit.isPresent()) {
      return exit.get();
    }
    Optional<String> signal = reason.text("signal");
    if (signal.isPresent()) {
      return signalStatus(signal.get());
    }
    throw stream.failure(reason);
  }

  /** As a shell gives it; 128 for a signal that has no name there. */
  static int signalStatus(String name) {
    return 128 + SIGNALS.indexOf(name) + 1;
  }

  private static void await(Task<Boolean, IOException> pump) throws InterruptedException {
    try {
      pump.get();
    } catch (IOException over) {
      // The client or the link is gone; the stream's end says which.
    }
  }

  /** Passes on what comes on one channel. */
  @FunctionalInterface
  private interface Passing {
    boolean run(InputStream from) throws IOException;
  }

  /**
   * Both channels share their credit: what has no reader any more is dropped, or the command would
   * stop at its next write to either.
   */
  private static boolean pump(BlockingStream stream, int channel, Passing passing)
      throws IOException {
    boolean isDone = false;
    try {
      isDone = passing.run(stream.output(channel));
      return isDone;
    } finally {
      if (!isDone) {
        stream.discard(channel);
      }
    }
  }

  private static boolean copy(InputStream from, OutputStream to) throws IOException {
    byte[] buffer = new byte[BUFFER];
    for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
      to.write(buffer, 0, count);
      if (from.available() == 0) {
        to.flush();
      }
    }
    to.flush();
    return true;
  }

  private static void pumpInput(InputStream from, BlockingStream stream) {
    try (OutputStream to = stream.input()) {
      byte[] buffer = new byte[BUFFER];
      for (int count = from.read(buffer); count >= 0; count = from.read(buffer)) {
        to.write(buffer, 0, count);
        to.flush();
      }
    } catch (IOException over) {
      // The command no longer reads, or the client is gone; both are handled elsewhere.
    }
  }

  private static void signal(BlockingStream stream, Streams streams, String name) {
    try {
      if (name.equals("WINCH")) {
        Optional<Streams.Terminal> terminal = streams.terminal();
        if (terminal.isPresent()) {
          stream.stream()
              .message(
                  Json.object("resize", List.of(terminal.get().columns(), terminal.get().rows())));
        }
        return;
      }
      stream.stream().message(Json.object("signal", name));
    } catch (StreamClosedException over) {
      // Nothing is left to signal.
    }
  }

  /** A refusal of the node as the status that shells give: 127 not found, 126 not allowed. */
  static Optional<Integer> shellStatus(GpushException failed) {
    if (failed.failure() instanceof AgentFailure.Refused(_, var code, _)) {
      return switch (code) {
        case "not-found" -> Optional.of(127);
        case "denied" -> Optional.of(126);
        default -> Optional.empty();
      };
    }
    return Optional.empty();
  }

  /** What a shell says about a command that it could not start. */
  static String complaint(List<String> words, int status) {
    String what = words.isEmpty() ? "the login shell" : words.getFirst();
    return what + ": " + (status == 127 ? "command not found" : "not allowed to run it");
  }

  static void complain(Streams streams, String complaint) {
    try {
      streams.err().write(("gpush: " + complaint + "\n").getBytes(StandardCharsets.UTF_8));
      streams.err().flush();
    } catch (IOException clientGone) {
      // The client is gone.
    }
  }
}
