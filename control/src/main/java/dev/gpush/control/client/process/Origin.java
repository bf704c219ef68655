package dev.gpush.control.client.process;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

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
  public Origin {
    environment = Map.copyOf(environment);
    gateway = List.copyOf(gateway);
  }

  /** As if it had been started in this folder, after a {@code cd} from its own. */
  public Origin in(Path other) {
    var variables = new HashMap<>(environment);
    variables.put("OLDPWD", folder.toString());
    variables.put("PWD", other.toString());
    return new Origin(home, build, other, variables, pid, gateway);
  }
}
