package dev.gpush.shell.command.run;

import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/** The variables that {@code run --env} names. */
final class RunVariables {
  static final String OPTION = "--env";

  private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

  /** What tells a rank its place: another value would make a gang that never meets. */
  private static final Set<String> OURS =
      Set.of(
          "RANK",
          "LOCAL_RANK",
          "WORLD_SIZE",
          "LOCAL_WORLD_SIZE",
          "NODE_RANK",
          "GROUP_RANK",
          "NNODES",
          "MASTER_ADDR",
          "MASTER_PORT",
          "CUDA_VISIBLE_DEVICES");

  private RunVariables() {}

  /**
   * {@code NAME=VALUE}, or {@code NAME} for the value that the caller has; a name that the caller
   * does not have is left out, and said.
   */
  static Map<String, String> parse(Call call, List<String> given) {
    var variables = new TreeMap<String, String>();
    for (String text : given) {
      int equals = text.indexOf('=');
      String name = equals < 0 ? text : text.substring(0, equals);
      requireUsable(name, text);
      Optional<String> value =
          equals < 0
              ? Optional.ofNullable(call.environment().get(name))
              : Optional.of(text.substring(equals + 1));
      if (value.isPresent()) {
        variables.put(name, value.get());
      } else {
        call.say(name + " is not set here, so the ranks do not get it");
      }
    }
    return variables;
  }

  private static void requireUsable(String name, String text) {
    if (!NAME.matcher(name).matches()) {
      throw Values.bad("run", OPTION + " takes NAME=VALUE or NAME, not '" + text + "'");
    }
    if (OURS.contains(name) || name.startsWith("GPUSH_")) {
      throw Values.bad(
          "run", name + " is set by gpush for each rank, so " + OPTION + " cannot set it");
    }
  }
}
