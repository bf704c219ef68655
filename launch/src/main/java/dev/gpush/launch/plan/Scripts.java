package dev.gpush.launch.plan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.text.Nearest;
import dev.gpush.launch.words.PastedOptions;
import dev.gpush.launch.words.RunWords;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** The script of a run, checked in the client's folder before a node is asked. */
public final class Scripts {
  /** A folder with more files than this is not searched for a similar name. */
  private static final int MOST_FILES = 2_000;

  /** Larger files are not written by hand. */
  private static final int MOST_BYTES = 1 << 20;

  private static final Pattern FROM = Pattern.compile("(?m)^from[ \\t]+torch[. \\t]");

  /** {@code import os, numpy as np, torch}, too. */
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import[ \\t]+(?:[\\w. \\t]+,[ \\t]*)*torch\\b");

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
    return Nearest.to(script.getFileName().toString(), names);
  }

  /**
   * Whether a script needs torch: searches its text for imports at the left margin. For an import
   * within a function, or through another module, Python itself reports a missing torch.
   */
  static boolean importsTorch(Path script) {
    try (var in = Files.newInputStream(script)) {
      return importsTorch(new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1));
    } catch (IOException unreadable) {
      return false;
    }
  }

  public static boolean importsTorch(String text) {
    return FROM.matcher(text).find() || IMPORT.matcher(text).find();
  }
}
