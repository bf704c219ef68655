package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.testkit.fixture.PlainEnglish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The help of every command, word for word, in src/test/resources/golden/help of the tree, so that
 * each change of it is seen in a review. {@code -Dgpush.golden=write} writes them again.
 */
final class GoldenHelpTest {
  private static final Path GOLDEN = Path.of("../src/test/resources/golden/help");

  static List<String> names() {
    var names = new ArrayList<>(new Verbs().names());
    names.add("gpush");
    return names;
  }

  @ParameterizedTest
  @MethodSource("names")
  void helpIsAsItWasRead(String name) throws IOException {
    Path file = GOLDEN.resolve(name + ".txt");
    String text =
        name.equals("gpush")
            ? HelpScreen.text()
            : new CommandHelp(name, new Verbs().make(name).orElseThrow()).text();

    if ("write".equals(System.getProperty("gpush.golden"))) {
      Files.createDirectories(GOLDEN);
      Files.writeString(file, text);
    }

    assertEquals(Files.readString(file), text);
    PlainEnglish.check(text);
  }

  @Test
  void noFileIsLeftOver() throws IOException {
    try (Stream<Path> files = Files.list(GOLDEN)) {
      var found = new TreeSet<>(files.map(file -> file.getFileName().toString()).toList());

      assertEquals(new TreeSet<>(names().stream().map(name -> name + ".txt").toList()), found);
    }
  }
}
