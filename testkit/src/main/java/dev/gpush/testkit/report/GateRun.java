package dev.gpush.testkit.report;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClasspathRoots;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectUniqueId;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.TagFilter;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

/**
 * The tests of the gate that need a rig, one after the other, for {@code .ci/run}: {@code TAGS
 * FLAKY}, in the folder of a module that is built. One that fails is run once more, and if it
 * passes then, a line of the file FLAKY has its name and what it said. Status 1 if one failed
 * twice, or if there were none.
 */
public final class GateRun implements TestExecutionListener {
  private static final int MOST_LETTERS = 200;

  private final PrintStream out;
  private final Map<String, Long> begun = new ConcurrentHashMap<>();
  private final Map<String, Failed> failed = new LinkedHashMap<>();
  private int passed;
  private int skipped;

  private GateRun(PrintStream out) {
    this.out = out;
  }

  /** A test that failed: its name, and the first line of why. */
  private record Failed(String name, String why) {}

  /** The program. */
  public static void main(String[] words) throws IOException {
    System.exit(isGreen(words[0], Path.of(words[1])) ? 0 : 1);
  }

  private static boolean isGreen(String tags, Path flaky) throws IOException {
    Set<Path> classes = Set.of(Path.of("target/test-classes").toAbsolutePath());
    try (var session = LauncherFactory.openSession()) {
      GateRun first = run(session.getLauncher(), selectClasspathRoots(classes), tags);
      if (first.failed.isEmpty()) {
        return first.passed > 0;
      }
      var again = first.failed.keySet().stream().map(id -> selectUniqueId(id)).toList();
      GateRun second = run(session.getLauncher(), again, tags);
      for (Failed each : first.failed.values()) {
        boolean isRed =
            second.failed.values().stream().anyMatch(other -> other.name.equals(each.name));
        if (!isRed) {
          Files.writeString(
              flaky,
              each.name + ": " + each.why + "\n",
              StandardOpenOption.CREATE,
              StandardOpenOption.APPEND);
        }
      }
      return second.failed.isEmpty() && second.passed > 0;
    }
  }

  /** A test that hangs fails with the stacks of all threads, as in the root pom.xml. */
  static LauncherDiscoveryRequestBuilder guarded() {
    return LauncherDiscoveryRequestBuilder.request()
        .configurationParameter("junit.jupiter.execution.timeout.default", "10 m")
        .configurationParameter(
            "junit.jupiter.execution.timeout.thread.mode.default", "separate_thread")
        .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true");
  }

  private static GateRun run(
      Launcher launcher, List<? extends DiscoverySelector> tests, String tags) {
    LauncherDiscoveryRequest request =
        guarded().selectors(tests).filters(TagFilter.includeTags(tags)).build();
    var listener = new GateRun(System.out);
    launcher.execute(request, listener);
    listener.out.printf(
        "Tests run: %d, Failures: %d, Skipped: %d%n",
        listener.passed + listener.failed.size(), listener.failed.size(), listener.skipped);
    return listener;
  }

  @Override
  public void executionStarted(TestIdentifier test) {
    begun.put(test.getUniqueId(), System.nanoTime());
  }

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    skipped++;
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    long nanos = System.nanoTime() - begun.getOrDefault(test.getUniqueId(), 0L);
    String name = SkipReport.name(test) + (test.isTest() ? "" : " as a whole");
    switch (result.getStatus()) {
      case SUCCESSFUL -> passed += test.isTest() ? 1 : 0;
      case ABORTED -> skipped++;
      case FAILED -> {
        Throwable cause = result.getThrowable().orElseThrow();
        String why = String.valueOf(cause.getMessage()).lines().findFirst().orElse("");
        failed.put(
            test.getUniqueId(),
            new Failed(name, why.substring(0, Math.min(why.length(), MOST_LETTERS))));
        cause.printStackTrace(out);
      }
    }
    if (test.isTest()) {
      out.printf("%s %s %d s%n", result.getStatus(), name, Duration.ofNanos(nanos).toSeconds());
    }
  }
}
