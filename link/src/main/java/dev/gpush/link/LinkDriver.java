package dev.gpush.link;

import dev.gpush.core.backend.Pipe;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.ProtocolException;
import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.PipeCommand;
import dev.gpush.link.machine.StreamState;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongConsumer;

/**
 * Owns the {@link LinkMachine} of a link: its lock, its threads, and the pipes.
 *
 * <p>Threads: one reads pipe after pipe and makes all calls to receivers, so these come in order;
 * one writes for each pipe ({@link PipeWriter}); one watches the time; one opens a pipe. Every call
 * to the machine is made with the lock held and followed by {@link #settle}; receivers, the
 * listener and {@link Pipe#close} are called without it.
 */
final class LinkDriver {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  private static final Json.Obj NOTHING = Json.object();

  private final LinkIdentity identity;
  private final PipeSource source;
  private final Tasks tasks;
  private final Clock clock;
  private final LinkListener listener;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition changed = lock.newCondition();
  private final Condition told = lock.newCondition();

  // guarded by lock
  private final LinkMachine machine;
  private final Map<StreamState, LinkStream> streams = new HashMap<>();
  private final Map<Integer, Opening> openings = new HashMap<>();
  private final Map<Integer, Pipe> pipes = new HashMap<>();
  private final ArrayDeque<Untold> untold = new ArrayDeque<>();
  private final List<PipeCommand> orders = new ArrayList<>();
  private Optional<Thread> teller = Optional.empty();
  private int untoldStates;
  private LinkState state = new LinkState.Idle();
  private Optional<PipeWriter> writer = Optional.empty();
  private Optional<Throwable> openingFailure = Optional.empty();
  private Optional<Throwable> connectFailure = Optional.empty();
  private CompletableFuture<Json.Obj> first = new CompletableFuture<>();
  private boolean isRunning;

  /** An event and the state of the link after it. */
  private record Untold(LinkEvent event, LinkState state) {}

  LinkDriver(
      LinkIdentity identity,
      PipeSource source,
      Tasks tasks,
      Clock clock,
      LinkMachine machine,
      LinkListener listener) {
    this.identity = identity;
    this.source = source;
    this.tasks = tasks;
    this.clock = clock;
    this.machine = machine;
    this.listener = listener;
  }

  // ---- for Link and LinkStream

  ReentrantLock lock() {
    return lock;
  }

  LinkMachine machine() {
    return machine;
  }

  int node() {
    return identity.node();
  }

  long nanos() {
    return clock.nanos();
  }

  Duration silence() {
    lock.lock();
    try {
      return Duration.ofNanos(clock.nanos() - machine.heardNanos());
    } finally {
      lock.unlock();
    }
  }

  /** The lock is held. */
  LinkState state() {
    return state;
  }

  /** The lock is held. */
  void add(LinkStream stream) {
    streams.put(stream.state(), stream);
  }

  /** The lock is held. */
  void remove(LinkStream stream) {
    streams.remove(stream.state());
  }

  /**
   * After a request that concerns streams only: what is to be written goes. The lock is held.
   * Nothing of this kind makes events or commands.
   */
  void workIsDue() {
    writer.ifPresent(PipeWriter::workIsDue);
  }

  /** Something that may concern pipes: the machine is called, and what it commands is done. */
  void act(LongConsumer call) {
    lock.lock();
    try {
      call.accept(clock.nanos());
      settle();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    obey();
  }

  /** The first answer, or why there is none. */
  Json.Obj connect() throws InterruptedException, ExecutionException {
    var answer = new CompletableFuture<Json.Obj>();
    lock.lock();
    try {
      first = answer;
      openingFailure = Optional.empty();
      connectFailure = Optional.empty();
    } finally {
      lock.unlock();
    }
    var running = tasks.forkOnThread("read", this::run);
    try {
      return answer.get();
    } catch (InterruptedException stop) {
      running.cancel(true);
      act(_ -> machine.stopConnecting());
      throw stop;
    }
  }

  /** Says BYE and waits a moment until that is on its way, then ends everything. */
  void close() {
    act(now -> machine.leave("gateway-stopped", "closed", now));
    lock.lock();
    try {
      while (isRunning && !machine.isOver()) {
        changed.await();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      lock.unlock();
    }
    act(_ -> machine.finish("closed"));
    tasks.close();
    tellAll(true);
  }

  // ---- after each call of the machine; the lock is held

  /** Takes the machine's events and commands, and sees that what is due is written. */
  private void settle() {
    while (machine.hasEvents()) {
      LinkEvent event = machine.nextEvent().orElseThrow();
      switch (event) {
        case LinkEvent.OfLink ofLink -> {
          become(ofLink);
          untoldStates++;
          changed.signalAll();
        }
        case LinkEvent.Opened(var stream, _) -> signal(stream);
        case LinkEvent.Writable(var stream) -> signal(stream);
        case LinkEvent.Closed(var stream, _) -> signal(stream);
        case LinkEvent.Data _, LinkEvent.Ended _, LinkEvent.Message _, LinkEvent.Offered _ -> {}
      }
      untold.add(new Untold(event, state));
    }
    while (machine.hasCommands()) {
      orders.add(machine.nextCommand().orElseThrow());
      changed.signalAll();
      work.signal();
    }
    workIsDue();
  }

  private void signal(StreamState stream) {
    Optional.ofNullable(streams.get(stream)).ifPresent(LinkStream::signal);
  }

  private void become(LinkEvent.OfLink event) {
    switch (event) {
      case LinkEvent.Up(var welcome, boolean resumed) -> state = new LinkState.Up(welcome, resumed);
      case LinkEvent.Cut(var reason) -> state = new LinkState.Cut(reason);
      case LinkEvent.Over(var reason) -> state = new LinkState.Over(reason);
      case LinkEvent.Superseded(var holder, long term) ->
          state = new LinkState.Refused(new AgentFailure.Superseded(holder, term));
      case LinkEvent.OtherVersion(var facts) ->
          state =
              new LinkState.Refused(new AgentFailure.NotUnderstood("another version: " + facts, ""));
      case LinkEvent.NotConnected _ -> {}
    }
  }

  // ---- telling users

  /**
   * What to call next, without the lock; the caller then calls {@link #told}. One thread at a time
   * tells, so users hear everything in order.
   *
   * @param all the reading thread; the watching thread tells of states only
   */
  private Optional<Runnable> claim(boolean all) {
    while (teller.isPresent()) {
      if (!all || teller.orElseThrow().equals(Thread.currentThread())) {
        return Optional.empty();
      }
      told.awaitUninterruptibly();
    }
    while (!untold.isEmpty() && (all || untold.element().event() instanceof LinkEvent.OfLink)) {
      Untold next = untold.remove();
      Optional<Runnable> call =
          switch (next.event()) {
            case LinkEvent.OfLink ofLink -> Optional.of(() -> tell(ofLink, next.state()));
            case LinkEvent.Offered offered -> Optional.of(() -> offer(offered));
            case LinkEvent.Closed closed ->
                Optional.ofNullable(streams.remove(closed.stream()))
                    .map(stream -> () -> stream.tell(closed));
            case LinkEvent.OfStream event ->
                Optional.ofNullable(streams.get(event.stream()))
                    .map(stream -> () -> stream.tell(event));
          };
      if (call.isPresent()) {
        teller = Optional.of(Thread.currentThread());
        return call;
      }
    }
    return Optional.empty();
  }

  private void tellAll(boolean all) {
    Optional<Runnable> next;
    lock.lock();
    try {
      next = claim(all);
    } finally {
      lock.unlock();
    }
    tellFrom(next, all);
  }

  private void tellFrom(Optional<Runnable> begun, boolean all) {
    Optional<Runnable> next = begun;
    while (next.isPresent()) {
      try {
        next.orElseThrow().run();
      } finally {
        lock.lock();
        try {
          teller = Optional.empty();
          told.signalAll();
          next = claim(all);
        } finally {
          lock.unlock();
        }
      }
    }
  }

  private void tell(LinkEvent.OfLink event, LinkState after) {
    try {
      if (!(event instanceof LinkEvent.NotConnected)) {
        listener.changed(after);
      }
    } finally {
      lock.lock();
      try {
        untoldStates--;
        changed.signalAll();
      } finally {
        lock.unlock();
      }
    }
    switch (event) {
      case LinkEvent.Up(var welcome, _) -> first.complete(welcome);
      case LinkEvent.NotConnected(var reason) -> connectingFailed(reason);
      case LinkEvent.Cut _ -> {}
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ ->
          first.completeExceptionally(failureOf(after));
    }
  }

  private void connectingFailed(String reason) {
    lock.lock();
    try {
      Throwable cut = new GpushException(new AgentFailure.LinkOver(node(), reason));
      connectFailure = Optional.of(openingFailure.orElse(cut));
    } finally {
      lock.unlock();
    }
  }

  private GpushException failureOf(LinkState end) {
    return new GpushException(
        switch (end) {
          case LinkState.Refused(var failure) -> failure;
          case LinkState.Over(var reason) -> new AgentFailure.LinkOver(node(), reason);
          case LinkState.Idle _, LinkState.Up _, LinkState.Cut _ ->
              throw new IllegalStateException("not an end: " + end);
        });
  }

  /** The agent opens a stream: who listens for it says whether it is wanted. */
  private void offer(LinkEvent.Offered offered) {
    var stream = new LinkStream(this, offered.stream());
    Optional<StreamReceiver> made =
        offered
            .listener()
            .flatMap(this::streamOf)
            .flatMap(listening -> listening.receiver().accepted(stream, offered.request()));
    lock.lock();
    try {
      if (made.isPresent()) {
        stream.receiver(made.orElseThrow());
        streams.put(offered.stream(), stream);
        machine.accept(offered.stream());
      } else {
        machine.refuse(offered.stream(), "not-found");
      }
      settle();
    } finally {
      lock.unlock();
    }
  }

  private Optional<LinkStream> streamOf(StreamState state) {
    lock.lock();
    try {
      return Optional.ofNullable(streams.get(state));
    } finally {
      lock.unlock();
    }
  }

  // ---- pipes

  /** Without the lock: does what the machine has commanded, in order. */
  private void obey() {
    while (true) {
      Optional<Pipe> unwanted = Optional.empty();
      lock.lock();
      try {
        if (orders.isEmpty()) {
          return;
        }
        switch (orders.removeFirst()) {
          case PipeCommand.Open(int pipe, boolean isFirst) -> open(pipe, isFirst);
          case PipeCommand.Close(int pipe) -> {
            Optional.ofNullable(openings.remove(pipe)).ifPresent(Opening::abandon);
            unwanted = Optional.ofNullable(pipes.remove(pipe));
          }
        }
      } finally {
        lock.unlock();
      }
      unwanted.ifPresent(Opening::close);
    }
  }

  /** The lock is held: once the link is over there may be no threads. */
  private void open(int number, boolean isFirst) {
    if (machine.isOver()) {
      return;
    }
    var attempt = isFirst ? PipeSource.Attempt.FIRST : PipeSource.Attempt.AGAIN;
    var result =
        new Opening.Result(
            pipe -> opened(number, pipe), failed -> openingFailed(number, failed));
    openings.put(number, new Opening(tasks, source, attempt, result));
  }

  private void opened(int number, Pipe pipe) {
    act(
        now -> {
          openings.remove(number);
          pipes.put(number, pipe);
          machine.pipeOpened(number, pipe.holdsBack(), now);
        });
  }

  private void openingFailed(int number, Throwable failed) {
    act(
        now -> {
          openings.remove(number);
          openingFailure = Optional.of(failed);
          switch (failed) {
            case GpushException said when said.failure() instanceof AgentFailure.NotThere ->
                machine.pipeFailed(number, LinkState.Cut.NO_AGENT, now);
            case IOException _, GpushException _, InterruptedException _ ->
                machine.pipeFailed(number, String.valueOf(failed.getMessage()), now);
            default -> {
              first.completeExceptionally(failed);
              endByBug(failed);
            }
          }
        });
  }

  /** The lock is held. */
  private void endByBug(Throwable bug) {
    LOG.log(System.Logger.Level.ERROR, "the link ends by a bug, node=" + node(), bug);
    machine.finish("internal error");
  }

  // ---- the writing thread

  /** Waits for something to write; false when nothing more may be written. */
  boolean awaitFrames(PipeWriter writing, List<Frame> batch) throws InterruptedException {
    boolean isOpen;
    boolean isCommanded;
    lock.lockInterruptibly();
    try {
      isOpen = writing.await(batch);
      isCommanded = machine.hasCommands();
      if (isCommanded) {
        settle();
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
    if (isCommanded) {
      obey();
    }
    return isOpen;
  }

  /** The lock is held by the caller or not. */
  void writeFailed(int number) {
    lock.lock();
    try {
      machine.writeFailed(number, clock.nanos());
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  // ---- the watching thread

  /**
   * Until the link or its group of threads ends. Nothing is begun before the listener has heard of
   * what ended, because it may ask for a new pipe itself.
   */
  private void watch() {
    var wakes = new WakeWatch(clock);
    try {
      while (awaitTime(wakes)) {
        obey();
        tellAll(false);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Until there is a command or something to tell; false at the end. */
  private boolean awaitTime(WakeWatch wakes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!machine.isOver()) {
        long now = clock.nanos();
        if (wakes.hasJumped()) {
          machine.woke(now);
        }
        if (untoldStates == 0) {
          machine.tick(now);
        }
        settle();
        if (!orders.isEmpty() || isStateToBeTold()) {
          return true;
        }
        long until = untoldStates == 0 ? machine.untilTick(now) : WakeWatch.LOOK_NANOS;
        changed.awaitNanos(Math.min(until, WakeWatch.LOOK_NANOS));
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  private boolean isStateToBeTold() {
    return teller.isEmpty()
        && !untold.isEmpty()
        && untold.element().event() instanceof LinkEvent.OfLink;
  }

  // ---- the reading thread

  /** Until the end, or until connecting has failed: then all threads are gone, and it may begin again. */
  private boolean run() {
    running(true);
    try (Tasks threads = tasks.group("time")) {
      act(machine::connect);
      threads.start("watch", this::watch);
      pipes();
    } catch (InterruptedException stop) {
      stopped(stop);
    } catch (RuntimeException | Error bug) {
      first.completeExceptionally(bug);
      act(_ -> endByBug(bug));
      tellAll(true);
    } finally {
      running(false);
    }
    connectFailure().ifPresent(first::completeExceptionally);
    return true;
  }

  private Optional<Throwable> connectFailure() {
    lock.lock();
    try {
      return connectFailure;
    } finally {
      lock.unlock();
    }
  }

  private void running(boolean is) {
    lock.lock();
    try {
      isRunning = is;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private void stopped(InterruptedException stop) {
    boolean wasConnecting = first.completeExceptionally(stop);
    act(
        _ -> {
          if (wasConnecting) {
            machine.stopConnecting();
          } else {
            machine.finish("stopped");
          }
        });
    tellAll(true);
  }

  /** Pipe after pipe. */
  private void pipes() throws InterruptedException {
    while (true) {
      tellAll(true);
      int next;
      lock.lockInterruptibly();
      try {
        while (untold.isEmpty() && machine.pipeInUse() == 0 && !isAtTheEnd()) {
          changed.await();
        }
        if (untold.isEmpty() && isAtTheEnd()) {
          return;
        }
        next = untold.isEmpty() ? machine.pipeInUse() : 0;
      } finally {
        lock.unlock();
      }
      if (next != 0) {
        String reason = converse(next);
        act(now -> machine.pipeEnded(next, reason, now));
      }
    }
  }

  /** Nothing more is read: the end, or connecting has failed. */
  private boolean isAtTheEnd() {
    return machine.isOver() || connectFailure.isPresent();
  }

  /** One pipe until it ends; why it did. */
  private String converse(int number) {
    Optional<Pipe> found;
    lock.lock();
    try {
      found = Optional.ofNullable(pipes.get(number));
    } finally {
      lock.unlock();
    }
    if (found.isEmpty()) {
      return "not wanted any more";
    }
    Pipe pipe = found.orElseThrow();
    try (Tasks threads = tasks.group("pipe")) {
      var writing = new PipeWriter(this, machine, clock, number, pipe, work);
      use(Optional.of(writing));
      try {
        threads.startOnThread("write", writing::write);
        return read(number, pipe);
      } finally {
        use(Optional.empty());
        // The writer, which is waited for, may hang in it.
        Opening.close(pipe);
      }
    }
  }

  private void use(Optional<PipeWriter> writing) {
    lock.lock();
    try {
      writer = writing;
      work.signalAll();
    } finally {
      lock.unlock();
    }
  }

  private String read(int number, Pipe pipe) {
    var frames = new FrameReader(pipe.output());
    try {
      while (true) {
        Optional<Frame> next = frames.next();
        if (next.isEmpty()) {
          return "the pipe ended";
        }
        Frame frame = next.orElseThrow();
        Json.Obj json = frame.kind().shape() == FrameKind.Shape.JSON ? frame.json() : NOTHING;
        received(number, frame, json);
      }
    } catch (ProtocolException broken) {
      LOG.log(System.Logger.Level.WARNING, "node={0} broken: {1}", node(), broken.getMessage());
      act(now -> machine.broken(number, broken, now));
      awaitEnd(number);
      return "the pipe ended";
    } catch (IOException broken) {
      return String.valueOf(broken.getMessage());
    }
  }

  private void received(int number, Frame frame, Json.Obj json) {
    Optional<Runnable> call;
    boolean isCommanded;
    lock.lock();
    try {
      machine.received(number, frame, json, clock.nanos());
      settle();
      isCommanded = !orders.isEmpty();
      call = claim(true);
    } finally {
      lock.unlock();
    }
    if (isCommanded) {
      obey();
    }
    tellFrom(call, true);
  }

  /** The machine's BYE is on its way, or it has waited long enough for that. */
  private void awaitEnd(int number) {
    lock.lock();
    try {
      while (machine.isInUse(number)) {
        changed.awaitUninterruptibly();
      }
    } finally {
      lock.unlock();
    }
  }
}
