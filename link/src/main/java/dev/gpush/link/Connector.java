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
import java.util.concurrent.locks.Condition;
import java.util.random.RandomGenerator;

/**
 * The threads of a link: one opens pipes and reads, and for each pipe one writes and one watches
 * the time. The reading thread alone makes all calls to receivers and the listener, so they come in
 * order, also over several pipes.
 */
final class Connector {
  private static final System.Logger LOG = System.getLogger("gpush.link");

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
  private Optional<PipeSession> current = Optional.empty();
  private Optional<String> ending = Optional.empty();
  private boolean renewing;
  private boolean finished;
  private String agent = "";
  private int protocolErrors;
  private long lastBeforeError = -1;

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
    this.inbox = new Inbox(link, clock.nanos());
    this.changed = link.newCondition();
  }

  /** The lock is held. */
  LinkState state() {
    return state;
  }

  Duration silence() {
    link.lock();
    try {
      return Duration.ofNanos(clock.nanos() - inbox.heardNanos());
    } finally {
      link.unlock();
    }
  }

  /** Gives up the present pipe and does not wait before the next. */
  void renewPipe() {
    Optional<PipeSession> session;
    link.lock();
    try {
      renewing = true;
      changed.signalAll();
      session = current;
    } finally {
      link.unlock();
    }
    session.ifPresent(pipe -> pipe.cut("a new pipe is wanted"));
  }

  /** No further pipe; the reading thread ends the streams. */
  void end(String reason) {
    Optional<PipeSession> session;
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
    session.ifPresent(pipe -> pipe.cut(reason));
  }

  /** Tells the agent that this gateway ends; waits a moment until that is on its way. */
  void sayBye() {
    Optional<PipeSession> session;
    link.lock();
    try {
      session = current;
    } finally {
      link.unlock();
    }
    session.ifPresent(pipe -> pipe.sayBye("gateway-stopped", Json.object()));
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
        end = new LinkState.Cut(reason(failed));
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

  /** For people, who may see it for as long as it lasts. */
  private static String reason(Exception failed) {
    return failed instanceof GpushException told && told.failure() instanceof AgentFailure.NotThere
        ? LinkState.Cut.NO_AGENT
        : String.valueOf(failed.getMessage());
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
    Pipe pipe = pipes.open(isFirst ? PipeSource.Attempt.FIRST : PipeSource.Attempt.AGAIN);
    var session = new PipeSession(link, inbox, clock, pipe);
    begin(session);
    try (Tasks threads = tasks.group("pipe")) {
      threads.start("write", session::write);
      threads.start("watch", session::watch);
      return talk(session, first);
    } finally {
      link.lock();
      try {
        current = Optional.empty();
      } finally {
        link.unlock();
      }
    }
  }

  /** Reads until the pipe ends; then it is closed, so that its other threads end too. */
  private LinkState talk(PipeSession session, CompletableFuture<Json.Obj> first) {
    try {
      return read(session, first);
    } catch (ProtocolException broken) {
      return protocolError(session, broken);
    } catch (IOException broken) {
      return new LinkState.Cut(session.reasonOr(String.valueOf(broken.getMessage())));
    } finally {
      session.cut("the pipe ended");
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

  private void begin(PipeSession session) {
    boolean isTooLate;
    link.lock();
    try {
      inbox.heard(clock.nanos());
      current = Optional.of(session);
      link.outbox().newPipe();
      link.outbox().addControl(Frame.ofJson(FrameKind.HELLO, 0, 0, hello()));
      isTooLate = ending.isPresent() || renewing;
    } finally {
      link.unlock();
    }
    if (isTooLate) {
      session.cut("not wanted any more");
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

  private LinkState read(PipeSession session, CompletableFuture<Json.Obj> first)
      throws IOException {
    var frames = new FrameReader(session.pipe().output());
    while (true) {
      Optional<Frame> next = frames.next();
      if (next.isEmpty()) {
        return new LinkState.Cut(session.reasonOr("the pipe ended"));
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

  private void answer(Frame ping) {
    link.lock();
    try {
      inbox.heard(clock.nanos());
      link.outbox().addPong(Frame.ofNumber(FrameKind.PONG, 0, ping.number()));
      link.work().signal();
    } finally {
      link.unlock();
    }
  }

  private void accept(PipeSession session, Frame frame, Json.Obj json) throws ProtocolException {
    Runnable call;
    link.lock();
    try {
      if (session.isGreeting()) {
        throw new ProtocolException("unexpected", frame.kind() + " before WELCOME");
      }
      inbox.heard(clock.nanos());
      call = inbox.accept(frame, json, inbox.heardNanos());
    } finally {
      link.unlock();
    }
    call.run();
  }

  private void welcome(PipeSession session, Json.Obj json, CompletableFuture<Json.Obj> first)
      throws ProtocolException {
    String incarnation = json.text("agent").orElse("");
    boolean resumed;
    var calls = new ArrayList<Runnable>();
    link.lock();
    try {
      if (!session.isGreeting()) {
        throw new ProtocolException("unexpected", "WELCOME twice");
      }
      inbox.heard(clock.nanos());
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
      session.greeted();
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

  private LinkState protocolError(PipeSession session, ProtocolException broken) {
    String detail = String.valueOf(broken.getMessage());
    LOG.log(System.Logger.Level.WARNING, "node={0} broken rule: {1}", identity.node(), detail);
    session.sayBye("protocol", Json.object("rule", broken.rule(), "detail", detail));
    return countProtocolError(detail);
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
}
