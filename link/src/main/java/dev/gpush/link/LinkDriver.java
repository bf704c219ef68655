package dev.gpush.link;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.session.Holder;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.WakeWatch;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.PipeCommand;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import java.util.function.Supplier;

/**
 * Owns the {@link LinkMachine} of a link: its lock, its threads, and the pipes. One thread reads
 * ({@link PipeReader}), one writes to each pipe ({@link PipeWriter}), one watches the time, and one
 * opens a pipe ({@link PipeOpening}). Every call of the machine is made with the lock held and
 * followed by {@link #settle}, or by {@link #workIsDue} where it concerns streams only. Users
 * ({@link EventDelivery}) and {@link Pipe#close} are called without the lock. Methods that need the
 * lock assert it.
 */
final class LinkDriver {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  private final LinkIdentity identity;
  private final PipeSource source;
  private final Tasks tasks;
  private final Clock clock;
  private final EventDelivery delivery;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition work = lock.newCondition();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final LinkMachine machine;
  private final Map<Integer, PipeOpening> openings = new HashMap<>();
  private final Map<Integer, Pipe> pipes = new HashMap<>();
  private final ArrayDeque<PipeCommand> commands = new ArrayDeque<>();
  private LinkState state = new LinkState.Idle();
  private Optional<PipeWriter> writer = Optional.empty();
  private Optional<Throwable> openingFailure = Optional.empty();
  private Optional<Throwable> connectFailure = Optional.empty();
  private CompletableFuture<Json.Obj> first = new CompletableFuture<>();
  private boolean isRunning;

  LinkDriver(
      LinkIdentity identity,
      PipeSource source,
      Tasks tasks,
      Clock clock,
      LinkMachine machine,
      Consumer<LinkState> listener) {
    this.identity = identity;
    this.source = source;
    this.tasks = tasks;
    this.clock = clock;
    this.machine = machine;
    this.delivery = new EventDelivery(this, machine, listener);
  }

  // ---- for Link and the streams

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

  LinkState state() {
    assert lock.isHeldByCurrentThread();
    return state;
  }

  void add(LinkStream stream) {
    delivery.add(stream);
  }

  /**
   * After a request that concerns only streams and makes no events or commands: writes what is due.
   */
  void workIsDue() {
    assert lock.isHeldByCurrentThread();
    writer.ifPresent(PipeWriter::workIsDue);
  }

  /** Calls the machine for something that may concern pipes, and carries out its commands. */
  void act(LongConsumer call) {
    lock.lock();
    try {
      call.accept(clock.nanos());
      settle();
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    execute();
  }

  /** Starts the threads and waits for the first answer of the agent. */
  Json.Obj connect() throws InterruptedException, ExecutionException {
    var answer = new CompletableFuture<Json.Obj>();
    Task<Boolean, RuntimeException> running = begin(answer, machine::connect);
    if (running.isDone()) { // It has answered, or the link is closed and it never will.
      answer.completeExceptionally(new IOException("closed"));
    }
    try {
      return answer.get();
    } catch (InterruptedException stop) {
      running.cancel();
      act(_ -> machine.stopConnecting());
      throw stop;
    }
  }

  /** Starts the threads; nothing waits for the agent. */
  void keepConnecting() {
    begin(CompletableFuture.completedFuture(Json.object()), machine::keepConnecting);
  }

  private Task<Boolean, RuntimeException> begin(
      CompletableFuture<Json.Obj> answer, LongConsumer how) {
    lock.lock();
    try {
      while (isRunning) { // An attempt that was interrupted is ending.
        changed.awaitUninterruptibly();
      }
      first = answer;
      openingFailure = Optional.empty();
      connectFailure = Optional.empty();
    } finally {
      lock.unlock();
    }
    return tasks.forkOnThread("read", () -> run(answer, how));
  }

  /** Sends BYE, waits a limited time until it was written, and ends everything. */
  void close() {
    act(nanos -> machine.leave("gateway-stopped", "closed", nanos));
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
    delivery.deliverAll();
  }

  // ---- after each call of the machine

  /** Takes the machine's events and commands, and writes what is due. */
  void settle() {
    assert lock.isHeldByCurrentThread();
    while (machine.hasEvents()) {
      LinkEvent event = machine.nextEvent().orElseThrow();
      if (event instanceof LinkEvent.OfLink ofLink) {
        state = after(ofLink);
        changed.signalAll();
      }
      delivery.add(event, state);
    }
    if (delivery.isDueWithoutFrame()) {
      changed.signalAll();
    }
    while (machine.hasCommands()) {
      commands.add(machine.nextCommand().orElseThrow());
      changed.signalAll();
      work.signal();
    }
    workIsDue();
  }

  private LinkState after(LinkEvent.OfLink event) {
    return switch (event) {
      case LinkEvent.Up(var welcome, boolean resumed) -> new LinkState.Up(welcome, resumed);
      case LinkEvent.Cut(var reason) -> new LinkState.Cut(reason);
      case LinkEvent.Over(var reason) -> new LinkState.Over(reason);
      case LinkEvent.Superseded(var holder, long term) ->
          new LinkState.Refused(new AgentFailure.Superseded(new Holder(holder).words(), term));
      case LinkEvent.OtherVersion _ -> new LinkState.Refused(new AgentFailure.OtherBuild(node()));
      case LinkEvent.NotConnected _ -> state;
    };
  }

  /** The listener was called. */
  void delivered(LinkEvent.OfLink event, LinkState then) {
    assert lock.isHeldByCurrentThread();
    switch (event) {
      case LinkEvent.Up(var welcome, _) -> first.complete(welcome);
      case LinkEvent.Cut _ -> {}
      case LinkEvent.NotConnected(var reason) ->
          connectFailure = openingFailure.or(() -> new LinkState.Over(reason).failure(node()));
      case LinkEvent.Over _, LinkEvent.Superseded _, LinkEvent.OtherVersion _ ->
          first.completeExceptionally(then.failure(node()).orElseThrow());
    }
    changed.signalAll();
  }

  // ---- pipes

  /** Without the lock: does what the machine has commanded, in order. */
  private void execute() {
    while (true) {
      Optional<Pipe> unwanted = Optional.empty();
      lock.lock();
      try {
        if (commands.isEmpty()) {
          return;
        }
        switch (commands.remove()) {
          case PipeCommand.Open(int pipe) -> open(pipe);
          case PipeCommand.Close(int pipe) -> {
            Optional.ofNullable(openings.remove(pipe)).ifPresent(PipeOpening::abandon);
            unwanted = Optional.ofNullable(pipes.remove(pipe));
          }
        }
      } finally {
        lock.unlock();
      }
      unwanted.ifPresent(PipeOpening::close);
    }
  }

  /** Starts no thread once the link is over: its group of threads may have ended. */
  private void open(int number) {
    assert lock.isHeldByCurrentThread();
    if (machine.isOver()) {
      return;
    }
    var result =
        new PipeOpening.Result(pipe -> opened(number, pipe), e -> openingFailed(number, e));
    openings.put(number, new PipeOpening(tasks, source, result));
  }

  private void opened(int number, Pipe pipe) {
    act(
        nanos -> {
          openings.remove(number);
          pipes.put(number, pipe);
          machine.pipeOpened(number, pipe.holdsBack(), nanos);
        });
  }

  private void openingFailed(int number, Throwable failed) {
    act(
        nanos -> {
          openings.remove(number);
          openingFailure = Optional.of(failed);
          switch (failed) {
            case GpushException said when said.failure() instanceof AgentFailure.NotThere ->
                machine.pipeFailed(number, LinkState.Cut.NO_AGENT, nanos);
            case IOException _, GpushException _, InterruptedException _ ->
                machine.pipeFailed(number, String.valueOf(failed.getMessage()), nanos);
            default -> endByBug(failed);
          }
        });
  }

  private void endByBug(Throwable bug) {
    assert lock.isHeldByCurrentThread();
    LOG.log(System.Logger.Level.ERROR, "the link ends by a bug, node=" + node(), bug);
    first.completeExceptionally(bug);
    machine.finish("internal error");
  }

  // ---- for the writing thread

  Condition work() {
    return work;
  }

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
      }
    } finally {
      lock.unlock();
    }
    if (isCommanded) {
      execute();
    }
    return isOpen;
  }

  /** With the lock or without it. */
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
   * Until the link or its group of threads ends. Nothing new is started before the listener knows
   * what ended, because it may ask for a new pipe itself.
   */
  private void watch() {
    var wakes = new WakeWatch(clock);
    try {
      while (awaitTime(wakes)) {
        execute();
        delivery.deliverWithoutFrame();
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException | Error bug) {
      act(_ -> endByBug(bug));
    }
  }

  /** Waits for a command or an event of the link; false at the end. */
  private boolean awaitTime(WakeWatch wakes) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!machine.isOver()) {
        long now = clock.nanos();
        if (wakes.hasJumped()) {
          machine.woke(now);
        }
        boolean isHeld = delivery.hasPendingState();
        if (!isHeld) {
          machine.tick(now);
        }
        settle();
        if (!commands.isEmpty() || delivery.isDueWithoutFrame()) {
          return true;
        }
        long until = isHeld ? WakeWatch.LOOK_NANOS : machine.untilTick(now);
        changed.awaitNanos(Math.min(until, WakeWatch.LOOK_NANOS));
      }
      return false;
    } finally {
      lock.unlock();
    }
  }

  // ---- for the reading thread

  /**
   * Until the end, or until connecting has failed: then all other threads have ended, and
   * connecting may start again.
   */
  private boolean run(CompletableFuture<Json.Obj> answer, LongConsumer how) {
    running(true);
    try (Tasks threads = tasks.group("time")) {
      act(how);
      threads.start("watch", this::watch);
      new PipeReader(this, delivery, tasks).run();
    } catch (InterruptedException stop) {
      stopped(answer.completeExceptionally(stop));
    } catch (RuntimeException | Error bug) {
      act(_ -> endByBug(bug));
      delivery.deliverAll();
    } finally {
      running(false);
    }
    locked(() -> connectFailure).ifPresent(answer::completeExceptionally);
    return true;
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

  private void stopped(boolean wasConnecting) {
    if (wasConnecting) {
      act(_ -> machine.stopConnecting());
    } else {
      act(_ -> machine.finish("stopped"));
    }
    delivery.deliverAll();
  }

  private <T> T locked(Supplier<T> look) {
    lock.lock();
    try {
      return look.get();
    } finally {
      lock.unlock();
    }
  }

  /** The pipe to read; 0 when events must be delivered first, none when nothing more is read. */
  OptionalInt awaitPipe() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (delivery.isEmpty() && machine.pipeInUse() == 0 && !isAtTheEnd()) {
        changed.await();
      }
      if (delivery.isEmpty() && isAtTheEnd()) {
        return OptionalInt.empty();
      }
      return OptionalInt.of(delivery.isEmpty() ? machine.pipeInUse() : 0);
    } finally {
      lock.unlock();
    }
  }

  private boolean isAtTheEnd() {
    return machine.isOver() || connectFailure.isPresent();
  }

  /** None when it was closed before anyone read it. */
  Optional<Pipe> pipe(int number) {
    return locked(() -> Optional.ofNullable(pipes.get(number)));
  }

  /** Sets the writer of the pipe that is read now. */
  void use(Optional<PipeWriter> writing) {
    lock.lock();
    try {
      writer = writing;
      work.signalAll();
    } finally {
      lock.unlock();
    }
  }

  /** A frame came; returns the delivery of its first event. */
  Optional<Runnable> received(int number, Frame frame, Json.Obj json) {
    Optional<Runnable> call;
    boolean isCommanded;
    lock.lock();
    try {
      machine.received(number, frame, json, clock.nanos());
      settle();
      isCommanded = !commands.isEmpty();
      call = delivery.claim(true);
    } finally {
      lock.unlock();
    }
    if (isCommanded) {
      execute();
    }
    return call;
  }

  /** Waits until the machine's BYE was written, or its time is over. */
  void awaitEnd(int number) {
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
