package dev.gpush.backends.hosts.local;

import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** Which variables a local node takes over. */
final class LocalVariables {
  private static final Set<String> IDENTITY =
      Set.of(
          "HOME",
          "USER",
          "LOGNAME",
          "SHELL",
          "LANG",
          "LANGUAGE",
          "TZ",
          "PATH",
          "LD_LIBRARY_PATH",
          "XDG_RUNTIME_DIR");

  private static final Set<String> INHERITED =
      Set.of("PATH", "VIRTUAL_ENV", "LD_LIBRARY_PATH", "LANG", "LANGUAGE", "TZ");

  private LocalVariables() {}

  /** Of the gateway process: who the user is, and a path to start from. */
  static boolean isIdentity(String name) {
    return IDENTITY.contains(name) || name.startsWith("LC_");
  }

  /** Of the client: where its programs and its Python are. */
  static Map<String, String> inherited(Map<String, String> clientEnvironment) {
    var taken = new TreeMap<>(clientEnvironment);
    taken
        .keySet()
        .removeIf(
            name ->
                !INHERITED.contains(name) && !name.startsWith("CONDA_") && !name.startsWith("LC_"));
    return taken;
  }
}
