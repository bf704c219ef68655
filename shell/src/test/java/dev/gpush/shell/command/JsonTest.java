package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Sessions.Finding;
import dev.gpush.shell.command.call.Common;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The names in docs/reference/json.md are a promise: changing one here breaks somebody's script.
 */
final class JsonTest {
  private static final String SHAPES =
      """
      ps > name id state detail needs_you backend gang shape nodes gpus_per_node gpu_model folder owner created age_s hard_end_s idle_end_s activity price cost generation runs python warm synced trace
      nodes > node host address gpu_model slots claimed cpus workspace link activity generation python agent_pid
      why 7 > session run verdict text evidence try groups nodes ahead trace
      top --once > session at nodes runs stands_out
      runs > run session kind state exit words mode ranks slots generation snapshot python started ended duration_s failure network trace
      up --dry-run > backend when detail estimate_s holders would_fit price smaller chosen why
      init > found unusable unasked changes paste written
      config > root root_reason backends settings unsupported
      backends > name kind usable description from explanation
      sync > session nodes generation
      sync --dry-run > session files
      extend --dry-run > session backend hard_end_s idle_end_s new_hard_end_s new_idle_end_s may_be_refused
      run --dry-run train.py > session places header files setup waits starts network
      stop --dry-run 7 > session run state signal kill_after_s ranks nodes
      sync --explain a.bin > path kind sent why at rule
      sync status > session mode synced generation nodes edit pending incoming held staying versions trashes watching history
      pull notes.txt > session node path file
      stop 7 > session run state exit
      exec true > type node stream text
      down > session backend stopped kept
      down --dry-run > session backend running lost
      adopt > name id state detail needs_you backend gang shape nodes gpus_per_node gpu_model folder owner created age_s hard_end_s idle_end_s activity price cost generation runs python warm synced trace
      login > backend logins
      link --print > linked file text
      logs > type run state exit failure
      logs 7 --fetch > session run folder bytes
      forward 8888 > local node port problem
      templates > name summary from
      doctor > status what detail remedy
      version > version build
      """;

  /** Those whose shape another test holds; of all, the page must have it. */
  private static final Set<String> ELSEWHERE =
      Set.of("check", "cp", "extend", "gateway", "jupyter", "run", "up");

  /** Verbs without it, and why. */
  private static final Map<String, String> WITHOUT =
      Map.of(
          "code", "it opens an editor; --print is the command that does",
          "completion", "what it prints is for a shell",
          "help", "what it prints is for people and man",
          "ssh", "its streams are those of a shell there");

  private final Desk desk = new Desk();
  private int events;

  @ParameterizedTest
  @CsvSource(delimiter = '>', textBlock = SHAPES)
  void fieldsAreAsPromised(String command, String fields) throws IOException {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "done", Optional.of(0), "train.py");
    desk.sessions.findings.add(new Finding("warn", "x", "y", Optional.empty()));
    desk.sessions.plans.put(
        "hpc", new Plan.Later("full", Optional.of(Duration.ofMinutes(4)), List.of("bob")));

    desk.runs.output = _ -> {};
    desk.runs.readings.add(List.of());
    String[] words = command.split(" ", 2);
    String rest = words.length == 1 ? "" : " " + words[1];
    Json printed = printed("gpush " + words[0] + " --json" + rest);

    Json first = printed.items().isEmpty() ? printed : printed.items().getFirst();
    List<String> names = List.of(fields.split(" "));
    assertEquals(new TreeSet<>(names), new TreeSet<>(first.entries().keySet()));
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    names.forEach(name -> assertTrue(page.contains("`" + name + "`"), name + " is not documented"));
  }

  /** Why a verb that changes something has no {@code --dry-run}. */
  private static final Map<String, String> DOES_AT_ONCE =
      Map.ofEntries(
          Map.entry("adopt", "it asks, and takes nothing from a gateway that may be using it"),
          Map.entry("check", "--plan only looks; a check is a look by itself"),
          Map.entry("code", "--print shows what it would open"),
          Map.entry("doctor", "it asks about each thing that it would end"),
          Map.entry("exec", "what a command does, only the command knows"),
          Map.entry("forward", "gpush forward shows it, and --stop undoes it"),
          Map.entry("gateway", "its actions are one word each, and undone by another"),
          Map.entry("init", "it shows what it would write, and asks"),
          Map.entry("jupyter", "it is a run that --stop ends"),
          Map.entry("link", "--print shows what it would write"),
          Map.entry("login", "it only opens connections"),
          Map.entry("logs", "--fetch writes into a folder that was named"),
          Map.entry("pull", "a node says what it has only by sending it"),
          Map.entry("ssh", "its streams are those of a shell there"));

  /** As above, for the looks before something happens; that of cp is its program's. */
  @Test
  void eachVerbWithADryRunHasAShape() {
    var with = new TreeSet<String>();
    var verbs = new Verbs();
    for (String verb : verbs.names()) {
      var spec = CommandLines.of(verbs.make(verb).orElseThrow(), new Common()).getCommandSpec();
      if (spec.findOption("--dry-run") != null && !verb.equals("cp")) {
        with.add(verb);
      }
    }

    assertEquals(
        SHAPES
            .lines()
            .filter(line -> line.contains(" --dry-run"))
            .map(line -> line.split(" ")[0])
            .collect(Collectors.toCollection(TreeSet::new)),
        with);
    DOES_AT_ONCE.keySet().forEach(verb -> assertTrue(!with.contains(verb), verb));
    assertTrue(verbs.names().containsAll(DOES_AT_ONCE.keySet()));
  }

  /** A new verb is red here until its shape is promised, or it is said why it has none. */
  @Test
  void eachVerbHasAShapeOrAReason() throws IOException {
    String page = Files.readString(Path.of("../docs/reference/json.md"));
    Set<String> held =
        SHAPES.lines().map(line -> line.split("[ >]")[0]).collect(Collectors.toSet());
    var verbs = new Verbs();
    for (String verb : verbs.names()) {
      boolean hasJson =
          CommandLines.of(verbs.make(verb).orElseThrow(), new Common())
                  .getCommandSpec()
                  .findOption("--json")
              != null;
      assertEquals(!hasJson, WITHOUT.containsKey(verb), verb);
      if (hasJson) {
        assertTrue(held.contains(verb) || ELSEWHERE.contains(verb), "no test holds " + verb);
        assertTrue(
            page.matches("(?s).*`gpush " + verb + "(?: [^`]*)? --json`.*"),
            verb + " is not documented");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"code --json", "completion bash --json", "help --json", "--json ssh"})
  void isRefusedWhereNothingPrintsIt(String line) {
    FakeInvocation client = desk.client("gpush " + line);

    assertNotEquals(0, desk.call(client));
    assertTrue(client.errText().contains("it has no option --json"), client.errText());
  }

  @Test
  void sessionsFromUpAndExtendAreTheSame() {
    Json up = printed("gpush up --nodes 2 --json");
    Json extended = printed("gpush extend --for 2h --json");

    assertEquals(up.entries().keySet(), extended.entries().keySet());
    assertEquals(Optional.of(7200L), extended.number("hard_end_s"));
  }

  @Test
  void whatWasDoneIsInTheDocument() {
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.sessions.kept = List.of("node 0: /w/0/proj/notes.txt");
    desk.sessions.stopped = List.of(7);
    desk.folder = Desk.PROJECT.resolve("src");

    assertEquals(
        Json.object("session", "devbox", "nodes", 2, "generation", 43),
        printed("gpush sync --json"));
    assertEquals(
        Json.object(
            "session",
            "devbox",
            "node",
            1,
            "path",
            "src/a.txt",
            "file",
            "/home/ann/proj/src/a.txt"),
        printed("gpush pull --on 1 a.txt --json"));
    assertEquals(
        Json.object("backend", "local", "logins", List.of()), printed("gpush login --json"));
    assertEquals(
        Json.object(
            "linked", false, "file", "/home/ann/.gpush/ssh_config", "text", "Host devbox\n"),
        printed("gpush link --yes --json"));
    assertEquals(
        Json.object(
            "session",
            "devbox",
            "backend",
            "local",
            "stopped",
            List.of(7),
            "kept",
            List.of("node 0: /w/0/proj/notes.txt")),
        printed("gpush down --json"));
  }

  @Test
  void anExplanationIsThereWhenItIsAskedFor() {
    assertEquals(
        Optional.empty(), printed("gpush backends --json").items().getFirst().get("explanation"));
    assertEquals(
        List.of("it is pretended"),
        printed("gpush backends --explain --json").items().getFirst().texts("explanation"));
    assertEquals(
        List.of(),
        printed("gpush backends --explain --json").items().getLast().texts("explanation"));
  }

  /** Each wait takes long. */
  @ParameterizedTest
  @CsvSource(delimiter = '>', textBlock = SHAPES)
  void progressIsNotOnStandardOutput(String command, String fields) throws IOException {
    waitsLong();

    fieldsAreAsPromised(command, fields);
  }

  @Test
  void upSaysWhatItWaitsFor() {
    waitsLong();
    desk.sessions.waiting = talk -> talk.step("reserving 2×8 H100 on hpc").close();

    assertEquals(Optional.of("devbox"), printed("gpush up --nodes 2 --json").text("name"));
    assertEquals(1, events);
    printed("gpush up --nodes 2 --json -q");
    assertEquals(1, events);
  }

  private void waitsLong() {
    desk.ticker =
        tick -> {
          desk.clock.advance(Duration.ofSeconds(1));
          tick.run();
          return () -> {};
        };
  }

  private Json printed(String line) {
    FakeInvocation client = desk.client(line);
    assertEquals(0, desk.call(client), client.errText());
    client.errText().lines().filter(each -> each.startsWith("{")).forEach(this::checkEvent);
    String out = client.outText();
    // One object a line, or one document.
    return out.startsWith("{\"")
        ? out.lines().map(Json::parse).toList().getFirst()
        : Json.parse(out);
  }

  private void checkEvent(String line) {
    events++;
    assertEquals(
        Set.of("event", "what", "detail", "done", "of", "since_s"),
        Json.parse(line).entries().keySet());
  }
}
