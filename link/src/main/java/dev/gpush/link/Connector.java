package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * The threads of a link: one opens pipes and reads, and for each pipe one writes and one watches
 * the time. The reading thread alone makes all calls to receivers and the listener, so they come in
 * order, also over several pipes.
 */
final class Connector {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  /** The source's own limits count: a node may have to be started first. */
  private static final Duration FIRST_LIMIT = Duration.ofMinutes(15);

  private final Link link;
  private final LinkIdentity identity;
  private final Tasks tasks;
  private final Clock clock;
  private final LinkTiming timing;
  private final LinkListener listener;
  private final Inbox inbox;
  private final Dialer dialer;

  // guarded by the link's lock
  private LinkState state = new LinkState.Idle();
  private final ArrayDeque<LinkState> untold = new ArrayDeque<>();
  private boolean telling;
  private Optional<PipeSession> current = Optional.empty();
  private Optional<Long> usefulNanos = Optional.empty();
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
      LinkTiming timing,
      LinkListener listener) {
    this.link = link;
    this.identity = identity;
    this.tasks = tasks;
    this.clock = clock;
    this.timing = timing;
    this.listener = listener;
    this.inbox = new Inbox(link, new Contact(timing, clock.nanos()), clock.nanos());
    this.dialer = new Dialer(link, pipes, tasks, clock, random, timing);
  }

  /** The lock is held. */
  LinkState state() {
    return state;
  }

  /** The pipe that is there now. The lock is held. */
  Optional<PipeSession> current() {
    return current;
  }

  Duration silence() {
    link.lock();
    try {
      return Duration.ofNanos(clock.nanos() - inbox.contact().heardNanos());
    } finally {
      link.unlock();
    }
  }

  /** Gives up the present pipe and does not wait before the next. */
  void renewPipe() {
    Optional<PipeSession> session;
    link.lock();
    try {
      dialer.hurry();
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
      dialer.end(reason);
      session = current;
    } finally {
      link.unlock();
    }
    session.ifPresent(pipe -> pipe.cut(reason));
  }

  /**
   * Tells the agent that this gateway ends; waits a moment until that is on its way. No pipe
   * follows.
   */
  void sayBye() {
    Optional<PipeSession> session;
    link.lock();
    try {
      dialer.end("closed");
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
    while (true) {
      LinkState end;
      try {
        end = converse(first);
      } catch (IOException | GpushException failed) {
        if (!first.isDone()) {
          throw failed;
        }
        end = new LinkState.Cut(Dialer.reason(failed));
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
      become(end);
      dialer.pause(lastUseful());
    }
  }

  private Optional<String> ending() {
    return locked(dialer::ending);
  }

  private Optional<Long> lastUseful() {
    link.lock();
    try {
      Optional<Long> was = usefulNanos;
      usefulNanos = Optional.empty();
      return was;
    } finally {
      link.unlock();
    }
  }

  private LinkState stateNow() {
    return locked(() -> state);
  }

  private <T> T locked(Supplier<T> look) {
    link.lock();
    try {
      return look.get();
    } finally {
      link.unlock();
    }
  }

  /** Changes the state and tells of it. */
  private void become(LinkState next) {
    link.lock();
    try {
      if (state.isFinal()) {
        return;
      }
      state = next;
      untold.add(next);
    } finally {
      link.unlock();
    }
    tell();
  }

  /** Two threads change the state; the listener hears of one after the other, in order. */
  private void tell() {
    while (true) {
      LinkState next;
      link.lock();
      try {
        if (telling || untold.isEmpty()) {
          return;
        }
        telling = true;
        next = untold.remove();
      } finally {
        link.unlock();
      }
      try {
        listener.changed(next);
      } finally {
        link.lock();
        try {
          telling = false;
        } finally {
          link.unlock();
        }
      }
    }
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
    dialer.close();
    calls.forEach(Runnable::run);
  }

  /** One pipe from its opening to its end; what the end means. */
  private LinkState converse(CompletableFuture<Json.Obj> first)
      throws IOException, InterruptedException {
    boolean isFirst = !first.isDone() && agentSeen().isEmpty();
    Optional<Pipe> opened =
        dialer.open(
            isFirst ? PipeSource.Attempt.FIRST : PipeSource.Attempt.AGAIN,
            isFirst ? FIRST_LIMIT : timing.opening());
    if (opened.isEmpty()) {
      return new LinkState.Cut("no pipe in time");
    }
    var session = new PipeSession(link, inbox, timing, clock, opened.orElseThrow());
    begin(session);
    try (Tasks threads = tasks.group("pipe")) {
      threads.startOnThread("write", session::write);
      threads.start("watch", () -> watch(session));
      return talk(session, first);
    } finally {
      link.lock();
      try {
        current = Optional.empty();
        usefulNanos = session.usefulNanos();
      } finally {
        link.unlock();
      }
    }
  }

  /** The watching thread of a pipe: until it ends. */
  private void watch(PipeSession session) {
    try {
      while (session.awaitSilence()) {
        LinkState before = stateNow();
        become(new LinkState.Cut(LinkState.Cut.SILENCE));
        if (dialer.replace(session, this::become)
            && before instanceof LinkState.Up(var welcome, _)) {
          become(new LinkState.Up(welcome, true));
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
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
    return locked(() -> agent);
  }

  private void begin(PipeSession session) {
    boolean isTooLate;
    link.lock();
    try {
      inbox.contact().begin(clock.nanos());
      current = Optional.of(session);
      link.outbox().newPipe();
      link.outbox().addControl(Frame.ofJson(FrameKind.HELLO, 0, 0, hello()));
      isTooLate = dialer.isTooLate();
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
        "at", clock.nanos(),
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
        case WELCOME -> welcome(session, frame, first);
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
      inbox.contact().heard(ping, clock.nanos());
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
      long now = clock.nanos();
      inbox.contact().heard(frame, now);
      call = inbox.accept(frame, json, now);
    } finally {
      link.unlock();
    }
    call.run();
  }

  private void welcome(PipeSession session, Frame frame, CompletableFuture<Json.Obj> first)
      throws ProtocolException {
    Json.Obj json = frame.json();
    String incarnation = json.text("agent").orElse("");
    boolean resumed;
    var calls = new ArrayList<Runnable>();
    link.lock();
    try {
      if (!session.isGreeting()) {
        throw new ProtocolException("unexpected", "WELCOME twice");
      }
      inbox.contact().heard(frame, clock.nanos());
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
              new AgentFailure.Superseded(
                  facts.text("holder").orElse("another gateway"), facts.number("term").orElse(0L)));
      case "version" ->
          new LinkState.Refused(
              new AgentFailure.NotUnderstood("another version: " + facts.write(), ""));
      case "released" -> LinkState.released(facts.text("why").orElse(""));
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
