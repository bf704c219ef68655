package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunReason;
import dev.gpush.core.run.RunView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.journal.JournalReader;
import dev.gpush.launch.journal.NodeEnd;
import dev.gpush.launch.journal.RunEvent;
import dev.gpush.launch.journal.RunJournal;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.journal.TransportCollector;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;

/**
 * Watches a run in progress: follows the events of all its nodes, stops the others when a rank
 * fails on one, and determines the result of the whole run. Its supervisors do not depend on it; a
 * new gateway watches again from the beginning and gets the same result.
 */
public final class RunWatch {
  /** How often a run is started again because its port was taken. */
  private static final int AGAIN = 3;

  private final LaunchSite site;
  private final RunHistory history;
  private final Optional<Relaunch> relaunch;
  private final Clock clock;
  private final Tasks tasks;

  /** The gateway that was starting it ended before all nodes had answered. */
  private final boolean wasStarting;

  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private RunRecord record;
  private int attempt = 1;
  private Optional<Restart> restart = Optional.empty();

  /**
   * How the run is started again.
   *
   * @param restarts how often that is done because it failed
   */
  public record Relaunch(Again again, int restarts) {}

  /**
   * Why the present attempt was made.
   *
   * @param failure of the one before; empty when only its port was taken
   */
  record Restart(Optional<RunFailure> failure, int number, int most) {}

  /** Starts the run again, all nodes, with another port; the parts then have new start times. */
  public interface Again {
    /** Starts it; {@code restart} is how often it has failed. */
    List<RunRecord.Part> start(int restart) throws InterruptedException;
  }

  /**
   * @param relaunch empty for a run that another process started: its environment is not known here
   */
  public RunWatch(
      LaunchSite site,
      RunHistory history,
      RunRecord record,
      Optional<Relaunch> relaunch,
      Clock clock,
      Tasks tasks) {
    this.site = site;
    this.history = history;
    RunView.State next =
        history.isLeft(record.number()) ? RunView.State.STOPPING : RunView.State.RUNNING;
    this.record = record.state() == RunView.State.UNKNOWN ? record.in(next) : record;
    this.relaunch = relaunch;
    this.clock = clock;
    this.tasks = tasks;
    this.wasStarting = record.state() == RunView.State.STARTING;
  }

  /**
   * Returns at once; {@code over} is called when there is nothing more to watch. What is left of a
   * start that has failed is killed first.
   *
   * @throws InterruptedException when the launcher has been closed
   */
  public void start(Runnable over) throws InterruptedException {
    boolean isStarted =
        tasks.start(
            "watch-" + record().number(),
            () -> {
              try {
                watch();
              } catch (GpushException unreachable) {
                become(now -> now.in(RunView.State.UNKNOWN));
              } catch (RuntimeException | Error bug) {
                // Otherwise everyone who waits for the end would wait forever.
                become(now -> now.in(RunView.State.UNKNOWN));
                throw bug;
              } finally {
                over.run();
              }
            });
    if (!isStarted) {
      over.run();
      throw new InterruptedException("run " + record().number() + " is watched no more");
    }
  }

  /**
   * Adds the slots of a run that may be started again: between two attempts its nodes report none.
   *
   * @param busy node → slot → run
   */
  public void addSlots(Map<Integer, Map<String, Integer>> busy) {
    lock.lock();
    try {
      int restarts = restart.map(Restart::number).orElse(0);
      if (record.state() == RunView.State.RUNNING
          && relaunch.filter(how -> restarts < how.restarts()).isPresent()) {
        for (RunRecord.Part part : record.parts()) {
          Map<String, Integer> slots = busy.computeIfAbsent(part.node(), _ -> new TreeMap<>());
          part.slots().forEach(slot -> slots.put(slot, record.number()));
        }
      }
    } finally {
      lock.unlock();
    }
  }

  RunRecord record() {
    lock.lock();
    try {
      return record;
    } finally {
      lock.unlock();
    }
  }

  public int attempt() {
    lock.lock();
    try {
      return attempt;
    } finally {
      lock.unlock();
    }
  }

  /** Empty in the first attempt. */
  Optional<Restart> restart() {
    lock.lock();
    try {
      return restart;
    } finally {
      lock.unlock();
    }
  }

  /** It was asked to stop. */
  public void stopping() {
    become(
        now ->
            now.state() == RunView.State.RUNNING || now.state() == RunView.State.STARTING
                ? now.in(RunView.State.STOPPING)
                : now);
  }

  /** Waits until the run is over, unknown, or started again after this attempt. */
  public RunRecord await(int seenAttempt) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (!record.state().isOver()
          && record.state() != RunView.State.UNKNOWN
          && attempt == seenAttempt) {
        changed.await();
      }
      return record;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Writes the record before it wakes threads that wait for the end, so that they find it in the
   * history.
   */
  private void become(UnaryOperator<RunRecord> change) {
    lock.lock();
    try {
      RunRecord next = change.apply(record);
      if (!next.equals(record)) {
        history.keep(next);
        record = next;
        changed.signalAll();
      }
    } finally {
      lock.unlock();
    }
  }

  private void watch() throws InterruptedException {
    if (isLeft() && !isKilled()) {
      become(now -> now.over(RunView.State.STOPPED, now.exit(), clock.now(), Optional.empty()));
      return;
    }
    int ports = 0;
    int restarts = 0;
    while (true) {
      List<NodeEnd> ends = watchOnce();
      List<RunRecord.Part> parts = record().parts();
      boolean isPortTaken = ends.getFirst().portTaken().isPresent() && ports < AGAIN;
      boolean isRestart = !isPortTaken && state(ends, parts) == RunView.State.FAILED;
      if (isPortTaken) {
        ports++;
      } else {
        restarts++;
      }
      if (relaunch.isEmpty()
          || record().state() == RunView.State.STOPPING
          || !(isPortTaken || (isRestart && restarts <= relaunch.get().restarts()))
          || !isStartedAgain(
              relaunch.get(),
              new Restart(
                  isPortTaken ? Optional.empty() : failure(ends, parts),
                  restarts,
                  relaunch.get().restarts()))) {
        finish(ends, parts);
        return;
      }
    }
  }

  /** False when a node refused, also one that has no result yet: then that of before stays. */
  private boolean isStartedAgain(Relaunch how, Restart why) throws InterruptedException {
    List<RunRecord.Part> parts;
    try {
      parts = how.again().start(why.number());
    } catch (GpushException | RunStart.NumberTaken refused) {
      return false;
    }
    lock.lock();
    try {
      become(now -> now.with(parts));
      restart = Optional.of(why);
      attempt++;
      changed.signalAll();
    } finally {
      lock.unlock();
    }
    if (record().state() == RunView.State.STOPPING) {
      // Asked while nothing ran, so no node has heard it.
      parts.forEach(part -> stopQuietly(part.node(), RunTalk.ASKED));
    }
    return true;
  }

  private static List<Long> starts(List<RunRecord.Part> parts) {
    return parts.stream().map(RunRecord.Part::startMs).toList();
  }

  private static Optional<Integer> exit(List<NodeEnd> ends, List<RunRecord.Part> parts) {
    return ends.stream().anyMatch(NodeEnd::isLost)
        ? Optional.empty()
        : Optional.of(NodeEnd.status(ends, starts(parts)));
  }

  private static RunView.State state(List<NodeEnd> ends, List<RunRecord.Part> parts) {
    boolean isStopped =
        ends.stream().anyMatch(NodeEnd::isStopped)
            && ends.stream().allMatch(end -> end.isStopped() || !end.end().isFailure());
    return RunView.State.ended(exit(ends, parts), isStopped);
  }

  private void finish(List<NodeEnd> ends, List<RunRecord.Part> parts) {
    RunView.State state = state(ends, parts);
    Optional<RunFailure> failure =
        state == RunView.State.FAILED || state == RunView.State.LOST
            ? failure(ends, parts)
            : Optional.empty();
    become(now -> now.over(state, exit(ends, parts), clock.now(), failure));
  }

  private Optional<RunFailure> failure(List<NodeEnd> ends, List<RunRecord.Part> parts) {
    return new RunVerdict(site.infos(), parts, ends).failure(this::loss);
  }

  private RunReason.Loss loss(int node) {
    if (calls(node).isLost()) {
      return RunReason.Loss.NODE;
    }
    return wasStarting ? RunReason.Loss.START : RunReason.Loss.SUPERVISOR;
  }

  private List<NodeEnd> watchOnce() throws InterruptedException {
    List<RunRecord.Part> parts = record().parts();
    var isFailing = new AtomicBoolean();
    var transports = new TransportCollector(record().launched().given().fabric(), parts.size());
    List<NodeEnd> ends =
        tasks.each(
            "node",
            parts,
            part -> {
              NodeEnd end = watchNode(part, transports, () -> othersStop(part, parts, isFailing));
              if (end.isLost() || (end.end().isFailure() && !end.isStopped())) {
                othersStop(part, parts, isFailing);
              }
              return end;
            });
    transports.rest().ifPresent(verdict -> become(now -> now.with(verdict)));
    return ends;
  }

  /** Once for each run: the first failure is the one that counts. */
  private void othersStop(
      RunRecord.Part failed, List<RunRecord.Part> parts, AtomicBoolean isFailing) {
    if (!isFailing.compareAndSet(false, true)) {
      return;
    }
    for (RunRecord.Part part : parts) {
      if (part.node() != failed.node()) {
        tasks.start(
            "stop-" + part.node(),
            () -> stopQuietly(part.node(), RunTalk.failedElsewhere(failed.node())));
      }
    }
  }

  private void stopQuietly(int node, String why) {
    try {
      // Without a time: the node's own specification has it.
      calls(node)
          .call("run.stop", Json.object("run", record().number(), "signal", "TERM", "why", why));
    } catch (GpushException unreachable) {
      // The node cannot be reached; its ranks notice the missing ones themselves.
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Tells all nodes, also if one refuses; one that does not know the run has nothing to end. */
  public void stop(String signal, Duration grace, String why) throws InterruptedException {
    double seconds = grace.toMillis() / 1000.0;
    Json.Obj order =
        Json.object("run", record().number(), "signal", signal, "grace_s", seconds, "why", why);
    List<Optional<GpushException>> failures =
        tasks.each("stop", record().parts(), part -> stopNode(calls(part.node()), order));
    Optional<GpushException> first = failures.stream().flatMap(Optional::stream).findFirst();
    if (first.isPresent()) {
      throw first.get();
    }
  }

  private Optional<GpushException> stopNode(NodeCalls node, Json.Obj order)
      throws InterruptedException {
    try {
      // On some nodes of a run that is left, its number may be that of another run.
      if (!isLeft() || RunStart.isThat(node, record()).equals(Optional.of(true))) {
        node.call("run.stop", order);
      }
      return Optional.empty();
    } catch (GpushException failed) {
      return RunStart.isRefused(failed, "not-found") ? Optional.empty() : Optional.of(failed);
    }
  }

  private boolean isLeft() {
    return history.isLeft(record().number());
  }

  /** False when no node had it; otherwise it has those parts that were there. */
  private boolean isKilled() throws InterruptedException {
    RunRecord left = record();
    List<Boolean> isThere = RunStart.killLater(site, left, tasks);
    List<RunRecord.Part> parts =
        IntStream.range(0, isThere.size())
            .filter(isThere::get)
            .mapToObj(left.parts()::get)
            .toList();
    if (!parts.isEmpty()) {
      become(now -> now.with(parts));
    }
    return !parts.isEmpty();
  }

  private NodeCalls calls(int node) {
    return site.nodes().get(node).calls();
  }

  private NodeEnd watchNode(RunRecord.Part part, TransportCollector transports, Runnable onFailure)
      throws InterruptedException {
    try {
      return followNode(part, new Events(part.node(), transports, onFailure));
    } catch (GpushException unreachable) {
      if (calls(part.node()).isLost()) {
        return NodeEnd.lost();
      }
      throw unreachable;
    }
  }

  private NodeEnd followNode(RunRecord.Part part, Events events) throws InterruptedException {
    var journal =
        new JournalReader(
            calls(part.node()), part.node(), record().number(), Json.object("events", true));
    return journal.follow(events::take);
  }

  private final class Events {
    private final int node;
    private final TransportCollector transports;
    private final Runnable onFailure;
    private boolean isAsked;

    Events(int node, TransportCollector transports, Runnable onFailure) {
      this.node = node;
      this.transports = transports;
      this.onFailure = onFailure;
    }

    void take(int rank, int channel, byte[] payload) {
      if (channel != RunJournal.EVENT) {
        return;
      }
      switch (RunEvent.parse(payload)) {
        case RunEvent.RankExit(_, var how) -> {
          // A stop was sent to all nodes, with a grace.
          if (how.isFailure() && !isAsked && record().state() != RunView.State.STOPPING) {
            onFailure.run();
          }
        }
        case RunEvent.Transport(var facts) ->
            transports.take(node, facts).ifPresent(verdict -> become(now -> now.with(verdict)));
        case RunEvent.Stopping(var why, _) -> isAsked |= why.equals(RunTalk.ASKED);
        case RunEvent.Printed(var after) -> {
          if (restart().isEmpty()) {
            become(now -> now.printed(node, after));
          }
        }
        case RunEvent.Ended _,
            RunEvent.Warned _,
            RunEvent.Gap _,
            RunEvent.At _,
            RunEvent.Unknown _ -> {}
      }
    }
  }
}
