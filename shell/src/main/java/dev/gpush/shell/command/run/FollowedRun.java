package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.LogRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Detach;
import dev.gpush.shell.console.RunPrinter;
import dev.gpush.shell.render.PictureChanges;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Writes a run's output until it ends, and handles Ctrl-C: the first interrupts the ranks, the
 * second kills them, the third stops following. Ctrl-Z in the interactive shell ends the command;
 * neither it nor a closed terminal nor a machine that shuts down (TERM) affects the run.
 */
final class FollowedRun {
  /** How long ranks have to end after Ctrl-C: a checkpoint takes a while. */
  private static final Duration GRACE = Duration.ofSeconds(10);

  /** How long the message of Ctrl-C may delay what it announces. */
  private static final Duration TO_SAY = Duration.ofMillis(200);

  private final Call call;
  private final SessionName session;
  private final int run;
  private final Runnable onStop;
  private final Thread follower = Thread.currentThread();
  private final Detach detach = new Detach();
  private final AtomicInteger asked = new AtomicInteger();

  // guarded by this
  private boolean ended;

  private FollowedRun(Call call, SessionName session, int run, Runnable onStop) {
    this.call = call;
    this.session = session;
    this.run = run;
    this.onStop = onStop;
  }

  /** The exit status of the run; empty when the user left it by Ctrl-Z. */
  static Optional<Integer> follow(Call call, RunView view, OutputChoice choice)
      throws InterruptedException {
    return follow(call, view, choice, () -> {});
  }

  /**
   * As above.
   *
   * @param onStop called when Ctrl-C stops the run
   */
  static Optional<Integer> follow(Call call, RunView view, OutputChoice choice, Runnable onStop)
      throws InterruptedException {
    SessionName session = SessionName.parse(view.session());
    int run = view.number();
    var asked = new LogRequest(choice.ranks(), true, Optional.empty());
    var follower = new FollowedRun(call, session, run, onStop);
    Optional<Integer> status;
    try (var following =
            call.toldShells().follow(call.environment(), PictureChanges.keyOfEnd(view));
        Tasks tasks = Tasks.named("run-" + run, (_, failed) -> follower.tell(failed));
        RunPrinter printer = choice.open(call, view)) {
      call.invocation().onSignal(name -> follower.hear(name, tasks));
      try {
        status =
            follower.detach.follow(
                call, () -> call.services().runs().follow(session, run, asked, printer));
        if (!follower.detach.isLeft()) {
          following.ended();
        }
      } finally {
        follower.end();
        call.invocation().onSignal(follower::afterwards);
      }
    }
    if (follower.detach.isLeft()) {
      Detach.say(call, run);
    } else if (status.isEmpty()) {
      throw new GpushException(new LaunchFailure.Lost(run, 0));
    }
    return status;
  }

  /** On the control server's thread: only passes it on. */
  private synchronized void hear(String name, Tasks tasks) {
    if (!ended) {
      tasks.start("signal-" + name, () -> signal(name, tasks));
    }
  }

  private synchronized void end() {
    ended = true;
  }

  private void signal(String name, Tasks tasks) throws InterruptedException {
    switch (name) {
      case "INT" -> stop(tasks);
      case "TERM", "HUP" -> follower.interrupt();
      default -> {}
    }
  }

  /** Handles a signal after the run is no longer followed. */
  private void afterwards(String name) {
    if (!name.equals("WINCH")) {
      follower.interrupt();
    }
  }

  private void stop(Tasks tasks) throws InterruptedException {
    detach.forbid();
    onStop.run();
    switch (asked.incrementAndGet()) {
      case 1 -> {
        say("stopping run " + run + "; press Ctrl-C again to kill it", tasks);
        call.services().runs().stop(session, run, "INT", GRACE, call.talk());
      }
      case 2 -> {
        say("killing run " + run, tasks);
        call.services().runs().stop(session, run, "KILL", Duration.ZERO, call.talk());
      }
      default -> follower.interrupt();
    }
  }

  /** Returns also when the terminal is still busy with output: the run is stopped all the same. */
  private void say(String line, Tasks tasks) throws InterruptedException {
    var isSaid = new CountDownLatch(1);
    tasks.start(
        "say",
        () -> {
          call.console().freshLine();
          call.say(line);
          isSaid.countDown();
        });
    isSaid.await(TO_SAY.toMillis(), TimeUnit.MILLISECONDS);
  }

  private void tell(Throwable failed) {
    if (failed instanceof GpushException known) {
      call.write(known.failure(), List.of("stop", "-s", session.text(), "" + run));
    } else {
      call.services().gateway().bugs().report("run", failed);
    }
  }
}
