package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.control.place.Origin;
import dev.gpush.shell.command.Desk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jline.terminal.Size;

/**
 * What is seen in a window, one look after the other, as a file below
 * src/test/resources/golden/screens of the tree. {@code -Dgpush.golden=write} writes it again.
 */
final class GoldenFile {
  private static final Path GOLDEN = Path.of("../src/test/resources/golden/screens");
  private static final boolean WRITES = "write".equals(System.getProperty("gpush.golden"));

  /** Before what is seen next. */
  private static final String NEXT = "──── ";

  /** A window. */
  enum Window {
    WIDE("80x24", Size.of(80, 24)),
    NARROW("40x10", Size.of(40, 10)),
    TINY("20x10", Size.of(20, 10)),
    HUGE("300x90", Size.of(300, 90)),
    PLAIN("plain", Size.of(80, 24));

    private final String word;
    private final Size size;

    Window(String word, Size size) {
      this.word = word;
      this.size = size;
    }

    Size size() {
      return size;
    }

    boolean isPlain() {
      return this == PLAIN;
    }

    /** Of a shell in it. */
    Origin origin(Path home) {
      var environment =
          new HashMap<>(
              Map.of("HOME", "/home/ann", "TERM", "xterm", "LANG", "C.UTF-8", "TZ", "UTC"));
      if (isPlain()) {
        environment.put("GPUSH_PLAIN", "1");
      }
      return new Origin(home, "build", Desk.PROJECT, environment, 1, List.of("gateway"));
    }
  }

  private final Path folder;
  private final Path file;
  private final List<String> expected;
  private final StringBuilder seen = new StringBuilder();
  private int looks;

  GoldenFile(String name, Window window) throws IOException {
    folder = GOLDEN.resolve(name);
    file = folder.resolve(window.word + ".txt");
    expected = WRITES ? List.of() : List.of(Files.readString(file).split("(?m)^" + NEXT));
  }

  /** What is to be seen next; empty while the file is written. */
  String next(String what) {
    looks++;
    String head = what + "\n";
    boolean isThere = looks < expected.size() && expected.get(looks).startsWith(head);
    return isThere ? expected.get(looks).substring(head.length()) : "";
  }

  boolean isWritten() {
    return WRITES;
  }

  void sees(String what, String expectedLook, String look) {
    if (WRITES) {
      seen.append(NEXT).append(what).append('\n').append(look);
    } else {
      assertEquals(expectedLook, look, file + ": " + what);
    }
  }

  /** All was seen. A test that fails before this writes no part of a file. */
  void ends() throws IOException {
    if (WRITES) {
      Files.createDirectories(folder);
      Files.writeString(file, seen.toString());
    } else {
      assertEquals(expected.size() - 1, looks, file + ": looks");
    }
  }
}
