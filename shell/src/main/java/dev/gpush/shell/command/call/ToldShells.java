package dev.gpush.shell.command.call;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * What each interactive shell has been told about the session that its commands take, so that it is
 * told once. A command outside of an interactive shell is told each time. Thread-safe.
 */
public final class ToldShells {
  /** Names the shell that a command comes from; the shell itself sets it. */
  public static final String VARIABLE = "GPUSH_SHELL";

  /** The shell that was told longest ago is forgotten, and told once more. */
  private static final int MAX_SHELLS = 256;

  // guarded by this
  private final Map<String, String> told = new LinkedHashMap<>();

  public ToldShells() {}

  /** A shell begins: one that had the same number before is over. */
  public synchronized void begin(Map<String, String> environment) {
    told.remove(shell(environment));
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
