package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.Condition;
import java.util.random.RandomGenerator;

/**
 * The threads of a link: one opens pipes and reads, and for each pipe one writes and one watches
 * the time. The reading thread alone makes all calls to receivers and the listener, so they come in
 * order, also over several pipes.
 */
final class Connector {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  /** How long good-bye may take to reach the pipe; an agent that hears none of it loses nothing. */
  private static final long BYE_NANOS = 1_000_000_000L;

  private final Link link;
  private final LinkIdentity identity;
  private final PipeSource pipes;
  private final Tasks tasks;
  private final Clock clock;
  private final RandomGenerator random;
  private final LinkListener listener;
  private final Inbox inbox;
  private final Condition changed;

  // guarded by the link's lock
  private LinkState state = new LinkState.Idle();
  private Optional<Session> current = Optional.empty();
  private Optional<String> ending = Optional.empty();
  private boolean renewing;
  private boolean finished;
  private String agent = "";
  private int protocolErrors;
  private long lastBeforeError = -1;
  private long heardNanos;

  /** One pipe; the fields are guarded by the link's lock. */
  private static final class Session {
    private final Pipe pipe;
    private boolean greeting = true;
    private boolean ended;
    private long pingNanos;
    private String reason = "the pipe ended";

    Session(Pipe pipe) {
      this.pipe = pipe;
    }
  }

  Connector(
      Link link,
      LinkIdentity identity,
      PipeSource pipes,
      Tasks tasks,
      Clock clock,
      RandomGenerator random,
      LinkListener listener) {
    this.link = link;
    this.identity = identity;
    this.pipes = pipes;
    this.tasks = tasks;
    this.clock = clock;
    this.random = random;
    this.listener = listener;
    this.inbox = new Inbox(link);
    this.changed = link.newCondition();
    this.heardNanos = clock.nanos();
  }

  /** The lock is held. */
  LinkState state() {
    return state;
  }

  Duration silence() {
    link.lock();
    try {
      return Duration.ofNanos(clock.nanos() - heardNanos);
    } finally {
      link.unlock();
    }
  }

  /** Gives up the present pipe and does not wait before the next. */
  void renewPipe() {
    Optional<Session> session;
    link.lock();
    try {
      renewing = true;
      changed.signalAll();
      session = current;
    } finally {
      link.unlock();
    }
    session.ifPresent(pipe -> cut(pipe, "a new pipe is wanted"));
  }

  /** No further pipe; the reading thread ends the streams. */
  void end(String reason) {
    Optional<Session> session;
    link.lock();
    try {
      if (ending.isEmpty()) {
        ending = Optional.of(reason);
      }
      changed.signalAll();
      session = current;
    } finally {
      link.unlock();
    }
    session.ifPresent(pipe -> cut(pipe, reason));
  }

  /** Writes BYE and waits a moment until it is on its way. */
  void sayBye() {
    link.lock();
    try {
      if (current.isEmpty()) {
        return;
      }
      link.outbox().addControl(bye("gateway-stopped", Json.object()));
      link.work().signal();
      awaitEnded(current.orElseThrow());
    } finally {
      link.unlock();
    }
  }

  private void awaitEnded(Session session) {
    long left = BYE_NANOS;
    try {
      while (!session.ended && left > 0) {
        left = changed.awaitNanos(left);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private static Frame bye(String code, Json.Obj facts) {
    return Frame.ofJson(FrameKind.BYE, 0, 0, Json.object("code", code, "facts", facts));
  }

  /** Ends one pipe; whoever reads or writes it finds out by itself. */
  private void cut(Session session, String reason) {
    link.lock();
    try {
      if (!session.ended) {
        session.ended = true;
        session.reason = reason;
      }
      link.work().signalAll();
      changed.signalAll();
    } finally {
      link.unlock();
    }
    closeQuietly(session.pipe);
  }

  private static void closeQuietly(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException late) {
      LOG.log(System.Logger.Level.DEBUG, "closing a pipe failed", late);
    }
  }

  // ---- the reading thread

  /**
   * Pipe after pipe until the end; the first answer, or why there is none, goes to the future. True
   * when it was the end.
   */
  boolean run(CompletableFuture<Json.Obj> first) {
    try {
      LinkState end = pipes(first);
      switch (end) {
        case LinkState.Over(var reason) ->
            first.completeExceptionally(
                new GpushException(new AgentFailure.LinkOver(identity.node(), reason)));
        case LinkState.Refused(var failure) ->
            first.completeExceptionally(new GpushException(failure));
        case LinkState.Idle _, LinkState.Up _, LinkState.Cut _ ->
            throw new IllegalStateException("not an end: " + end);
      }
      finish(end);
      return true;
    } catch (IOException | GpushException failed) {
      first.completeExceptionally(failed);
      return false;
    } catch (InterruptedException stop) {
      if (first.completeExceptionally(stop)) {
        return false;
      }
      finish(new LinkState.Over("stopped"));
      return true;
    } catch (RuntimeException | Error bug) {
      LOG.log(System.Logger.Level.ERROR, "the link ends by a bug, node=" + identity.node(), bug);
      first.completeExceptionally(bug);
      finish(new LinkState.Over("internal error"));
      return true;
    }
  }

  private LinkState pipes(CompletableFuture<Json.Obj> first)
      throws IOException, InterruptedException {
    long pause = Limits.BACKOFF_FIRST_NANOS;
    while (true) {
      LinkState end;
      try {
        end = converse(first);
      } catch (IOException | GpushException failed) {
        if (!first.isDone()) {
          throw failed;
        }
        end = new LinkState.Cut(String.valueOf(failed.getMessage()));
      }
      Optional<String> wanted = ending();
      if (wanted.isPresent()) {
        return new LinkState.Over(wanted.orElseThrow());
      }
      if (end.isFinal()) {
        return end;
      }
      if (!first.isDone()) {
        String reason = end instanceof LinkState.Cut(var why) ? why : "the pipe ended";
        throw new GpushException(new AgentFailure.LinkOver(identity.node(), reason));
      }
      boolean wasUp = become(end) instanceof LinkState.Up;
      pause = wasUp ? Limits.BACKOFF_FIRST_NANOS : Math.min(2 * pause, Limits.BACKOFF_LAST_NANOS);
      await((long) (pause * (0.5 + random.nextDouble() / 2)));
    }
  }

  private Optional<String> ending() {
    link.lock();
    try {
      return ending;
    } finally {
      link.unlock();
    }
  }

  /** Waits, unless there is a reason not to. */
  private void await(long nanos) throws InterruptedException {
    link.lockInterruptibly();
    try {
      long left = nanos;
      while (left > 0 && !renewing && ending.isEmpty()) {
        left = changed.awaitNanos(left);
      }
    } finally {
      link.unlock();
    }
  }

  /** Changes the state and tells of it; the former state comes back. */
  private LinkState become(LinkState next) {
    LinkState before;
    link.lock();
    try {
      before = state;
      if (before.isFinal()) {
        return before;
      }
      state = next;
    } finally {
      link.unlock();
    }
    listener.changed(next);
    return before;
  }

  /** Ends all streams and tells of it, once. */
  void finish(LinkState end) {
    List<Runnable> calls;
    link.lock();
    try {
      if (finished) {
        return;
      }
      finished = true;
    } finally {
      link.unlock();
    }
    become(end);
    link.lock();
    try {
      calls = inbox.end(end instanceof LinkState.Over(var reason) ? reason : "refused");
    } finally {
      link.unlock();
    }
    calls.forEach(Runnable::run);
  }

  /** One pipe from its opening to its end; what the end means. */
  private LinkState converse(CompletableFuture<Json.Obj> first)
      throws IOException, InterruptedException {
    boolean isFirst = !first.isDone() && agentSeen().isEmpty();
    link.lock();
    try {
      renewing = false;
    } finally {
      link.unlock();
    }
    var session =
        new Session(pipes.open(isFirst ? PipeSource.Attempt.FIRST : PipeSource.Attempt.AGAIN));
    begin(session);
    var writer = tasks.fork("write", () -> write(session));
    var watcher = tasks.fork("watch", () -> watch(session));
    try {
      return read(session, first);
    } catch (ProtocolException broken) {
      return protocolError(session, broken);
    } catch (IOException broken) {
      return new LinkState.Cut(reasonOf(session, String.valueOf(broken.getMessage())));
    } finally {
      cut(session, "the pipe ended");
      watcher.cancel(true);
      awaitDone(writer);
      link.lock();
      try {
        current = Optional.empty();
      } finally {
        link.unlock();
      }
    }
  }

  private String agentSeen() {
    link.lock();
    try {
      return agent;
    } finally {
      link.unlock();
    }
  }

  private void awaitDone(Future<?> writer) throws InterruptedException {
    try {
      writer.get();
    } catch (ExecutionException failed) {
      throw Tasks.unchecked(failed.getCause() == null ? failed : failed.getCause());
    }
  }

  private void begin(Session session) {
    boolean isTooLate;
    link.lock();
    try {
      long now = clock.nanos();
      heardNanos = now;
      session.pingNanos = now;
      current = Optional.of(session);
      link.outbox().newPipe();
      link.outbox().addControl(Frame.ofJson(FrameKind.HELLO, 0, 0, hello()));
      isTooLate = ending.isPresent() || renewing;
    } finally {
      link.unlock();
    }
    if (isTooLate) {
      cut(session, "not wanted any more");
    }
  }

  private Json.Obj hello() {
    return Json.object(
        "version", 1,
        "minor", 0,
        "holder", identity.holder(),
        "incarnation", identity.incarnation(),
        "term", identity.term(),
        "agent", agent,
        "last", inbox.last(),
        "capabilities", identity.capabilities());
  }

  private LinkState read(Session session, CompletableFuture<Json.Obj> first) throws IOException {
    var frames = new FrameReader(session.pipe.output());
    while (true) {
      Optional<Frame> next = frames.next();
      if (next.isEmpty()) {
        return new LinkState.Cut(reasonOf(session, "the pipe ended"));
      }
      Frame frame = next.orElseThrow();
      Json.Obj json = frame.kind().shape() == FrameKind.Shape.JSON ? frame.json() : Json.object();
      switch (frame.kind()) {
        case WELCOME -> welcome(session, json, first);
        case BYE -> {
          return farewell(json);
        }
        case PING -> answer(frame);
        case HELLO, ACK, CREDIT, PONG, OPEN, OPENED, REFUSED, DATA, END, MESSAGE, CLOSE ->
            accept(session, frame, json);
      }
    }
  }

  private String reasonOf(Session session, String otherwise) {
    link.lock();
    try {
      return session.ended ? session.reason : otherwise;
    } finally {
      link.unlock();
    }
  }

  private void answer(Frame ping) {
    link.lock();
    try {
      heardNanos = clock.nanos();
      link.outbox().addPong(Frame.ofNumber(FrameKind.PONG, 0, ping.number()));
      link.work().signal();
    } finally {
      link.unlock();
    }
  }

  private void accept(Session session, Frame frame, Json.Obj json) throws ProtocolException {
    Runnable call;
    link.lock();
    try {
      if (session.greeting) {
        throw new ProtocolException("unexpected", frame.kind() + " before WELCOME");
      }
      heardNanos = clock.nanos();
      call = inbox.accept(frame, json, heardNanos);
    } finally {
      link.unlock();
    }
    call.run();
  }

  private void welcome(Session session, Json.Obj json, CompletableFuture<Json.Obj> first)
      throws ProtocolException {
    String incarnation = json.text("agent").orElse("");
    boolean resumed;
    var calls = new ArrayList<Runnable>();
    link.lock();
    try {
      if (!session.greeting) {
        throw new ProtocolException("unexpected", "WELCOME twice");
      }
      heardNanos = clock.nanos();
      resumed = json.flag("resumed") && !agent.isEmpty() && agent.equals(incarnation);
      inbox.newPipe();
      if (resumed) {
        link.outbox().resume(json.number("last").orElse(0L), link.streams());
      } else {
        calls.addAll(inbox.restart(Inbox.AGENT_RESTARTED));
      }
      agent = incarnation;
    } finally {
      link.unlock();
    }
    calls.forEach(Runnable::run);
    become(new LinkState.Up(json, resumed));
    link.lock();
    try {
      session.greeting = false;
      link.work().signal();
    } finally {
      link.unlock();
    }
    first.complete(json);
  }

  private LinkState farewell(Json.Obj json) {
    String code = json.text("code").orElse("");
    Json.Obj facts = json.object("facts");
    return switch (code) {
      case "term", "superseded" ->
          new LinkState.Refused(
              new AgentFailure.Held("gang", facts.text("holder").orElse("another gateway")));
      case "version" ->
          new LinkState.Refused(
              new AgentFailure.NotUnderstood("another version: " + facts.write(), ""));
      case "released" -> new LinkState.Over("released");
      case "protocol" -> countProtocolError("the agent: " + facts.write());
      default -> new LinkState.Cut(code);
    };
  }

  private LinkState protocolError(Session session, ProtocolException broken) {
    LOG.log(System.Logger.Level.WARNING, "node={0} rule={1}", identity.node(), broken.getMessage());
    link.lock();
    try {
      link.outbox()
          .addControl(
              bye(
                  "protocol",
                  Json.object(
                      "rule", broken.rule(), "detail", String.valueOf(broken.getMessage()))));
      link.work().signal();
      awaitEnded(session);
    } finally {
      link.unlock();
    }
    return countProtocolError(String.valueOf(broken.getMessage()));
  }

  private LinkState countProtocolError(String detail) {
    link.lock();
    try {
      protocolErrors = inbox.last() == lastBeforeError ? protocolErrors + 1 : 1;
      lastBeforeError = inbox.last();
      return protocolErrors >= Limits.MAX_PROTOCOL_ERRORS
          ? new LinkState.Over("protocol: " + detail)
          : new LinkState.Cut("protocol: " + detail);
    } finally {
      link.unlock();
    }
  }

  // ---- the writing thread

  private boolean write(Session session) throws InterruptedException {
    var frames = new FrameWriter(session.pipe.input());
    var batch = new ArrayList<Frame>();
    try {
      while (take(session, batch)) {
        for (Frame frame : batch) {
          frames.write(frame);
        }
        frames.flush();
        if (batch.stream().anyMatch(frame -> frame.kind() == FrameKind.BYE)) {
          cut(session, "we said good-bye");
        }
        batch.clear();
      }
    } catch (IOException broken) {
      cut(session, String.valueOf(broken.getMessage()));
    }
    return true;
  }

  /** Waits for something to write; false at the end of the pipe. */
  private boolean take(Session session, List<Frame> batch) throws InterruptedException {
    link.lockInterruptibly();
    try {
      while (!session.ended) {
        long now = clock.nanos();
        pingIfDue(session, now);
        if (session.greeting) {
          link.outbox().takeControl(batch);
        } else {
          if (inbox.untilAck(now) <= 0) {
            batch.add(inbox.takeAck());
          }
          for (LinkStream stream : link.outbox().take(batch)) {
            if (stream.isPeerClosed()) {
              link.forget(stream);
            }
          }
        }
        if (!batch.isEmpty()) {
          return true;
        }
        long untilPing = Math.max(heardNanos, session.pingNanos) + Limits.PING_NANOS - now;
        link.work()
            .awaitNanos(
                Math.max(
                    1, Math.min(untilPing, session.greeting ? untilPing : inbox.untilAck(now))));
      }
      return false;
    } finally {
      link.unlock();
    }
  }

  private void pingIfDue(Session session, long now) {
    if (!session.greeting && now - Math.max(heardNanos, session.pingNanos) >= Limits.PING_NANOS) {
      session.pingNanos = now;
      link.outbox().addControl(Frame.ofNumber(FrameKind.PING, 0, now));
    } else if (session.greeting) {
      session.pingNanos = now;
    }
  }

  // ---- the watching thread: the writer may hang in a pipe that is dead, so it cannot watch itself

  private boolean watch(Session session) throws InterruptedException {
    while (true) {
      String reason;
      link.lockInterruptibly();
      try {
        long left = 1;
        while (!session.ended && left > 0) {
          long limit = session.greeting ? Limits.HELLO_NANOS : Limits.RENEW_NANOS;
          left = heardNanos + limit - clock.nanos();
          if (left > 0) {
            changed.awaitNanos(left);
          }
        }
        if (session.ended) {
          return true;
        }
        reason = session.greeting ? "no answer to HELLO" : "silence";
      } finally {
        link.unlock();
      }
      cut(session, reason);
    }
  }
}
