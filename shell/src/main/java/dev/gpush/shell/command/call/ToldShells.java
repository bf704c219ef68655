package dev.gpush.shell.command.call;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Remembers what each interactive shell was told about the session that its commands use, so that
 * it is told once, and which runs it shows. Outside an interactive shell every command is told.
 * Thread-safe.
 */
public final class ToldShells {
  /** Names the shell that a command comes from; the shell itself sets it. */
  public static final String VARIABLE = "GPUSH_SHELL";

  /** Beyond this, the shell that was told longest ago is forgotten, and told again. */
  private static final int MAX_SHELLS = 256;

  /** Of a shell: {@code run --watch} follows one after the other. */
  private static final int MAX_RUNS = 4;

  // guarded by this
  private final Map<String, String> told = new LinkedHashMap<>();
  private final Map<String, List<String>> followed = new LinkedHashMap<>();
  private final List<String> following = new ArrayList<>();

  public ToldShells() {}

  /** Whether it is that of a command which was typed at the prompt of gpush. */
  public static boolean isShell(Map<String, String> environment) {
    return !shell(environment).isEmpty();
  }

  /** A shell starts: an earlier one with the same number has ended. */
  public synchronized void begin(Map<String, String> environment) {
    told.remove(shell(environment));
    followed.remove(shell(environment));
  }

  /** A command that shows a run, until it is closed. */
  public final class Following implements AutoCloseable {
    private final String shell;
    private final String run;
    private boolean isShown;

    private Following(String shell, String run) {
      this.shell = shell;
      this.run = run;
    }

    /** The user has seen its end. */
    public void ended() {
      isShown = true;
    }

    @Override
    public void close() {
      leave(shell);
      if (!isShown) {
        remove(shell, run);
      }
    }
  }

  /** A command of the shell shows this run until its end, so nothing else need say that. */
  public synchronized Following follow(Map<String, String> environment, String run) {
    String shell = shell(environment);
    following.add(shell);
    if (!shell.isEmpty()) {
      var runs = new ArrayList<>(followed.getOrDefault(shell, List.of()));
      runs.add(run);
      followed.remove(shell);
      followed.put(shell, runs.subList(Math.max(0, runs.size() - MAX_RUNS), runs.size()));
      if (followed.size() > MAX_SHELLS) {
        followed.remove(followed.keySet().iterator().next());
      }
    }
    return new Following(shell, run);
  }

  private synchronized void leave(String shell) {
    following.remove(shell);
  }

  private synchronized void remove(String shell, String run) {
    followed.computeIfPresent(
        shell, (_, runs) -> runs.stream().filter(each -> !each.equals(run)).toList());
  }

  public synchronized boolean isFollowing(Map<String, String> environment, String run) {
    return followed.getOrDefault(shell(environment), List.of()).contains(run);
  }

  /** Whether a command of the shell shows a run at this moment. */
  public synchronized boolean isFollowing(Map<String, String> environment) {
    return following.contains(shell(environment));
  }

  /** Whether the command must be told, because its shell was not told the same before. */
  synchronized boolean isNews(Map<String, String> environment, String what) {
    String shell = shell(environment);
    if (shell.isEmpty()) {
      return true;
    }
    String before = told.getOrDefault(shell, "");
    told.remove(shell);
    told.put(shell, what);
    if (told.size() > MAX_SHELLS) {
      told.remove(told.keySet().iterator().next());
    }
    return !before.equals(what);
  }

  private static String shell(Map<String, String> environment) {
    return environment.getOrDefault(VARIABLE, "");
  }
}
