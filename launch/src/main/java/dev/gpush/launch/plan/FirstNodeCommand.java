package dev.gpush.launch.plan;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Resource;
import dev.gpush.launch.words.MpiCommand;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What each node starts for a batch script, for MPI and for Ray: the same Python text, which runs
 * the program on the first node, and on the others starts what it asks for.
 */
final class FirstNodeCommand {
  /** The variable with which the nodes prove to each other that they belong to this run. */
  static final String KEY = "GPUSH_GANG_KEY";

  private static final String BEGIN = "import sys; exec(sys.argv[1])";

  private static final List<String> PARTS =
      List.of("gang.py", "ask.py", "srun.py", "mpi.py", "ray.py", "begin.py");

  private FirstNodeCommand() {}

  /**
   * @param script with its arguments
   * @param tasks of srun on each node, unless it says more
   */
  static List<String> batch(String python, List<String> script, int tasks) {
    return argv(
        python,
        Json.object("kind", "batch", "argv", script, "tasks", tasks, "job", script.getFirst()));
  }

  /**
   * @param ranks for which there is room on each node
   */
  static List<String> mpi(String python, MpiCommand command, List<Integer> ranks) {
    List<Json.Obj> apps =
        command.apps().stream()
            .map(app -> Json.object("options", app.options(), "program", app.program()))
            .toList();
    return argv(
        python,
        Json.object("kind", "mpi", "launcher", command.launcher(), "apps", apps, "ranks", ranks));
  }

  /**
   * @param script with its arguments
   * @param cpus that Ray may use on each node
   * @param gpus the same
   */
  static List<String> ray(
      String python, List<String> script, List<Integer> cpus, List<Integer> gpus) {
    return argv(python, Json.object("kind", "ray", "argv", script, "cpus", cpus, "gpus", gpus));
  }

  private static List<String> argv(String python, Json.Obj what) {
    String text =
        PARTS.stream()
            .map(part -> Resource.text(FirstNodeCommand.class, part))
            .collect(Collectors.joining());
    return List.of(python, "-u", "-c", BEGIN, text, what.write());
  }
}
