package dev.gpush.shell.loop;

import static java.util.stream.Collectors.toMap;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.client.Captured;
import dev.gpush.control.place.Origin;
import dev.gpush.testkit.fake.ManualClock;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;
import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LoopTest {
  @TempDir Path folder;

  private final FakeCommandRunner runner = new FakeCommandRunner();
  private final ByteArrayOutputStream screen = new ByteArrayOutputStream();

  private int type(String keys) throws IOException {
    return type(keys, folder, runner::in);
  }

  private int type(String keys, Path at, Function<Origin, CommandRunner> runners)
      throws IOException {
    var origin =
        new Origin(
            folder.resolve("home"),
            "build",
            at,
            Map.of("HOME", folder.toString()),
            1,
            List.of("gateway"));
    var in = new ByteArrayInputStream(keys.getBytes(StandardCharsets.UTF_8));
    try (Terminal terminal = new DumbTerminal("test", "dumb", in, screen, StandardCharsets.UTF_8)) {
      return Loop.run(origin, terminal, runners, new ManualClock());
    }
  }

  private String shown() {
    return screen.toString(StandardCharsets.UTF_8);
  }

  @Test
  void carriesOutEachLineAndLeavesAtTheEnd() throws IOException {
    runner.statuses.put("[exec, false]", 1);

    int status = type("ps\n\nrun 'my script.py' --name=\"a b\"\nexec false\n");

    assertEquals(
        List.of("[__wake]", "[ps]", "[run, my script.py, --name=a b]", "[exec, false]"),
        runner.done);
    assertEquals(1, status);
  }

  @Test
  void exitAndQuitLeave() throws IOException {
    assertEquals(0, type("exit\nps\n"));
    assertEquals(0, type("quit\nps\n"));

    assertEquals(List.of("[__wake]", "[__wake]"), runner.done);
  }

  @Test
  void withoutAGatewayThereIsNoLoop() throws IOException {
    runner.statuses.put("[__wake]", 3);

    assertEquals(3, type("ps\n"));
    assertEquals(List.of("[__wake]"), runner.done);
  }

  @Test
  void promptIsTheSessionsOrPlain() throws IOException {
    type("exit\n");
    assertTrue(shown().contains("gpush > "), shown());

    runner.answers.put("__prompt", new Captured(0, "devbox 2×8 H100 · 28m left! · ✓G42 > \n", ""));
    type("exit\n");
    assertTrue(shown().contains("devbox 2×8 H100 · 28m left! · ✓G42 > "), shown());
  }

  @Test
  void pastedLinesOfADocumentWork() throws IOException {
    type("$ gpush up --nodes 2\ngpush ps\n$ gpush\n!ls -l | wc\n# a remark\n");

    assertEquals(
        List.of("[__wake]", "[up, --nodes, 2]", "[ps]", "[gpush]", "! ls -l | wc"), runner.done);
  }

  @Test
  void aLineAfterNodesIsForTheirShell() throws IOException {
    type("@0-1 ls *.py | wc -l\n@all hostname\n@1\n");

    assertEquals(
        List.of(
            "[__wake]",
            "[exec, --on, 0-1, sh, -c, ls *.py | wc -l]",
            "[exec, --all, sh, -c, hostname]",
            "[ssh, --on, 1]"),
        runner.done);
  }

  @Test
  void nodesAreCompletedAsThoseOfExec() {
    assertEquals(List.of("exec", "--on", "1"), Line.completed(List.of("@1")));
    assertEquals(List.of("exec", "--all", "ls", "a"), Line.completed(List.of("@all", "ls", "a")));
    assertEquals(List.of("up", ""), Line.completed(List.of("gpush", "up", "")));
  }

  @Test
  void historyShowsTheLinesOfThisProject() throws IOException {
    type("ps\nruns\nhistory\n");

    assertTrue(shown().contains("    1  ps"), shown());
    assertTrue(shown().contains("    2  runs"), shown());
  }

  @Test
  void anOpenQuoteGoesOnInTheNextLine() throws IOException {
    type("exec 'a\nb'\nexec one \\\ntwo\n");

    assertEquals(List.of("[__wake]", "[exec, a\nb]", "[exec, one, two]"), runner.done);
  }

  @Test
  void severalLinesAreSeveralCommands() {
    assertEquals(
        List.of(new Line.Command(List.of("ps")), new Line.Command(List.of("runs", "--json"))),
        Line.all("ps\n\n  gpush runs --json # all\n", folder));
  }

  @Test
  void eachLineOfAPasteIsForItsOwnShell() {
    assertEquals(
        List.of(
            new Line.Command(List.of("ps")),
            new Line.Local("git pull  # main"),
            new Line.Command(List.of("exec", "--on", "0", "sh", "-c", "echo 'a\nb' | wc")),
            new Line.Command(List.of("run", "a.py"))),
        Line.all("# first\nps\n !git pull  # main\n@0 echo 'a\nb' | wc\nrun a.py\n", folder));
  }

  @Test
  void whatAShellReadsAsMoreThanWordsIsNotRun() throws IOException {
    int status = type("run a.py | tee x\ngpush run a.py 2>&1\nrun a.py && down\nexec 'a|b' c\\;\n");

    assertEquals(List.of("[__wake]", "[exec, a|b, c;]"), runner.done);
    assertEquals(0, status);
    assertTrue(
        shown()
            .contains(
                """
                gpush: this line was not run
                  because there is no | at this prompt; one for a program needs quotes
                  try: !gpush run a.py | tee x
                """),
        shown());
    assertTrue(shown().contains("there is no >& at this prompt"), shown());
    assertTrue(shown().contains("try: !gpush run a.py 2>&1\n"), shown());
    assertTrue(shown().contains("there is no && at this prompt"), shown());
    assertTrue(shown().contains("try: each command on a line of its own\n"), shown());
    assertEquals(
        List.of("Refused", "Command"),
        Line.all("run a.py > log\ndown\n", folder).stream()
            .map(line -> line.getClass().getSimpleName())
            .toList());
  }

  @Test
  void aTildeIsTheHomeFolder() {
    assertEquals(
        List.of(new Line.Command(List.of("run", "/home/ann/a b.py", "/home/ann", "~x", "a~/b"))),
        Line.all("run ~/'a b.py' ~ ~x a~/b", Path.of("/home/ann")));
  }

  @Test
  void historyIsKeptPerProject() throws IOException {
    Path project = Files.createDirectories(folder.resolve("proj/src/deep"));
    Files.createDirectory(folder.resolve("proj/.git"));
    var history = new History(folder.resolve("home"));
    Path file = history.file(project).orElseThrow();

    type("ps\n secret\nruns\n", project, runner::in);

    assertEquals(List.of("ps", "runs"), Files.readAllLines(file));
    assertTrue(file.getFileName().toString().matches("proj-[0-9a-f]{8}"));
    assertEquals(Optional.of(file), history.file(folder.resolve("proj")));
    Files.writeString(folder.resolve("proj/src/gpush.yaml"), "");
    assertEquals(folder.resolve("proj/src"), History.project(project));
  }

  @Test
  void cdIsAsIfTheShellHadBeenStartedThere() throws IOException {
    Path deep = Files.createDirectories(folder.resolve("proj/src deep"));
    Files.writeString(folder.resolve("proj/gpush.yaml"), "");
    Files.createSymbolicLink(folder.resolve("link"), deep);
    var runners = new TreeMap<String, FakeCommandRunner>();

    type(
        "cd -\ncd link\nps\npwd\ncd ..\nruns\ncd\nup\ncd -\nhistory\n",
        folder,
        at -> runners.computeIfAbsent(name(at), _ -> new FakeCommandRunner()).in(at));

    assertEquals(
        Map.of(
            "", List.of("[__wake]"),
            "proj/src deep from ", List.of("[ps]"),
            "proj from proj/src deep", List.of("[runs]"),
            " from proj", List.of("[up]"),
            "proj from ", List.of()),
        runners.entrySet().stream()
            .collect(toMap(Map.Entry::getKey, each -> each.getValue().done)));
    assertTrue(shown().contains("there is no folder before this one"), shown());
    assertTrue(shown().contains("> " + deep.toRealPath() + "\n"), shown());
    assertTrue(shown().contains("> " + folder.toRealPath().resolve("proj") + "\n"), shown());
    assertTrue(shown().contains("    4  runs\n"), shown());
  }

  /** The folder, and the one before, as programs see it. */
  private String name(Origin at) {
    String before = at.environment().getOrDefault("OLDPWD", "");
    return folder.relativize(at.folder())
        + (before.isEmpty() ? "" : " from " + folder.relativize(Path.of(before)));
  }

  @Test
  void aFolderThatCannotBeUsedIsSaidAndTheShellStays() throws IOException {
    Files.writeString(folder.resolve("train.py"), "");

    assertEquals(1, type("cd train.py\ncd no/such\ncd a b\n"));

    String shown = shown();
    assertTrue(
        shown.contains("gpush: cannot change to train.py\n  because it is not a folder\n"), shown);
    assertTrue(
        shown.contains("gpush: cannot change to no/such\n  because it does not exist\n"), shown);
    assertTrue(shown.contains("because cd takes one folder; quote a name that has spaces"), shown);
    assertEquals(List.of(folder, folder), runner.folders);
  }

  @Test
  void filesAreFoundFromWhereOneStands() throws IOException {
    Files.createDirectories(folder.resolve("data/sets"));
    Files.writeString(folder.resolve("train.py"), "");
    Files.writeString(folder.resolve(".hidden"), "");
    Files.writeString(folder.resolve("data/a b.txt"), "");
    var files = new LocalFiles(folder, folder, "");

    assertEquals(List.of("data/", "train.py"), files.startingWith(""));
    assertEquals(List.of("train.py"), files.startingWith("tr"));
    assertEquals(List.of(".hidden"), files.startingWith(".h"));
    assertEquals(List.of("data/a b.txt", "data/sets/"), files.startingWith("data/"));
    assertEquals(List.of("~/train.py"), files.startingWith("~/tr"));
    for (int i = 0; i < 600; i++) {
      Files.writeString(folder.resolve("data/many" + i), "");
    }
    assertEquals(List.of("data/sets/"), files.foldersStartingWith("data/"));
    assertEquals(List.of(), files.startingWith("none/x"));
    assertEquals(List.of(), files.startingWith("\0/"));
  }
}
