package dev.gpush.shell.command.run;

import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.RunView;
import dev.gpush.core.run.SaveListener;
import dev.gpush.core.run.SavedFiles;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.console.SaidOnce;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * {@code run --watch}: one run after the other on one session, each with the files that were saved
 * since the one before. Only Ctrl-C, Ctrl-Z during a run, a closed terminal and the end of the
 * session end it.
 */
final class WatchedRun {
  /** This many files are named. */
  private static final int NAMED = 3;

  private final Call call;
  private final RunRequest request;
  private final OutputChoice choice;
  private final SaidOnce talk;
  private final AtomicBoolean isLeft = new AtomicBoolean();
  private boolean isDetached;

  /**
   * @param talk with which the first run was launched
   */
  WatchedRun(Call call, RunRequest request, OutputChoice choice, SaidOnce talk) {
    this.call = call;
    this.request = request;
    this.choice = choice;
    this.talk = talk;
  }

  /** The exit status of the run that the user stopped; empty when it goes on. */
  Optional<Integer> follow(RunView first) throws InterruptedException {
    SessionName session = SessionName.parse(first.session());
    RunView run = first;
    long generation = first.generation();
    boolean isRunning = true;
    while (true) {
      SavedFiles saved;
      try (Tasks tasks = Tasks.named("watch-" + run.number(), (_, bug) -> report(bug))) {
        int number = run.number();
        long since = generation;
        var news = new News();
        Task<SavedFiles, RuntimeException> save =
            tasks.fork(
                "save",
                () -> call.services().runs().awaitSave(session, number, request, since, news));
        if (isRunning) {
          Optional<Integer> status = followOne(session, run);
          if (isLeft.get() || isDetached) {
            return status;
          }
          if (!news.isSaved.get()) {
            sayWaiting(number, status);
          }
        }
        saved = save.get();
      }
      Optional<RunView> next = launch(session, saved);
      isRunning = next.isPresent();
      run = next.orElse(run);
      generation = next.map(RunView::generation).orElse(saved.generation());
    }
  }

  /** Empty when it is not known, or when it goes on without the user. */
  private Optional<Integer> followOne(SessionName session, RunView run)
      throws InterruptedException {
    try {
      Optional<Integer> status = FollowedRun.follow(call, run, choice, () -> isLeft.set(true));
      isDetached = status.isEmpty();
      if (!isDetached) {
        RunCommand.end(call, session, run.number(), choice);
      }
      return status;
    } catch (GpushException lost) {
      if (!(lost.failure() instanceof LaunchFailure.Lost)) {
        throw lost;
      }
      RunCommand.end(call, session, run.number(), choice);
      if (isLeft.get()) {
        throw lost;
      }
      call.write(lost.failure(), call.words());
      return Optional.empty();
    }
  }

  /** Empty when it cannot be started with these files. */
  private Optional<RunView> launch(SessionName session, SavedFiles saved)
      throws InterruptedException {
    try {
      RunView run = call.services().runs().launch(session, request, talk);
      call.say("run " + run.number() + " · " + words(saved.paths()) + " · G" + run.generation());
      RunCommand.tellTrace(call, run, choice);
      return Optional.of(run);
    } catch (GpushException failed) {
      if (failed.failure() instanceof SessionFailure.Gone) {
        throw failed;
      }
      call.write(failed.failure(), call.words());
      call.say("waiting for the next save; Ctrl-C leaves");
      return Optional.empty();
    }
  }

  private static String words(List<String> paths) {
    if (paths.isEmpty()) {
      return "newer files on the nodes";
    }
    int more = paths.size() - NAMED;
    return String.join(", ", paths.subList(0, Math.min(NAMED, paths.size())))
        + (more > 0 ? " and " + more + " more changed" : " changed");
  }

  private void sayWaiting(int run, Optional<Integer> status) {
    String end = status.filter(code -> code == 0).map(_ -> "run " + run + " is done; ").orElse("");
    call.say(end + "waiting for the next save; Ctrl-C leaves");
  }

  private void report(Throwable bug) {
    call.services().gateway().bugs().report("run", bug);
  }

  /** On the thread that waits for saves. */
  private final class News implements SaveListener {
    private final AtomicBoolean isSaved = new AtomicBoolean();

    @Override
    public void saved(SavedFiles files) {
      isSaved.set(true);
    }

    @Override
    public void failed(Failure failure) {
      call.console().freshLine();
      call.write(failure, call.words());
    }
  }
}
