package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.launch.words.PastedOptions;
import dev.gpush.launch.words.RunWords;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** The script of a run, checked in the client's folder before a node is asked. */
public final class Scripts {
  /** A folder with more files than this is not searched for a similar name. */
  private static final int MOST_FILES = 2_000;

  private static final int NAMED = 3;

  private Scripts() {}

  /**
   * The program's script on this machine; empty for a module, and for a path that only the nodes
   * know.
   */
  public static Optional<Path> find(RunWords words, Path root, Path folder) {
    List<String> program =
        switch (words.form()) {
          case RunWords.Program(var all, _, _) -> all;
          case RunWords.Launched(_, var options, var all) ->
              options.stream().anyMatch(option -> PastedOptions.name(option).equals("no-python"))
                  ? List.of()
                  : all;
          case RunWords.BatchScript(var all) -> all;
          case RunWords.RayProgram(var all) -> all;
          case RunWords.Mpi(var command, _) -> command.pythonScript();
          case RunWords.Notebook _, RunWords.Command _, RunWords.Shell _ -> List.of();
        };
    int at = LaunchPlan.scriptAt(program);
    if (at < 0) {
      return Optional.empty();
    }
    try {
      Path script = folder.resolve(program.get(at)).normalize();
      return script.startsWith(root) ? Optional.of(script) : Optional.empty();
    } catch (InvalidPathException odd) {
      return Optional.empty();
    }
  }

  public static void requireThere(Path script, Path folder) {
    if (Files.exists(script)) {
      return;
    }
    String name = folder.relativize(script).toString();
    throw new GpushException(
        new LaunchFailure.NoSuchScript(name, folder.toString(), nearest(script)));
  }

  /** Similar names of scripts in the same folder. */
  private static List<String> nearest(Path script) {
    var names = new ArrayList<String>();
    try (var files = Files.newDirectoryStream(script.getParent(), "*.py")) {
      for (Path file : files) {
        names.add(file.getFileName().toString());
        if (names.size() > MOST_FILES) {
          return List.of();
        }
      }
    } catch (IOException noFolder) {
      return List.of();
    }
    String wanted = script.getFileName().toString();
    return names.stream()
        .filter(name -> distance(name, wanted) <= Math.max(2, wanted.length() / 3))
        .sorted(
            Comparator.comparingInt((String name) -> distance(name, wanted))
                .thenComparing(name -> name))
        .limit(NAMED)
        .toList();
  }

  /** Levenshtein distance, ignoring case. */
  private static int distance(String left, String right) {
    String a = left.toLowerCase(Locale.ROOT);
    String b = right.toLowerCase(Locale.ROOT);
    var row = new int[b.length() + 1];
    for (int j = 0; j <= b.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= a.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= b.length(); j++) {
        int cost = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        int best = Math.min(Math.min(row[j], row[j - 1]) + 1, diagonal + cost);
        diagonal = row[j];
        row[j] = best;
      }
    }
    return row[b.length()];
  }
}
