package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import dev.gpush.sync.git.GitPlaces;
import java.nio.file.Path;
import java.util.Map;

/** A scan in a process of its own, from which a test can take rights away. Prints what failed. */
final class ScanProcess {
  private ScanProcess() {}

  /** Of the folder {@code work} in the one that is named. */
  public static void main(String[] arguments) throws Exception {
    Path base = Path.of(arguments[0]);
    var places =
        GitPlaces.of(Map.of("HOME", base.resolve("home").toString(), "GIT_CONFIG_NOSYSTEM", "1"));
    try (Tasks tasks = Tasks.named("scan", (_, failure) -> failure.printStackTrace())) {
      new TreeScan(
              base.resolve("work"),
              places,
              ScanLimits.standard(),
              base.resolve("cache"),
              Clock.system(),
              tasks)
          .scan(Talk.silent());
      System.out.println("all could be read");
    } catch (GpushException failed) {
      System.out.println(failed.failure());
    }
  }
}
