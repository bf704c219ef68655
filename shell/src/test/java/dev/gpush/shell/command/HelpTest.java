package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.text.ShellWords;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

final class HelpTest {
  private final Verbs verbs = new Verbs();
  private final Desk desk = new Desk();

  static List<String> names() {
    return new Verbs().names();
  }

  @Test
  void firstScreenNamesExactlyTheCommandsThatExist() {
    var shown = new TreeSet<String>(List.of("help"));
    for (HelpScreen.Group group : HelpScreen.GROUPS) {
      for (String verb : group.verbs()) {
        assertTrue(shown.add(verb), verb + " is shown twice");
      }
    }

    assertEquals(new TreeSet<>(verbs.names()), shown);
  }

  @Test
  void firstScreenIsInTheOrderOfTheContract() {
    String contract =
        """
        up down ps extend share adopt login run stop runs logs exec ssh code jupyter forward sync cp pull
        why top check nodes init config backends templates link doctor gateway completion version\
        """;
    var order = new ArrayList<>(List.of(contract.split("\\s+")));
    List<String> shown =
        HelpScreen.GROUPS.stream().flatMap(group -> group.verbs().stream()).toList();
    order.retainAll(shown);

    assertEquals(order, shown);
  }

  @Test
  void firstScreenToTheLetter() {
    desk.expect(
        """
        $ gpush help
        gpush: GPU nodes anywhere, as if they were your own machine

          gpush up --nodes 2 --gpus H100:8   get a gang (GPUs per node); again: attach
          gpush run train.py --lr 3e-4       sync, launch all ranks, stream, exit status
          ssh devbox, or gpush code          the same machine, in a terminal or editor

        Session  up down ps extend adopt login     get, give back, list, lease, 2FA
        Work     run stop runs logs exec           words after SCRIPT go to SCRIPT
        Reach    ssh code jupyter forward          code --cursor | --zed | --jetbrains
        Files    sync cp pull                      code is sent by itself; cp moves data
        Explain  why top check nodes               waiting, slow, hung, idle, failed
        Set up   init config backends templates link doctor gateway completion version

        Session  -s NAME > $GPUSH_SESSION > the one of this folder > ask
        Gang     flags > gpush.local.yaml > gpush.yaml > last used here > config > site
        Python   --python > gpush.yaml > .venv or uv.lock > image > active conda
        Folder   your folder in the workspace; results go to $GPUSH_OUTPUT
        Options  -s NAME --json -q -v --yes --dry-run (where, when; no effect)

        gpush alone opens the shell. gpush help COMMAND | slurm | kubernetes | skypilot
        Exit 0 done, 1 failed, 2 usage, 3 environment, 4 bug; run, exec: theirs, or 255
        """);
    assertTrue(HelpScreen.text().lines().allMatch(line -> Width.of(line) <= 80));
  }

  @Test
  void helpOfACommandToTheLetter() {
    String text =
        """
        Move the end of a session's lease

          gpush extend [OPTIONS]

        Restarts the idle time. With --for, the session also ends that long from now,
        where the backend can do that.

          --for TIME  from now: 30m, 2h, 1d12h
          --dry-run   show the ends before and after; move nothing

          -s, --session NAME  the session (else $GPUSH_SESSION, then this folder's)
          -q, --quiet         no progress, no messages
          -v, --verbose       show phases of a start; code and cause of a failure
          --json              print JSON, for programs
          -y, --yes           answer yes to questions
          -h, --help          show this text

          $ gpush extend --for 2h
          devbox: 2h, 1h idle left
        """;
    desk.expect("$ gpush help extend\n" + text);
    desk.expect("$ gpush extend --help\n" + text);
    desk.expect("$ gpush --help extend\n" + text);
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyCommandHasALineAndAnExample(String verb) {
    CommandHelp help = new CommandHelp(verb, verbs.make(verb).orElseThrow());

    String line = help.summary();
    assertTrue(line.length() <= 60, line);
    assertTrue(line.matches("[A-Z][a-z]+ .*[^.]"), line);
    assertFalse(line.split(" ")[0].endsWith("s"), "imperative: " + line);
    List<String> example = help.example();
    assertTrue(
        example.getFirst().matches("\\$ (eval \"\\$\\()?gpush (\\S+ )*" + verb + "\\b.*"),
        "example of " + verb);
    assertTrue(help.text().lines().allMatch(row -> Width.of(row) <= 80), help.text());
  }

  @ParameterizedTest
  @MethodSource("names")
  void everyExampleCanBeParsed(String verb) {
    CommandHelp help = new CommandHelp(verb, verbs.make(verb).orElseThrow());
    String typed =
        help.example()
            .getFirst()
            .replaceFirst("^\\$ (eval \"\\$\\()?", "")
            .replaceFirst("\\)\"$", "");
    List<String> words =
        ShellWords.scan(typed.replaceFirst(" > .*", "")).lines().getFirst().words();

    CommandLines.parse(
        verb, verbs.make(verb).orElseThrow(), new Common(), words.subList(2, words.size()));
  }

  @Test
  void helpWinsOverWhatIsMissing() {
    FakeInvocation client = desk.client("gpush pull --help");

    assertEquals(0, desk.call(client));
    assertTrue(client.outText().startsWith("Fetch a file"));
    assertEquals(0, desk.call(desk.client("gpush run --help")));
    assertTrue(desk.runs.launched.isEmpty());
  }

  @Test
  void helpOfTheScriptIsTheScripts() {
    desk.sessions.add("devbox", Desk.PROJECT, 1, dev.gpush.core.gang.GpuRequest.none());

    assertEquals(0, desk.call(desk.client("gpush run train.py --help")));
    assertEquals(List.of("train.py", "--help"), desk.runs.launched.getFirst().command().words());
  }
}
