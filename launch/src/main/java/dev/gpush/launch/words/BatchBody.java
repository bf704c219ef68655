package dev.gpush.launch.words;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.failure.UsageFailure.BadLine;
import dev.gpush.core.file.FileReason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The commands of a batch script that need Slurm itself, found before anything starts. srun and
 * {@code scontrol show hostnames} work on the nodes of the run; what else a script does is the
 * business of its shell.
 */
public final class BatchBody {
  /** What begins a command: the start of a line, or what joins commands. */
  private static final String BEGIN =
      "(?:^|[;&|({`]|\\$\\(|\\b(?:then|do|else|exec|time|if|while)\\s)\\s*";

  private static final String ALONE = "it needs Slurm itself, and a run is not a Slurm job";

  private static final Map<String, String> COMMANDS =
      Map.of(
          "sbatch", ALONE,
          "salloc", ALONE,
          "sbcast", "the workspace is on all nodes already; copy other files with srun cp",
          "sattach", ALONE,
          "scancel", "gpush stop ends a run",
          "strigger", ALONE);

  private static final Pattern COMMAND =
      Pattern.compile(BEGIN + "(sbatch|salloc|sbcast|sattach|scancel|strigger)(?=\\s|$)");

  private static final Pattern SCONTROL =
      Pattern.compile(BEGIN + "(scontrol)(?=\\s|$)(?!\\s+show\\s+hostnames?\\b)");

  private static final Pattern SRUN = Pattern.compile(BEGIN + "(srun)((?:\\s+[^\\s;&|]+)*)");

  private static final Pattern OPTION =
      Pattern.compile(
          "(?<=\\s)(--(?:pty|multi-prog|het-group|pack-group|jobid|bcast|relative|container-[a-z-]+)"
              + "|-r)(?=[=\\s]|$)");

  /** Of the options of srun, up to its program: words that begin with a dash, and their values. */
  private static final Pattern OPTIONS =
      Pattern.compile("((?:\\s+-\\S*(?:\\s+[^-\\s]\\S*)?)*).*", Pattern.DOTALL);

  private BatchBody() {}

  /**
   * Fails with every line that cannot be.
   *
   * @param script of the workspace; empty: only the nodes know it
   */
  public static void check(RunWords words, Optional<Path> script) {
    if (!(words.form() instanceof RunWords.BatchScript(var program))) {
      return;
    }
    String name = program.getFirst();
    if (script.isEmpty()) {
      throw UsageFailure.ofRun(name + " is not in the workspace, so the nodes do not have it");
    }
    List<BadLine> bad;
    try {
      bad = bad(Files.readString(script.get(), StandardCharsets.ISO_8859_1));
    } catch (IOException unreadable) {
      throw new GpushException(
          new ConfigFailure.Unreadable(name, FileReason.of(unreadable)), unreadable);
    }
    if (!bad.isEmpty()) {
      throw new GpushException(new UsageFailure.BadCommands(name, bad));
    }
  }

  static List<BadLine> bad(String text) {
    var bad = new ArrayList<BadLine>();
    List<String> lines = text.lines().toList();
    for (int at = 0; at < lines.size(); at++) {
      int number = at + 1;
      var whole = new StringBuilder(lines.get(at));
      while (whole.toString().endsWith("\\") && at + 1 < lines.size()) {
        whole.setLength(whole.length() - 1);
        whole.append(' ').append(lines.get(++at));
      }
      String line = whole.toString();
      if (!line.isBlank() && !line.strip().startsWith("#")) {
        look(number, line, bad);
      }
    }
    return bad;
  }

  private static void look(int number, String line, List<BadLine> bad) {
    Matcher command = COMMAND.matcher(line);
    while (command.find()) {
      String name = command.group(1);
      bad.add(new BadLine(number, name + " is not possible here: " + COMMANDS.get(name)));
    }
    if (SCONTROL.matcher(line).find()) {
      bad.add(new BadLine(number, "only scontrol show hostnames is possible here"));
    }
    Matcher srun = SRUN.matcher(line);
    while (srun.find()) {
      Matcher options = OPTIONS.matcher(srun.group(2));
      String given = options.matches() ? options.group(1) : "";
      Matcher option = OPTION.matcher(given);
      while (option.find()) {
        bad.add(new BadLine(number, "srun " + option.group(1) + " is not possible here"));
      }
    }
  }
}
