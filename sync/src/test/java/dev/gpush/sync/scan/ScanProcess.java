package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.tree.Scan;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/** A scan in a process of its own, from which a test can take rights away. */
final class ScanProcess {
  private ScanProcess() {}

  /**
   * Of the folder {@code work} in the one that is named; prints what is sent and left, or what
   * failed. Then a folder in it, where one is named, gets all permissions, loses them, and has them
   * again without the file {@code key}.
   */
  public static void main(String[] arguments) throws Exception {
    Path base = Path.of(arguments[0]);
    Path work = base.resolve("work");
    var places =
        GitPlaces.of(Map.of("HOME", base.resolve("home").toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    try (Tasks tasks = Tasks.named("scan", (_, failure) -> failure.printStackTrace())) {
      var scan =
          new TreeScan(
              work,
              places,
              ScanLimits.standard(),
              base.resolve("cache"),
              new FolderListener() {},
              Clock.system(),
              tasks);
      print(scan.scan(Talk.silent()));
      if (arguments.length > 1) {
        Path folder = work.resolve(arguments[1]);
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        print(scan.look(Optional.of(List.of(folder.getParent())), Set.of()));
        Files.setPosixFilePermissions(folder, Set.of());
        print(scan.look(Optional.of(List.of(folder)), Set.of()));
        print(scan.look(Optional.empty(), Set.of()));
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
        Files.delete(folder.resolve("key"));
        print(scan.look(Optional.of(List.of(folder.getParent())), Set.of()));
        Files.setPosixFilePermissions(folder, Set.of());
      }
    } catch (GpushException failed) {
      System.out.println(failed.failure());
    }
  }

  private static void print(Scan found) {
    System.out.println(
        new TreeSet<>(found.manifest().entries().keySet()) + " without " + found.left());
  }
}
