package dev.gpush.backends.hosts.rack;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.hosts.rack.HostChoice.Seat;
import dev.gpush.backends.hosts.rack.Survey.Slot;
import dev.gpush.backends.hosts.rack.Surveys.Result;
import dev.gpush.backends.hosts.rack.Surveys.Silent;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.machine.Machine;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

final class HostChoiceTest {
  /** One that nobody asks. */
  private record SilentHost(String name) implements Host {
    @Override
    public Machine machine() {
      throw new IllegalStateException("nobody asks");
    }
  }

  private static Host host(String name) {
    return new SilentHost(name);
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
    var shape = new Rack.Shape.HostPerNode(1);
    return new HostChoice("rack", shape, nodes, GpuRequest.parse(gpus));
  }

  private static HostChoice here(int nodes, String gpus) {
    var shape = new Rack.Shape.OneMachine(256);
    return new HostChoice("local", shape, nodes, GpuRequest.parse(gpus));
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
  void nodesOfThisMachineShareItAndNeverASlot() {
    List<Survey> surveys = List.of(survey("here", 8, 2));

    List<Seat> seats = here(3, "2").seats(surveys, 3, Set.of("here")).orElseThrow();

    assertEquals(
        List.of(List.of("2", "3"), List.of("4", "5"), List.of("6", "7")),
        seats.stream().map(seat -> seat.slots().stream().map(Slot::index).toList()).toList());
    assertTrue(here(4, "2").seats(surveys, 4, Set.of()).isEmpty());
    assertEquals(2, here(3, "2").seats(surveys, 2, Set.of("here")).orElseThrow().size());
  }

  @Test
  void nodesOfThisMachineWithoutGpusHoldNothing() {
    List<Seat> seats =
        here(20, "0").seats(List.of(survey("here", 1, 1)), 20, Set.of()).orElseThrow();

    assertEquals(20, seats.size());
    assertTrue(seats.stream().allMatch(seat -> seat.slots().isEmpty()));
  }

  @Test
  void aPlanForThisMachineCountsGpusAndNamesNoHost() {
    var result = new Result(List.of(survey("here", 8, 3)), List.of());

    assertEquals(new Plan.Now("4 of 8 GPUs"), here(2, "2").plan(result));
    assertEquals(
        new Plan.Later(
            "5 of 8 GPUs free", Optional.empty(), List.of("night of ann for 2h (3 GPUs)")),
        here(2, "3").plan(result));
    assertEquals(
        new Plan.Never(
            "this machine has 8 H100 GPUs, 9 are asked for",
            List.of("--nodes 2 --gpus H100:3", "--nodes 3 --gpus 0")),
        here(3, "H100:3").plan(result));
    assertEquals(
        new Plan.Never("this machine has no A100 GPU", List.of("--nodes 1 --gpus 0")),
        here(1, "A100:1").plan(result));
    assertEquals(
        new Plan.Never(
            "this machine has 8 GPUs, 9 are asked for",
            List.of("--nodes 1 --gpus 8", "--nodes 1 --gpus 0")),
        here(1, "9").plan(result));
    assertEquals(new Plan.Now("9 CPU nodes"), here(9, "0").plan(result));
  }

  @Test
  void oneGpuIsOne() {
    assertEquals(
        new Plan.Now("1 of 1 GPU"),
        here(1, "1").plan(new Result(List.of(survey("here", 1, 0)), List.of())));
    assertEquals(
        new Plan.Later("0 of 1 GPU free", Optional.empty(), List.of("night of ann for 2h (1 GPU)")),
        here(1, "1").plan(new Result(List.of(survey("here", 1, 1)), List.of())));
  }
}
