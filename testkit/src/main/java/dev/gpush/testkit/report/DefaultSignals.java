package dev.gpush.testkit.report;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/**
 * Gives HUP, INT and QUIT back their default effect before tests start programs, which inherit it:
 * under nohup, in background jobs and in some CI systems a build ignores them, and then Ctrl-C ends
 * none of the programs that a test interrupts. Found by JUnit as a service.
 */
public final class DefaultSignals implements LauncherSessionListener {
  private static final Path STATUS = Path.of("/proc/self/status");
  private static final String IGNORED = "SigIgn:";

  private static final List<Integer> HUP_INT_QUIT = List.of(1, 2, 3);

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    if (!Files.isReadable(STATUS)) {
      return;
    }
    BigInteger ignored = ignored();
    HUP_INT_QUIT.stream()
        .filter(signal -> ignored.testBit(signal - 1))
        .forEach(DefaultSignals::setDefault);
  }

  private static BigInteger ignored() {
    try {
      return Files.readAllLines(STATUS).stream()
          .filter(line -> line.startsWith(IGNORED))
          .findFirst()
          .map(line -> new BigInteger(line.substring(IGNORED.length()).strip(), 16))
          .orElse(BigInteger.ZERO);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** {@code signal(number, SIG_DFL)} of the C library. */
  @SuppressWarnings("restricted") // The flags of every test JVM allow it.
  private static void setDefault(int number) {
    Linker linker = Linker.nativeLinker();
    MemorySegment function = linker.defaultLookup().find("signal").orElseThrow();
    var shape =
        FunctionDescriptor.of(ValueLayout.ADDRESS, ValueLayout.JAVA_INT, ValueLayout.ADDRESS);
    try {
      var previous =
          (MemorySegment)
              linker.downcallHandle(function, shape).invokeExact(number, MemorySegment.NULL);
      if (previous.address() < 0) {
        throw new IllegalStateException("signal " + number + " cannot be set");
      }
    } catch (Throwable failed) {
      throw new IllegalStateException(failed);
    }
  }
}
