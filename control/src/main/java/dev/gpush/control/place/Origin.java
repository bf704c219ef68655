package dev.gpush.control.place;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The home and the build of this client.
 *
 * @param home the real path of GPUSH_HOME
 * @param build the content hash of the jars
 * @param gateway the command that becomes this build's gateway
 */
public record Origin(
    Path home,
    String build,
    Path folder,
    Map<String, String> environment,
    long pid,
    List<String> gateway) {
  private static final String NOW = "PWD";
  private static final String BEFORE = "OLDPWD";

  public Origin {
    environment = Map.copyOf(environment);
    gateway = List.copyOf(gateway);
  }

  /** The variables that a {@code cd} changes, as they are now. */
  public Map<String, String> folders() {
    return environment.entrySet().stream()
        .filter(variable -> variable.getKey().equals(BEFORE) || variable.getKey().equals(NOW))
        .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
  }

  /** As if it had been started in this folder, after a {@code cd} from its own. */
  public Origin in(Path other) {
    var variables = new HashMap<>(environment);
    variables.put(BEFORE, folder.toString());
    variables.put(NOW, other.toString());
    return new Origin(home, build, other, variables, pid, gateway);
  }
}
