package dev.gpush.backends.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.ssh.HostChoice.Seat;
import dev.gpush.backends.ssh.Survey.Slot;
import dev.gpush.backends.ssh.Surveys.Result;
import dev.gpush.backends.ssh.Surveys.Silent;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class HostChoiceTest {
  /** A machine that nobody asks. */
  private record NoMachine(String name) implements RemoteMachine {
    @Override
    public String explain() {
      return "";
    }

    @Override
    public Optional<MachineFailure> closed() {
      return Optional.empty();
    }

    @Override
    public void open(Person person) {}

    @Override
    public Pipe spawn(List<String> arguments) {
      throw new IllegalStateException("nobody asks");
    }
  }

  private static Host host(String name) {
    return new Host(name, new NoMachine(name), Optional.empty(), Optional.empty());
  }

  private static Survey survey(String name, int gpus, int held) {
    var slots = new ArrayList<Slot>();
    for (int gpu = 0; gpu < gpus; gpu++) {
      String user = gpu < held ? "night of ann for 2h" : "";
      slots.add(new Slot("" + gpu, "gpu-" + name + gpu, "H100", "", user));
    }
    slots.add(new Slot("", "cpu-0", "", "", ""));
    return new Survey(host(name), name, "10.0.0.1", 8, "/home/ann/gpush", slots, "");
  }

  private static HostChoice choice(int nodes, String gpus) {
    return new HostChoice("rack", nodes, GpuRequest.parse(gpus));
  }

  @Test
  void partlyUsedHostsComeFirstAndOrderIsTheInventorys() {
    List<Survey> surveys = List.of(survey("a", 8, 0), survey("b", 8, 6), survey("c", 8, 5));

    List<Seat> seats = choice(2, "2").seats(surveys, 2, Set.of()).orElseThrow();

    assertEquals(
        List.of("b", "c"), seats.stream().map(seat -> seat.survey().host().name()).toList());
    assertEquals(List.of("6", "7"), seats.getFirst().slots().stream().map(Slot::index).toList());
  }

  @Test
  void aHostIsNeverTwoNodes() {
    List<Survey> surveys = List.of(survey("a", 8, 0), survey("b", 8, 0));

    assertTrue(choice(3, "1").seats(surveys, 3, Set.of()).isEmpty());
    assertEquals(
        "b",
        choice(2, "1")
            .seats(surveys, 1, Set.of("a"))
            .orElseThrow()
            .getFirst()
            .survey()
            .host()
            .name());
  }

  @Test
  void whatIsInUseIsLaterAndNamesWhoHasIt() {
    var result = new Result(List.of(survey("a", 8, 3), survey("b", 8, 0)), List.of());

    Plan.Later later = assertInstanceOf(Plan.Later.class, choice(2, "H100:8").plan(result));

    assertEquals("1 of 2 hosts free", later.reason());
    assertEquals(List.of("night of ann for 2h on a (3 GPUs)"), later.holders());
    assertEquals(new Plan.Now("2 of 2 hosts free"), choice(2, "5").plan(result));
  }

  @Test
  void whatNobodyHasIsNeverAndSaysWhatWouldFit() {
    var result =
        new Result(List.of(survey("a", 8, 0), survey("b", 4, 0), survey("c", 0, 0)), List.of());

    Plan.Never never = assertInstanceOf(Plan.Never.class, choice(2, "8").plan(result));

    assertEquals("rack has 1 host with 8 GPUs each, 2 are asked for", never.reason());
    assertEquals(
        List.of("--nodes 1 --gpus 8", "--nodes 2 --gpus 4", "--nodes 2 --gpus 0"), never.works());
    assertInstanceOf(Plan.Never.class, choice(1, "A100:1").plan(result));
    assertInstanceOf(Plan.Now.class, choice(3, "0").plan(result));
  }

  @Test
  void aHostThatDoesNotAnswerMayHaveWhatIsWanted() {
    var reason = new GpushException(new MachineFailure.Unreachable("b", ""));
    var result = new Result(List.of(survey("a", 8, 0)), List.of(new Silent(host("b"), reason)));

    Plan.Later later = assertInstanceOf(Plan.Later.class, choice(2, "8").plan(result));

    assertEquals("1 of 1 host free; no word of b", later.reason());
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

    Survey survey = Survey.of(host("a"), said);

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
}
