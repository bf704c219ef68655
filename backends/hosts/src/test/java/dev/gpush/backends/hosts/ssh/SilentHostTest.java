package dev.gpush.backends.hosts.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.backends.hosts.HostsBackend;
import dev.gpush.backends.hosts.RackSettings;
import dev.gpush.backends.hosts.local.SystemHost;
import dev.gpush.backends.hosts.rack.Rack;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.Transport;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Hosts that are silent for ever, so that waiting for them fails a test, or cannot be reached. */
@Tag("hosts")
final class SilentHostTest {
  private static final String WITHOUT_AGENTS =
      "\"$@\" | sed 's/\"agents\": \\[.*/\"agents\": []}/'";

  @TempDir private Path folder;
  private final SecureRandom random = new SecureRandom();

  private static final int MANY = 100;

  /** Of the host that is called gated: one for each survey that may begin. */
  private final Semaphore surveys = new Semaphore(MANY);

  /** Whether the host that is called leaving cannot be reached, and the one called coming can. */
  private final AtomicBoolean isAway = new AtomicBoolean();

  /** One for each survey that has to wait. */
  private final Semaphore asked = new Semaphore(0);

  @Test
  void whatIsThereIsTakenWithoutTheHostThatDoesNotAnswer() throws Exception {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      HostsBackend backend = backend(tasks, "here", "silent");
      GangRequest request =
          BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "blue"));

      Plan plan = backend.plan(request);
      Gang gang = backend.reserve(request);

      assertEquals(new Plan.Now("1 of 1 host free"), plan);
      assertEquals(List.of("here"), gang.nodes().stream().map(node -> node.host()).toList());
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
    }
  }

  /**
   * Nothing of it was ever there; a request that fails would stay a leak until that host is back.
   */
  @Test
  void aRequestIsReleasedWithoutTheHostThatItPassedOver() throws Exception {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      for (String other : List.of("silent", "broken")) {
        HostsBackend backend = backend(tasks, "here", other);
        GangRequest request =
            BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "blue"));
        var asked = new Gang(request.gang(), "rack", List.of(), "");
        backend.plan(request);
        backend.reserve(request);

        assertEquals(List.of(), backend.release(asked, BackendContract.LIMIT));

        assertEquals(List.of(), backend.release(asked, BackendContract.LIMIT));
      }
    }
  }

  /** An agent may run there, and holds GPUs until it ends by itself. */
  @Test
  void aRequestIsNotReleasedWithoutAHostThatItHasAsked() throws Exception {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      HostsBackend backend = backend(tasks, "leaving", "coming");
      GangRequest request =
          BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "blue"));
      var asked = new Gang(request.gang(), "rack", List.of(), "");
      backend.reserve(request);

      isAway.set(true);
      GpushException failed =
          assertThrows(GpushException.class, () -> backend.release(asked, BackendContract.LIMIT));
      isAway.set(false);

      assertInstanceOf(BackendFailure.NotReleased.class, failed.failure());
      assertEquals(List.of(), backend.release(asked, BackendContract.LIMIT));
    }
  }

  @Test
  void nothingIsReleasedWhenNoHostAnswers() {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      HostsBackend backend = backend(tasks, "broken");
      var asked = new Gang(new GangId("0123456789abcdef"), "rack", List.of(), "");

      GpushException failed =
          assertThrows(GpushException.class, () -> backend.release(asked, BackendContract.LIMIT));

      assertInstanceOf(BackendFailure.NotReleased.class, failed.failure());
    }
  }

  @Test
  void whatIsThereIsNotListedWhenNoHostAnswers() {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      assertEquals(List.of(), backend(tasks, "here", "broken").discover(BackendPlace.OWNER));
      HostsBackend broken = backend(tasks, "broken");

      Failure failure =
          assertThrows(GpushException.class, () -> broken.discover(BackendPlace.OWNER)).failure();

      assertEquals(
          new BackendFailure.Unavailable("rack", "broken: no route", "gpush doctor"), failure);
    }
  }

  /** It would take another slot for a node that is there. */
  @Test
  void aHostThatAnotherRequestAsksIsNotPassedOver() throws Exception {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      HostsBackend backend = backend(tasks, "gated");
      GangRequest request =
          BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "blue"));
      GangRequest other =
          BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "red"));
      Gang gang = backend.reserve(request);
      surveys.drainPermits();

      Task<Plan, RuntimeException> plan = tasks.fork("plan", () -> backend.plan(other));
      asked.acquire();
      Gang again = tasks.within(BackendContract.LIMIT, "reserve", () -> backend.reserve(request));
      surveys.release(MANY);

      assertEquals(gang, again);
      assertInstanceOf(Plan.Later.class, plan.get());
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
    }
  }

  private HostsBackend backend(Tasks tasks, String... hosts) {
    var host = new SystemHost("here", 2, true, folder, System.getenv());
    List<Json> items = Stream.of(hosts).<Json>map(name -> Json.object("host", name)).toList();
    Json.Obj values =
        Json.object(
            "hosts", items,
            "scratch", folder.resolve("scratch").toString(),
            "locks", folder.resolve("locks").toString());
    var config = new BackendConfig("rack", "ssh", values, "config.yaml:3");
    Rack rack = RackSettings.ssh(config, _ -> new Direct(host, this::await, isAway));
    return new HostsBackend(rack, new AgentImage(tasks, random), random, tasks);
  }

  /** Without ssh: this machine under one name, and under any other one that never answers. */
  private record Direct(SystemHost host, Runnable gate, AtomicBoolean isAway) implements Transport {
    @Override
    public RemoteMachine machine(Destination destination, String login) {
      return new Here(destination.host(), host, gate, isAway);
    }

    @Override
    public void close() {}
  }

  private void await() {
    if (surveys.tryAcquire()) {
      return;
    }
    asked.release();
    surveys.acquireUninterruptibly();
  }

  private record Here(String name, SystemHost host, Runnable gate, AtomicBoolean isAway)
      implements RemoteMachine {
    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      if (name.equals("broken") || name.equals(isAway.get() ? "leaving" : "coming")) {
        throw new IOException("no route");
      }
      if (name.equals("gated") && arguments.toString().contains("nvidia-smi")) {
        gate.run();
      }
      if (name.equals("silent")) {
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException stop) {
          throw new InterruptedIOException();
        }
      }
      if (name.equals("coming")) {
        // Another machine, which has none of the agents of this one.
        var empty = new ArrayList<>(List.of("sh", "-c", WITHOUT_AGENTS, "sh"));
        empty.addAll(arguments);
        return host.spawn(empty, host.environment());
      }
      return host.spawn(arguments, host.environment());
    }

    @Override
    public String explain() {
      return "direct";
    }

    @Override
    public Optional<MachineFailure> closed() {
      return Optional.empty();
    }

    @Override
    public void open(Person person) {}
  }
}
