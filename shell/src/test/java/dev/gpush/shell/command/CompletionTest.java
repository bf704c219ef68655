package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.session.SyncView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

final class CompletionTest {
  private final Desk desk = new Desk();

  @BeforeEach
  void twoSessionsAndARun() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.add("big", Path.of("/data/exp"), 4, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py");
  }

  private String complete(String line) {
    FakeInvocation client = desk.client("gpush __complete -- " + line);
    assertEquals(0, desk.call(client));
    return client.outText();
  }

  private List<String> words(String line) {
    return complete(line).lines().map(text -> text.split("\t")[0]).toList();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '>',
      quoteCharacter = '`',
      value = {
        "ru > run runs",
        "up --no > --nodes",
        "up -s '' > devbox big",
        "up --session=d > --session=devbox",
        "up --backend '' > local hpc",
        "up --for '' > 30m 2h 8h 1d",
        "down '' > devbox big",
        "down devbox '' > ``",
        "stop '' > 7",
        "logs -f '' > 7",
        "logs -s big '' > 7",
        "pull --on '' > 0 1",
        "pull -s big --on '' > 0 1 2 3",
        "pull --session=big --on '' > 0 1 2 3",
        "pull -qs big --on '' > 0 1 2 3",
        "-s big pull --on '' > 0 1 2 3",
        "exec -s big --on '' > 0 1 2 3",
        "exec --on 1 ls -s '' > :files",
        "pull --on 1 -s nosuch --on '' > ``",
        "-s '' > devbox big",
        "--ses > --session",
        "-q ru > run runs",
        "pull '' > :files",
        "logs --rank '' > 0 1",
        "logs 7 --rank 0, > 0,0 0,1",
        "run --ranks 1 > 1",
        "cp a b '' > :files devbox: big:",
        "run tr > :files",
        "run --nodes 2 tr > :files",
        "run train.py --no > :files",
        "run -m '' > :files",
        "run --nod > --nodes",
        "run --nodes '' > ``",
        "ssh dev > devbox",
        "completion z > zsh",
        "gateway st > status start stop",
        "sync st > status",
        "sync status '' > ``",
        "sync --keep '' > laptop node",
        "sync --keep node mo > :files",
        "help ver > version",
        "help s > ssh stop sync slurm skypilot",
        "templates '' > local slurm",
        "nosuch '' > ``",
      })
  void completes(String line, String expected) {
    assertEquals(expected.isEmpty() ? List.of() : List.of(expected.split(" ")), words(line));
  }

  @Test
  void pathsOfNodesAreThoseThatWait() {
    desk.sessions.syncState =
        new SyncView(
            SyncView.Mode.LIVE,
            false,
            Optional.of(1L),
            List.of(),
            0,
            List.of(),
            SyncView.Incoming.WAITING,
            List.of(),
            List.of(
                new SyncView.Held("out/big.pt", "larger than 1 MB"),
                new SyncView.Held("cache/", "ignored")),
            "",
            new SyncView.Versions(
                List.of(
                    new HeldPath(
                        "src/model.py",
                        HeldPath.Reason.DELETED_THERE,
                        0,
                        Optional.empty(),
                        Optional.empty(),
                        "")),
                List.of()),
            "");

    assertEquals(
        "src/model.py\tchanged here, and deleted on node 0\n", complete("sync --keep node ''"));
    assertEquals(List.of("out/big.pt", ":files"), words("pull ''"));
    desk.folder = Desk.PROJECT.resolve("src");
    assertEquals(List.of("model.py"), words("sync --keep=laptop m"));
    assertEquals(List.of("../out/big.pt", ":files"), words("pull .."));
  }

  @Test
  void verbsComeWithWhatTheyDo() {
    assertTrue(complete("ve").startsWith("version\tShow which gpush this is\n"));
    assertEquals(new Verbs().names(), words("''"));
    assertEquals(new Verbs().names(), words(""));
  }

  @Test
  void sessionsComeWithTheirShape() {
    assertEquals("big\t4 cpu nodes on local\n", complete("down b"));
  }

  @Test
  void theScriptsOwnFlagsAreReadFromItsText(@TempDir Path folder) throws IOException {
    Files.createDirectory(folder.resolve("tools"));
    Files.writeString(
        folder.resolve("tools/train.py"),
        """
        # parser.add_argument("--old")
        parser.add_argument(
            "-l", "--lr",  # (not yet tuned
            type=float, default=3e-4, choices=["--none"],
            help="the learning "
            'rate (of "AdamW")',
        )
        parser.add_argument("data")
        @click.option('--fast/--no-fast', default=False)
        def main(steps: int = typer.Option(10, "--steps", help=f"how many")):
          subprocess.run(["ls", "--color"])
        flags.DEFINE_string("model_dir", "out", "where results go")
        ''' As in add_argument("--documented"). '''
        parser.add_argument(
        parser.add_argument("--last", help="of all"), parser.add_argument("--open
        """);
    desk.folder = folder;

    assertEquals(
        """
        --lr\tthe learning rate (of "AdamW")
        --fast
        --no-fast
        --steps\thow many
        --model_dir\twhere results go
        --last\tof all
        """,
        complete("run tools/train.py --"));
    assertEquals(List.of("--steps"), words("run --nodes 2 -m tools.train x --st"));
    assertEquals(List.of(":files"), words("run tools/train.py --lr 3 da"));
    assertEquals(List.of(":files"), words("run tools --lr"));
  }

  @Test
  void noScriptMakesTheTabKeyWait(@TempDir Path folder) throws Exception {
    int most = 1 << 20;
    for (String part : List.of("add_argument(", "a", "\\\"", "'", "\"\"\"", "option(x ")) {
      Files.writeString(folder.resolve("large.py"), "(" + part.repeat(most / part.length()));
      desk.folder = folder;
      assertTimeoutPreemptively(Duration.ofMinutes(1), () -> complete("run large.py --"), part);
    }
    Path pipe = folder.resolve("pipe.py");
    assertEquals(0, new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor());
    assertEquals(
        List.of(":files"),
        assertTimeoutPreemptively(Duration.ofMinutes(1), () -> words("run pipe.py --")));
  }

  static List<String> names() {
    return new Verbs().names();
  }

  /** An unknown label would be a bug, 4, on the Tab key. */
  @ParameterizedTest
  @MethodSource("names")
  void everyValueOfEveryOptionCanBeCompleted(String verb) {
    Action action = new Verbs().make(verb).orElseThrow();
    CommandSpec spec = CommandLines.of(action, new Common()).getCommandSpec();
    for (OptionSpec option : spec.options()) {
      if (option.arity().min() > 0) {
        complete(verb + " " + option.longestName() + " ''");
      }
    }
    complete(verb + " ''");
    assertEquals(List.of(), desk.bugs);
  }
}
