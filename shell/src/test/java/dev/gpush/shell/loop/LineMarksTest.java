package dev.gpush.shell.loop;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.run.Runs.Picture;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.Sessions.Came;
import dev.gpush.core.session.Sessions.EndedRequest;
import dev.gpush.core.text.ShellWords.Word;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.loop.GoldenFile.Window;
import dev.gpush.shell.text.VerbWords;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** With the words of all commands, as the gateway sends them. */
final class LineMarksTest {
  private static KnownWords known = KnownWords.NONE;

  @BeforeAll
  static void hearsTheGateway() throws Exception {
    var desk = new Desk();
    var sizes = Map.of("devbox", 2, "big", 20, "later", 0);
    desk.runs.pictures.add(
        () ->
            new Picture(
                Optional.of(ShellScene.session()), List.of(), Came.nothing(), List.of(), sizes));
    desk.sessions.ended.add(new EndedRequest(SessionName.parse("gone"), desk.clock.now(), "full"));
    var screen = new ByteArrayOutputStream();
    try (var terminal = new DumbTerminal(new ByteArrayInputStream(new byte[0]), screen)) {
      new DeskRunner(desk)
          .in(Window.WIDE.origin(Path.of("/home/ann")), terminal)
          .follow(List.of("__watch"), LineMarksTest::hear);
    }
    Thread.interrupted(); // The last picture ends it.
  }

  private static void hear(String line) {
    String[] parts = line.split("\t", 2);
    switch (parts[0]) {
      case "verb" -> {
        VerbWords verb = VerbWords.parse(parts[1]).orElseThrow();
        assertEquals(parts[1], verb.line());
        known = known.with(verb);
      }
      case "sessions" -> known = known.withSessions(parts[1]);
      default -> {}
    }
  }

  /** What is marked is in square brackets; the cursor is at the end, or at the bar. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      quoteCharacter = '`',
      value = {
        "commands > ru | [rux] | [ru]  x | run | EXIT | cd x | pw | [runs2]",
        "pasted ones > gpush | gpush ps | $ gpush [pss] x | $ | gpush [ru] x",
        "others are no gpush commands > !ls --nosuch | # nothing | @0 nosuch --x",
        "options > up --no | up [--nox] | up [--no] 2 | up --nodes | up [--nods=2] | up --nodes=2",
        "short options > ps -q | ps -qv | ps [-qz] | ps - | run -m x --y | up -sx",
        "of a script > run [--nosuch] x.py | run x.py --nosuch | exec -- x -z | run --nodes 2 a -z",
        "no value > up --nodes | up [--nodes] --gpus 8 | up [--nodes] -q | up [--nodes]^",
        "before the command > -s big ps | [--nosuch] ps | -q [pss] x | -s new up",
        "sessions > ps -s dev | ps -s [devboy] | ps -s [dev] -q | logs [--session=x] -f^",
        "as words > down devbox | down [devboy] | why 7 | why big | why [bug] | why gone | login hpc | adopt x",
        "new ones > up -s new | run -s new a.py | runs -s [new] x",
        "nodes > @1 ls | [@2] ls | [@2] | @0- | [@0-] ls | @0-1 ls | [@0-2] ls | @al | [@al] ls | @all",
        "nodes of options > exec --on 0,1 ls | exec --on [0,2] ls | top --node [9]",
        "of another session > exec --on 19 -s big ls | exec -s big --on [20] ls | exec --on 7 -s later x",
        "quotes > 'run' x | ['ru''x'] y | ps -s \"devbox\" | ps -s [\"dev box\"] -q",
      })
  void marks(String about, String lines) {
    for (String line : lines.split(" \\| ")) {
      boolean isTyped = !line.endsWith("^");
      String marked = isTyped ? line.strip() : line.substring(0, line.length() - 1);
      String plain = marked.replaceAll("[\\[\\]]", "");
      assertEquals(marked, shown(plain, isTyped), about);
    }
  }

  @Test
  void nothingIsMarkedBeforeAllCommandsAreKnown() {
    KnownWords some = KnownWords.NONE.with(known.verbs().get("ps"));

    assertEquals(List.of(), LineMarks.of("run train.py", true, some));
  }

  private static String shown(String text, boolean isTyped) {
    var shown = new StringBuilder(text);
    for (Word word : LineMarks.of(text, isTyped, known).reversed()) {
      shown.insert(word.to(), "]").insert(word.from(), "[");
    }
    return shown.toString();
  }

  @Test
  void eachLineIsMarkedAlone() {
    assertEquals("[pss]\nps -q\n[up2] x\nru", shown("pss\nps -q\nup2 x\nru", true));
    assertEquals("[ru]\n", shown("ru\n", true));
    assertEquals("up --nodes ", shown("up --nodes ", true));
    assertEquals("up [--nodes]\nps", shown("up --nodes\nps", true));
  }

  @Test
  void withoutAGatewayNothingIsKnown() {
    assertEquals(List.of(), LineMarks.of("nosuch --x", true, KnownWords.NONE));
  }

  @Test
  void marksAreInTheTextAndInOrder() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    var random = new Random(seed);
    List<String> parts = List.of("run", " ", "-s", "--nodes", "=", "'", "@", "9", "\n", "#", "\\");
    for (int i = 0; i < 5000; i++) {
      var text = new StringBuilder();
      for (int left = random.nextInt(12); left > 0; left--) {
        text.append(parts.get(random.nextInt(parts.size())));
      }
      int at = 0;
      for (Word word : LineMarks.of(text.toString(), random.nextBoolean(), known)) {
        assertTrue(at <= word.from() && word.from() < word.to(), "seed " + seed + ": " + text);
        at = word.to();
      }
      assertTrue(at <= text.length(), "seed " + seed + ": " + text);
    }
  }
}
