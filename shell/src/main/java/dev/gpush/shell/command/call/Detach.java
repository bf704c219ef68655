package dev.gpush.shell.command.call;

import dev.gpush.core.task.Work;
import dev.gpush.shell.console.ReaderGone;
import java.io.InterruptedIOException;
import java.nio.channels.ClosedByInterruptException;
import java.util.Optional;

/**
 * Ctrl-Z in the interactive shell while a command follows a run: the command ends, and the run goes
 * on. Made on the thread that follows.
 */
public final class Detach {
  private final Thread follower = Thread.currentThread();

  // guarded by this
  private boolean isOver;
  private boolean isLeft;

  public Detach() {}

  /** Gives what the work gives; empty when the user has left it. */
  public Optional<Integer> follow(Call call, Work<Optional<Integer>, RuntimeException> work)
      throws InterruptedException {
    call.invocation().onDetach(this::leave);
    try {
      Optional<Integer> status = work.run();
      status.ifPresent(_ -> stay());
      return status;
    } catch (InterruptedException | RuntimeException stopped) {
      if (!isLeft() || !isInterrupt(stopped)) {
        throw stopped;
      }
      return Optional.empty();
    } finally {
      end();
    }
  }

  private static boolean isInterrupt(Throwable stopped) {
    return switch (stopped) {
      case InterruptedException _, InterruptedIOException _, ClosedByInterruptException _ -> true;
      case ReaderGone _ -> true;
      default -> stopped.getCause() != null && isInterrupt(stopped.getCause());
    };
  }

  /** On the control server's thread. */
  private synchronized void leave() {
    if (!isOver) {
      isOver = true;
      isLeft = true;
      follower.interrupt();
    }
  }

  /** The run has ended while the user left it. */
  private synchronized void stay() {
    if (isLeft) {
      isLeft = false;
      Thread.interrupted();
    }
  }

  private synchronized void end() {
    isOver = true;
    if (isLeft) {
      Thread.interrupted(); // What follows is not to be stopped.
    }
  }

  /** From now on the user cannot leave it, because it is being stopped. */
  public synchronized void forbid() {
    isOver = true;
  }

  public synchronized boolean isLeft() {
    return isLeft;
  }

  public static void say(Call call, int run) {
    String session = call.common().session.map(name -> " -s " + name).orElse("");
    call.console().freshLine();
    call.say(
        "run %d goes on; logs -f %d%s comes back to it, stop %d%s ends it"
            .formatted(run, run, session, run, session));
  }
}
