package dev.gpush.shell.command.call;

import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Remembers what each interactive shell was told about the session that its commands use, so that
 * it is told once. Outside an interactive shell every command is told. Thread-safe.
 */
public final class ToldShells {
  /** Names the shell that a command comes from; the shell itself sets it. */
  public static final String VARIABLE = "GPUSH_SHELL";

  /** Beyond this, the shell that was told longest ago is forgotten, and told again. */
  private static final int MAX_SHELLS = 256;

  // guarded by this
  private final Map<String, String> told = new LinkedHashMap<>();

  public ToldShells() {}

  /** A shell starts: an earlier one with the same number has ended. */
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
