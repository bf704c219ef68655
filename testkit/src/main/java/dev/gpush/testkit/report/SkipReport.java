package dev.gpush.testkit.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.engine.support.descriptor.ClassSource;
import org.junit.platform.engine.support.descriptor.MethodSource;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.TestPlan;

/**
 * Prints each skipped test with the reason: Surefire's console tells only how many there were. A
 * test counts as skipped when it is disabled and when one of its assumptions did not hold.
 */
public final class SkipReport implements TestExecutionListener {
  private final Object lock = new Object();
  // guarded by lock: tests of one plan may run side by side
  private final List<String> skipped = new ArrayList<>();

  @Override
  public void executionSkipped(TestIdentifier test, String reason) {
    add(test, reason);
  }

  @Override
  public void executionFinished(TestIdentifier test, TestExecutionResult result) {
    if (result.getStatus() == TestExecutionResult.Status.ABORTED) {
      add(
          test,
          result
              .getThrowable()
              .flatMap(cause -> Optional.ofNullable(cause.getMessage()))
              .orElse("no reason given"));
    }
  }

  @Override
  public void testPlanExecutionFinished(TestPlan plan) {
    synchronized (lock) {
      skipped.forEach(System.out::println);
      skipped.clear();
    }
  }

  private void add(TestIdentifier test, String reason) {
    synchronized (lock) {
      skipped.add("Skipped: " + name(test) + ": " + reason);
    }
  }

  static String name(TestIdentifier test) {
    return switch (test.getSource().orElse(null)) {
      case MethodSource method -> simple(method.getClassName()) + "." + method.getMethodName();
      case ClassSource type -> simple(type.getClassName());
      case null, default -> test.getDisplayName();
    };
  }

  private static String simple(String className) {
    return className.substring(className.lastIndexOf('.') + 1);
  }
}
