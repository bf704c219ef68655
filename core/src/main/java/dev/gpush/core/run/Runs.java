package dev.gpush.core.run;

import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Streams;
import dev.gpush.core.talk.Talk;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Runs and commands on a session, for the shell. */
public interface Runs {
  /**
   * Launches on the target's session, which is taken as it is when it is ready. Makes one where
   * there is none, and another one where it turns out to be gone. Syncs, resolves Python, claims
   * slots, starts all nodes or none, and returns as soon as all have started.
   *
   * <p>Words that can never be launched from this folder are refused before anything is reserved
   * for them. A session that was made for this run is given back when the launch fails: nothing
   * runs on it, and nobody asked for nodes without a run.
   *
   * @param events told on the calling thread what becomes of the session, as it happens
   * @throws dev.gpush.core.failure.GpushException also {@code Differs}: a run takes part of the
   *     session that is there, never more
   */
  RunView launch(RunTarget target, RunRequest request, Consumer<LaunchEvent> events, Talk talk)
      throws InterruptedException;

  List<RunView> list(SessionName session);

  /** By number, or the newest when empty. */
  RunView find(SessionName session, Optional<Integer> run);

  /**
   * Gives the output from its beginning (or only what is there, without {@code follow}) until the
   * run ends.
   *
   * @param ranks only these; empty: all; -1: only what torchrun or accelerate say themselves
   * @return the exit status of the run: of the earliest failing rank, 128 + n for a signal; empty
   *     when not ended
   */
  Optional<Integer> follow(
      SessionName session, int run, Set<Integer> ranks, boolean follow, RunOutput output)
      throws InterruptedException;

  /**
   * Signals all ranks; those that stay are killed after the grace. Returns when the run has ended.
   */
  RunView stop(SessionName session, int run, String signal, Duration grace, Talk talk)
      throws InterruptedException;

  /**
   * Runs a command on nodes with these streams; on several nodes output is prefixed by node and
   * input is not given.
   *
   * @param nodes empty: node 0
   * @param tty a remote terminal of the client's size
   * @return the exit status of the command (several: the first that is not 0)
   */
  int exec(
      SessionName session,
      List<Integer> nodes,
      List<String> words,
      boolean tty,
      Map<String, String> environment,
      Streams streams)
      throws InterruptedException;
}
