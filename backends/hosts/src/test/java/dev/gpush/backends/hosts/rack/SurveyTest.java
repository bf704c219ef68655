package dev.gpush.backends.hosts.rack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.rack.Host.Known;
import dev.gpush.backends.hosts.rack.Survey.Slot;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class SurveyTest {
  /** One that nobody asks. */
  private record SilentHost(String name, Optional<Known> known) implements Host {
    @Override
    public Machine machine() {
      throw new IllegalStateException("nobody asks");
    }
  }

  private static final Host RACK = new SilentHost("a", Optional.empty());

  private static final Host HERE =
      new SilentHost(
          "here", Optional.of(new Known("127.0.0.1", 16, "/home/ann/.gpush/nodes", Map.of())));

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "NVIDIA H100 80GB HBM3 | H100",
        "NVIDIA A100-SXM4-80GB | A100",
        "Tesla T4 | T4",
        "NVIDIA GeForce RTX 4090 | RTX-4090",
        "NVIDIA RTX A6000 | RTX-A6000",
        "NVIDIA L40S | L40S",
        "NVIDIA GH200 480GB | GH200",
        "Quadro P5000 | P5000",
        "AMD | AMD",
      })
  void modelsAreCalledAsPeopleSay(String name, String model) {
    assertEquals(
        List.of(new Slot("3", "gpu-GPU-8a56", model, "", "")), slots("3", "GPU-8a56", name));
  }

  private static List<Slot> slots(String index, String uuid, String name) {
    Json gpu = Json.object("index", index, "uuid", uuid, "name", name);
    return Survey.of(RACK, Json.object("gpus", List.of(gpu), "cpu_nodes", 0)).slots();
  }

  @Test
  void noiseGivesOnlyNamesThatAreSafeInAPath() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.out.println("SurveyTest: seed " + seed);
    var random = new Random(seed);
    for (int round = 0; round < 2000; round++) {
      for (Slot slot : slots(noise(random, 3), noise(random, 6), noise(random, 20))) {
        assertTrue(slot.index().matches("[0-9]{1,3}"), () -> "seed " + seed);
        assertTrue(slot.lock().matches("gpu-[A-Za-z0-9_-][A-Za-z0-9._-]*"), () -> "seed " + seed);
        assertTrue(slot.model().matches("[A-Z0-9_.-]*"), () -> "seed " + seed);
      }
    }
    assertEquals(List.of(), slots("0", "..", "Tesla T4"));
    assertEquals(List.of(), slots("0", "../../etc/passwd", "Tesla T4"));
    assertEquals(List.of(), slots("x", "GPU-a", "Tesla T4"));
  }

  private static String noise(Random random, int most) {
    String letters = "0123GPU-/.\n\tcard é\0T4,";
    var noise = new StringBuilder();
    for (int i = random.nextInt(most + 1); i > 0; i--) {
      noise.append(letters.charAt(random.nextInt(letters.length())));
    }
    return noise.toString();
  }

  @Test
  void aSurveyIsReadWhateverOthersWroteIntoTheirLocks() {
    Json said =
        Json.parse(
            """
            {"host": "a", "address": "10.0.0.7", "cpus": 4, "base": "/home/ann/gpush", "problem": "", "cpu_nodes": 1,
             "gpus": [{"index": "0", "uuid": "GPU-0", "name": "NVIDIA H100 80GB HBM3"},
                      {"index": "1", "uuid": "GPU-1", "name": "NVIDIA RTX A6000"},
                      {"index": "2", "uuid": "GPU-2", "name": "Tesla T4"},
                      {"index": "x", "uuid": "../..", "name": "no GPU"}],
             "apps": [{"uuid": "GPU-1", "pid": 4711, "name": "/usr/bin/python3", "user": "bob"},
                      {"uuid": "GPU-0", "pid": 4712, "name": "python3", "user": "ann"}],
             "held": {"gpu-GPU-0": {"label": {"name": "devbox\\u001b[2J", "owner": "ann", "gang": "00"}, "age": 7260},
                      "cpu-0": {"label": {}, "age": null}}}
            """);

    Survey survey = Survey.of(RACK, said);

    assertEquals(
        List.of(
            new Slot("0", "gpu-GPU-0", "H100", "00", "devbox of ann for 2h1m"),
            new Slot(
                "1", "gpu-GPU-1", "RTX-A6000", "", "python3 (process 4711 of bob), without gpush"),
            new Slot("2", "gpu-GPU-2", "T4", "", ""),
            new Slot("", "cpu-0", "", "", "somebody")),
        survey.slots());
    assertEquals("1 × H100, 1 × RTX-A6000, 1 × T4", Survey.counted(survey.slots()));
    assertEquals("10.0.0.7", survey.address());
  }

  @Test
  void numbersThatNoHostHasAreCut() {
    Json said = Json.object("cpus", (1L << 32) + 4, "cpu_nodes", 1_000_000);

    Survey survey = Survey.of(RACK, said);

    assertEquals(1, survey.cpus());
    assertEquals(256, survey.slots().size());
  }

  @Test
  void onThisMachineOnlyOtherUsersProcessesCount() {
    Json said =
        Json.parse(
            """
            {"host": "elsewhere", "address": "10.0.0.7", "cpus": 4, "base": "/home/ann/gpush", "problem": "", "cpu_nodes": 0,
             "gpus": [{"index": "0", "uuid": "GPU-0", "name": "Tesla T4"}, {"index": "1", "uuid": "GPU-1", "name": "Tesla T4"},
                      {"index": "2", "uuid": "GPU-2", "name": "Tesla T4"}],
             "apps": [{"uuid": "GPU-0", "pid": 1, "name": "python3", "user": "ann", "own": true},
                      {"uuid": "GPU-1", "pid": 2, "name": "python3", "user": "ann", "own": true},
                      {"uuid": "GPU-1", "pid": 3, "name": "python3", "user": "bob", "own": false},
                      {"uuid": "GPU-2", "pid": 4, "name": "python3", "user": "", "own": false}],
             "held": {}}
            """);

    List<String> here = Survey.of(HERE, said).slots().stream().map(Slot::user).toList();
    List<String> rack = Survey.of(RACK, said).slots().stream().map(Slot::user).toList();

    assertEquals(List.of("", "python3 (process 3 of bob), without gpush", ""), here);
    assertEquals(
        List.of(
            "python3 (process 1 of ann), without gpush",
            "python3 (process 2 of ann), without gpush",
            "python3 (process 4), without gpush"),
        rack);
  }

  @Test
  void whatGpushKnowsOfItsOwnMachineIsNotAsked() {
    Survey known = Survey.of(HERE, HERE.known().orElseThrow());
    Survey said = Survey.of(HERE, Json.object("host", "elsewhere", "base", "/x", "cpu_nodes", 0));

    assertEquals("127.0.0.1", known.address());
    assertEquals(16, known.cpus());
    assertEquals("/home/ann/.gpush/nodes", known.base());
    assertEquals(known, said);
  }
}
