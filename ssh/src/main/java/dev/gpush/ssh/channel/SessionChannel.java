package dev.gpush.ssh.channel;

import dev.gpush.core.failure.Message;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.RawText;
import dev.gpush.link.LinkStream;
import dev.gpush.link.StreamClosedException;
import dev.gpush.link.StreamReceiver;
import dev.gpush.ssh.connection.ClientLimits;
import dev.gpush.ssh.connection.ConnectionLog;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.Route;
import dev.gpush.ssh.connection.SshMessages;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.client.future.OpenFuture;
import org.apache.sshd.common.channel.RequestHandler.Result;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * A channel of type {@code session}: a shell, a command or sftp, with or without a terminal, as an
 * exec stream on the node. It behaves as sshd's does: requests are answered at once and in order,
 * standard output and error stay apart, and at the end come exit status or signal, end of file, and
 * close.
 */
public final class SessionChannel extends StreamChannel {
  private static final int OWN_FAILURE = 255;

  private final Connections connections;
  private final SessionRequest request = new SessionRequest();
  private final ExitMessages exitMessages = new ExitMessages(this);
  private Optional<ForwardedAgent> agent = Optional.empty();
  private boolean started;
  private Optional<Program> afterReply = Optional.empty();

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<LinkStream> stream = Optional.empty();
  private final List<Json.Obj> early = new ArrayList<>();

  SessionChannel(Connections connections) {
    this.connections = connections;
  }

  // ---- requests of the client; on the connection's thread

  @Override
  protected OpenFuture doInit(Buffer buffer) {
    return OpenAnswer.refusalOfOneTooMany(this).orElseGet(() -> super.doInit(buffer));
  }

  /**
   * The route opens once the reply is sent: it may answer at once, on any thread, and a client must
   * not see output or the end of a program before it knows that its request was accepted.
   */
  @Override
  public void handleRequest(Buffer buffer) throws IOException {
    super.handleRequest(buffer);
    Optional<Program> next = afterReply;
    afterReply = Optional.empty();
    next.ifPresent(program -> connections.open(getSession(), this, program));
  }

  @Override
  protected Result handleInternalRequest(String name, boolean wantReply, Buffer buffer)
      throws IOException {
    return switch (name) {
      case "env" -> result(request.setVariable(raw(buffer), raw(buffer)));
      case "pty-req" -> terminal(buffer);
      case "auth-agent-req@openssh.com" -> agent();
      case "shell" -> start(new SessionRequest.Program.Shell());
      case "exec" -> command(raw(buffer));
      case "subsystem" -> subsystem(buffer.getString());
      case "window-change" -> resize(buffer);
      case "signal" -> tell(Json.object("signal", buffer.getString()));
      // As under sshd: the pseudo-terminals of Linux have no break, and asking is no failure.
      case "break" -> result(request.hasTerminal());
      case "eow@openssh.com" -> {
        // The reader of the output is gone (ssh host yes | head -1): the program must get SIGPIPE.
        dropOutput();
        yield Result.ReplySuccess;
      }
      default -> super.handleInternalRequest(name, wantReply, buffer);
    };
  }

  /** SSHD would decode a string as UTF-8, and a byte that is not would be lost. */
  private static String raw(Buffer buffer) {
    return RawText.decode(buffer.getBytes());
  }

  private static Result result(boolean done) {
    return done ? Result.ReplySuccess : Result.ReplyFailure;
  }

  private Result terminal(Buffer buffer) {
    String type = raw(buffer);
    long columns = buffer.getUInt();
    long rows = buffer.getUInt();
    buffer.getUInt();
    buffer.getUInt();
    if (started) {
      return Result.ReplyFailure;
    }
    request.setTerminal(type, columns, rows, TerminalModes.parse(buffer.getBytes()));
    return Result.ReplySuccess;
  }

  private Result agent() {
    if (started) {
      return Result.ReplyFailure;
    }
    agent = agent.or(() -> Optional.of(new ForwardedAgent(service)));
    return Result.ReplySuccess;
  }

  private Result resize(Buffer buffer) {
    long columns = SessionRequest.cells(buffer.getUInt());
    long rows = SessionRequest.cells(buffer.getUInt());
    return tell(Json.object("resize", List.of(columns, rows)));
  }

  private Result command(String text) {
    boolean fits = text.length() <= ClientLimits.COMMAND_BYTES && text.indexOf('\0') < 0;
    return fits ? start(new SessionRequest.Program.Command(text)) : Result.ReplyFailure;
  }

  private Result subsystem(String name) {
    return name.equals("sftp")
        ? start(new SessionRequest.Program.FileTransfer())
        : Result.ReplyFailure;
  }

  /**
   * Reports success before the node is known: a client waits for that before it sends anything, and
   * later failures are written to stderr.
   */
  private Result start(SessionRequest.Program program) {
    if (started) {
      return Result.ReplyFailure;
    }
    started = true;
    ConnectionLog.begins(this, request.kind(program));
    afterReply = Optional.of(new Program(program));
    return Result.ReplySuccess;
  }

  /** Messages that come before the program has started are kept, the last few. */
  private Result tell(Json.Obj message) {
    Optional<LinkStream> to;
    lock.lock();
    try {
      to = stream;
      if (to.isEmpty()) {
        early.add(message);
        early.subList(0, Math.max(0, early.size() - ClientLimits.EARLY_MESSAGES)).clear();
      }
    } finally {
      lock.unlock();
    }
    to.ifPresent(opened -> tell(opened, message));
    return Result.ReplySuccess;
  }

  private static void tell(LinkStream to, Json.Obj message) {
    try {
      to.message(message);
    } catch (StreamClosedException over) {
      // The program has ended: it needs no signal and has no size.
    }
  }

  @Override
  protected void preClose() {
    if (request.hasTerminal()) {
      inlet.abort();
    }
    agent.ifPresent(ForwardedAgent::close);
    super.preClose();
  }

  /** Whether the client waits for a program here. */
  public boolean hasProgram() {
    return started && !isClosing();
  }

  /** Tells the user of a terminal; other programs' output is not for people. */
  public void announce(String line) {
    if (request.hasTerminal() && started) {
      outlet.errorText("\r\n" + line + "\r\n");
    }
  }

  // ---- events from the node; on the link's thread, or on the one that opens the stream

  private final class Program implements Connections.Opening {
    private final SessionRequest.Program program;

    Program(SessionRequest.Program program) {
      this.program = program;
    }

    @Override
    public void open(Route.Node node, String client) throws InterruptedException {
      if (agent.isPresent()) {
        agent.orElseThrow().listen(node, client);
      }
      if (!isClosing()) {
        Map<String, String> variables =
            ConnectionVariables.of(
                getSession().getIoSession(), agent.flatMap(ForwardedAgent::path));
        Json.Obj wanted = request.on(node, program, variables).with("client", client);
        inlet.attach(node.link().open(wanted, Output::new));
      }
    }

    @Override
    public void refused(Message text) {
      fail(text);
    }
  }

  private final class Output implements StreamReceiver {
    private final LinkStream from;
    private boolean hasStatus;

    Output(LinkStream from) {
      this.from = from;
    }

    @Override
    public void opened(Json.Obj facts) {
      lock.lock();
      try {
        early.forEach(message -> tell(from, message));
        early.clear();
        stream = Optional.of(from);
      } finally {
        lock.unlock();
      }
    }

    @Override
    public void data(int channel, ByteBuffer bytes) {
      send(channel, bytes, from);
    }

    /**
     * The program has ended, and its children still write. As with sshd, the status is sent now and
     * no more input is accepted; the end of file comes when the last writer has closed.
     */
    @Override
    public void message(Json.Obj message) {
      Optional<Outlet.Action> status = status(message);
      if (status.isPresent() && !hasStatus) {
        hasStatus = true;
        outlet.then(status.orElseThrow());
        outlet.then(exitMessages::sendEndOfWrite);
      }
    }

    @Override
    public void closed(Json.Obj reason) {
      if (hasStatus) {
        SessionChannel.this.end(() -> {});
      } else {
        finish(reason);
      }
    }
  }

  private void finish(Json.Obj reason) {
    Optional<Outlet.Action> status = status(reason);
    if (status.isPresent()) {
      end(status.orElseThrow());
    } else if (reason.text("code").isPresent()) {
      fail(SshMessages.ofCode(String.valueOf(getSession().getUsername()), "the command", reason));
    } else {
      end(() -> exitMessages.sendSignal("PIPE", false));
    }
  }

  /** The action that reports how the program ended; empty when the reason has no status. */
  private Optional<Outlet.Action> status(Json.Obj reason) {
    Optional<Outlet.Action> exit =
        reason.integer("exit").map(number -> () -> sendExitStatus(number));
    return exit.or(
        () ->
            reason
                .text("signal")
                .map(name -> () -> exitMessages.sendSignal(name, reason.flag("core"))));
  }

  private void fail(Message text) {
    outlet.errorText(request.hasTerminal() ? text.text().replace("\n", "\r\n") : text.text());
    end(() -> sendExitStatus(OWN_FAILURE));
  }

  /**
   * The status goes before the end of file: a client that has ended its input closes the channel as
   * soon as it sees ours end, and SSHD sends nothing on a channel that is being closed.
   */
  private void end(Outlet.Action status) {
    outlet.then(
        () -> {
          status.run();
          sendEof();
          close(false);
        });
  }
}
