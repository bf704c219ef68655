package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.console.OutputPump;
import dev.gpush.shell.console.PrefixedLines;
import dev.gpush.shell.text.FailureText;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Writes a run's output until it ends, and handles Ctrl-C: the first interrupts the ranks, the
 * second kills them, the third stops following. A closed terminal does not affect the run.
 */
final class FollowedRun {
  /** How long ranks have to end after Ctrl-C: a checkpoint takes a while. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  private final Call call;
  private final SessionName session;
  private final int run;
  private final Thread follower = Thread.currentThread();
  private final AtomicInteger asked = new AtomicInteger();

  // guarded by this
  private boolean ended;

  private FollowedRun(Call call, SessionName session, int run) {
    this.call = call;
    this.session = session;
    this.run = run;
  }

  static Optional<Integer> follow(Call call, SessionName session, int run, Set<Integer> ranks)
      throws InterruptedException {
    var follower = new FollowedRun(call, session, run);
    try (Tasks tasks = Tasks.named("run-" + run, (_, failed) -> follower.tell(failed));
        OutputPump pump = new OutputPump(call.console(), new PrefixedLines())) {
      call.invocation().onSignal(name -> follower.hear(name, tasks));
      try {
        return call.services().runs().follow(session, run, ranks, true, pump);
      } finally {
        follower.end();
        call.invocation().onSignal(follower::afterwards);
      }
    }
  }

  /** On the control server's thread: only passes it on. */
  private synchronized void hear(String name, Tasks tasks) {
    if (!ended) {
      tasks.start("signal-" + name, () -> signal(name));
    }
  }

  private synchronized void end() {
    ended = true;
  }

  private void signal(String name) {
    switch (name) {
      case "INT", "TERM", "QUIT" -> stop(name);
      case "HUP" -> follower.interrupt();
      default -> {}
    }
  }

  /** Handles a signal after the run is no longer followed. */
  private void afterwards(String name) {
    if (!name.equals("WINCH")) {
      follower.interrupt();
    }
  }

  private void stop(String name) {
    call.console().freshLine();
    try {
      switch (asked.incrementAndGet()) {
        case 1 -> {
          call.say("stopping run " + run + "; press Ctrl-C again to kill it");
          call.services().runs().stop(session, run, name, GRACE, call.talk());
        }
        case 2 -> {
          call.say("killing run " + run);
          call.services().runs().stop(session, run, "KILL", Duration.ZERO, call.talk());
        }
        default -> follower.interrupt();
      }
    } catch (InterruptedException over) {
      Thread.currentThread().interrupt();
    }
  }

  private void tell(Throwable failed) {
    if (failed instanceof GpushException known) {
      List<String> words = List.of("stop", "" + run);
      call.console()
          .write(true, new FailureText(words).of(known.failure()).bytes(call.console().look()));
    } else {
      call.services().gateway().bugs().report("run", failed);
    }
  }
}
