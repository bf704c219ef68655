package dev.gpush.app;

import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;

/** Two calls of the C library that the JDK lacks. */
@SuppressWarnings("restricted")
final class Posix {
  /** POSIX allows 255. */
  private static final long NAME_BYTES = 256;

  private static final Linker LINKER = Linker.nativeLinker();

  private Posix() {}

  /**
   * Takes this process out of the terminal's session, so that neither Ctrl-C nor Ctrl-Z nor a
   * closed window reaches it. Called from inside, because macOS has no setsid program. Does nothing
   * when the process leads its group, because then the terminal does not reach it anyway.
   */
  static void ownSession() {
    MethodHandle setsid =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("setsid"),
            FunctionDescriptor.of(ValueLayout.JAVA_INT));
    try {
      int _ = (int) setsid.invokeExact();
    } catch (Throwable impossible) {
      throw new IllegalStateException("setsid", impossible);
    }
  }

  /** This host's name, without asking any name server. */
  static String hostName() {
    MethodHandle gethostname =
        LINKER.downcallHandle(
            LINKER.defaultLookup().findOrThrow("gethostname"),
            FunctionDescriptor.of(
                ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_LONG));
    try (var arena = Arena.ofConfined()) {
      MemorySegment name = arena.allocate(NAME_BYTES);
      int failed = (int) gethostname.invokeExact(name, NAME_BYTES - 1);
      return failed == 0 ? name.getString(0) : "unknown";
    } catch (Throwable impossible) {
      throw new IllegalStateException("gethostname", impossible);
    }
  }
}
