package dev.gpush.backends.slurm.command;

import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Commands on nodes of a running job, as steps that share what the agents have. Every step is work
 * for the controller that all users of a cluster share, so there are at most four per second, and
 * fewer when it is slow.
 */
public final class Steps {
  private static final int AT_ONCE = 4;

  private static final Duration WINDOW = Duration.ofSeconds(1);

  /** After a first step that the controller refused; doubles up to the maximum. */
  private static final Duration PAUSE = Duration.ofSeconds(1);

  private static final Duration MOST_PAUSE = Duration.ofSeconds(60);

  private final Machine machine;
  private final Clock clock;
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition turns = lock.newCondition();

  // guarded by lock
  private final ArrayDeque<Long> begun = new ArrayDeque<>(); // the last ones, at most AT_ONCE
  private long earliest;
  private Duration pause = Duration.ZERO;

  public Steps(Machine machine, Clock clock) {
    this.machine = machine;
    this.clock = clock;
    this.earliest = clock.nanos();
  }

  /** One command on one node. */
  public Pipe onNode(long job, String host, List<String> arguments) throws IOException {
    var command = start(job);
    command.addAll(List.of("--nodes=1", "--ntasks=1", "--nodelist=" + host, "--unbuffered", "--"));
    command.addAll(arguments);
    return spawn(command);
  }

  /** The same command once on every node; lines of output begin with the node's number. */
  Pipe onAll(long job, int nodes, List<String> arguments) throws IOException {
    var command = start(job);
    command.addAll(
        List.of(
            "--nodes=" + nodes,
            "--ntasks=" + nodes,
            "--ntasks-per-node=1",
            "--kill-on-bad-exit=0",
            "--wait=0",
            "--input=all",
            "--label",
            "--"));
    command.addAll(arguments);
    return spawn(command);
  }

  /** --mem=0: all memory of the job, without reserving it from the agents. */
  private static List<String> start(long job) {
    return new ArrayList<>(
        List.of("srun", "--jobid=" + job, "--overlap", "--quiet", "--mem=0", "--mpi=none"));
  }

  private Pipe spawn(List<String> command) throws IOException {
    try {
      awaitTurn();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new java.io.InterruptedIOException("interrupted while waiting for a step");
    }
    return new StepPipe(machine.spawn(command), this::succeeded, this::failed);
  }

  private void awaitTurn() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      long mine = Math.max(clock.nanos(), earliest);
      if (begun.size() == AT_ONCE) {
        mine = Math.max(mine, begun.remove() + WINDOW.toNanos());
      }
      begun.add(mine);
      while (mine - clock.nanos() > 0) {
        // No thread signals: the wait is the pause, and an interrupt ends it.
        turns.await(mine - clock.nanos(), TimeUnit.NANOSECONDS);
      }
    } finally {
      lock.unlock();
    }
  }

  /** The controller refused a step: the next ones wait longer. */
  private void failed() {
    lock.lock();
    try {
      Duration doubled = pause.isZero() ? PAUSE : pause.multipliedBy(2);
      pause = doubled.compareTo(MOST_PAUSE) > 0 ? MOST_PAUSE : doubled;
      earliest = Math.max(earliest, clock.nanos() + pause.toNanos());
    } finally {
      lock.unlock();
    }
  }

  private void succeeded() {
    lock.lock();
    try {
      pause = Duration.ZERO;
    } finally {
      lock.unlock();
    }
  }
}
