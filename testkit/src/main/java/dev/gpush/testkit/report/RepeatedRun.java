package dev.gpush.testkit.report;

import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectMethod;

import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import org.junit.platform.engine.DiscoverySelector;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/**
 * Runs the same tests many times in one JVM, for {@code scripts/repeat}: {@code TIMES CLASS…}, or
 * {@code CLASS#METHOD}. Status 1 at the first failure.
 */
public final class RepeatedRun {
  private static final int MOST_STACKS = 10;

  private RepeatedRun() {}

  /** The program. */
  public static void main(String[] words) {
    int times = Integer.parseInt(words[0]);
    List<DiscoverySelector> tests =
        Arrays.stream(words).skip(1).map(RepeatedRun::selector).toList();
    LauncherDiscoveryRequest request = GateRun.guarded().selectors(tests).build();
    var out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
    try (var session = LauncherFactory.openSession()) {
      for (int time = 1; time <= times; time++) {
        var listener = new SummaryGeneratingListener();
        session.getLauncher().execute(request, listener);
        var summary = listener.getSummary();
        out.println(
            "%d of %d: %d passed, %d failed, %d skipped, %d ms"
                .formatted(
                    time,
                    times,
                    summary.getTestsSucceededCount(),
                    summary.getTotalFailureCount(),
                    summary.getTestsSkippedCount() + summary.getTestsAbortedCount(),
                    summary.getTimeFinished() - summary.getTimeStarted()));
        if (summary.getTotalFailureCount() > 0 || summary.getTestsFoundCount() == 0) {
          summary.printFailuresTo(out, MOST_STACKS);
          System.exit(1);
        }
      }
    }
    System.exit(0);
  }

  private static DiscoverySelector selector(String word) {
    int at = word.indexOf('#');
    return at < 0 ? selectClass(word) : selectMethod(word);
  }
}
