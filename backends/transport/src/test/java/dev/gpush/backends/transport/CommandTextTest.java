package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class CommandTextTest {
  private static final String MARKER = "0123456789abcdef";

  /** Those of this machine; Debian has the first three, the ssh rig brings tcsh and often fish. */
  static List<String> shells() {
    return List.of("/bin/sh", "/bin/bash", "/bin/rbash", "/bin/tcsh", "/usr/bin/fish").stream()
        .filter(shell -> Files.isExecutable(Path.of(shell)))
        .toList();
  }

  @ParameterizedTest
  @MethodSource("shells")
  void everyShellPassesTheSameArguments(String shell) throws Exception {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    System.out.println("everyShellPassesTheSameArguments -Dgpush.seed=" + seed);
    var random = new Random(seed);
    for (int round = 0; round < 12; round++) {
      List<String> words = round == 0 ? hard() : anyWords(random);
      var command = new ArrayList<>(List.of("printf", "%s\\n\\n"));
      command.addAll(words);

      String said = said(shell, CommandText.of(MARKER, command));

      assertEquals(MARKER + "\n" + String.join("\n\n", words) + "\n\n", said);
    }
  }

  @ParameterizedTest
  @MethodSource("shells")
  void plainWordsTooAndTheStatusIsTheCommands(String shell) throws Exception {
    assertEquals(
        MARKER + "\na b $HOME `id` \"\n",
        said(shell, CommandText.of(MARKER, List.of("echo", "a b $HOME `id` \""))));
    Process process = start(shell, CommandText.of(MARKER, List.of("sh", "-c", "exit 7")));
    assertEquals(7, process.waitFor());
  }

  @Test
  void zeroBytesAndNoWordsAreRefused() {
    assertThrows(IllegalArgumentException.class, () -> CommandText.of(MARKER, List.of()));
    assertThrows(IllegalArgumentException.class, () -> CommandText.of(MARKER, List.of("a\0b")));
  }

  private static List<String> hard() {
    return List.of(
        "",
        "'",
        "\\",
        "\\n",
        "\\0101",
        "!",
        "!!",
        "a!b",
        "it's",
        "\n",
        "end\n",
        "\n\n.",
        "%s%n",
        "$(id)",
        "`id`",
        "$HOME",
        "~",
        "*",
        "é€😀",
        "-n",
        "-e",
        "a\tb",
        "{a,b}",
        "#",
        "&",
        ";",
        "|",
        "<",
        "\"",
        "\u0001\u007f",
        "'\\''",
        "^a^b",
        "()",
        "x".repeat(20_000));
  }

  private static List<String> anyWords(Random random) {
    var words = new ArrayList<String>();
    for (int word = random.nextInt(6); word >= 0; word--) {
      var text = new StringBuilder();
      for (int letters = random.nextInt(12); letters > 0; letters--) {
        int letter = random.nextInt(4) == 0 ? 1 + random.nextInt(0x7ff) : 1 + random.nextInt(127);
        text.appendCodePoint(letter);
      }
      words.add(text.toString());
    }
    return words;
  }

  private static String said(String shell, String line) throws IOException, InterruptedException {
    Process process = start(shell, line);
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    String errors = new String(process.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
    assertEquals(MARKER + "\n", errors);
    assertEquals(0, process.waitFor());
    return said;
  }

  private static Process start(String shell, String line) throws IOException {
    Process process = new ProcessBuilder(shell, "-c", line).start();
    process.getOutputStream().close();
    return process;
  }
}
