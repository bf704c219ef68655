package dev.gpush.backends.ssh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.backends.local.SystemHost;
import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.RemoteMachine;
import dev.gpush.backends.transport.Transport;
import dev.gpush.backends.transport.Ways;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import dev.gpush.testkit.contract.BackendPlace;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One of two hosts is silent for ever: whoever waits for it makes these tests fail. */
final class SilentHostTest {
  @TempDir private Path folder;
  private final SecureRandom random = new SecureRandom();

  @Test
  void whatIsThereIsTakenWithoutTheHostThatDoesNotAnswer() throws Exception {
    try (Tasks tasks = Tasks.named("silent-host", (_, _) -> {})) {
      SshBackend backend = backend(tasks);
      GangRequest request =
          BackendPlace.fresh(random, 1, "0", BackendContract.LONG, Map.of("COLOUR", "blue"));

      Plan plan = backend.plan(request);
      Gang gang = backend.reserve(request);

      assertEquals(new Plan.Now("1 of 1 host free"), plan);
      assertEquals(List.of("here"), gang.nodes().stream().map(node -> node.host()).toList());
      assertEquals(List.of(), backend.release(gang, BackendContract.LIMIT));
    }
  }

  private SshBackend backend(Tasks tasks) {
    var host = new SystemHost("here", 2, true, folder, System.getenv());
    var items = List.<Json>of(Json.object("host", "here"), Json.object("host", "silent"));
    Json.Obj values =
        Json.object(
            "hosts", items,
            "scratch", folder.resolve("scratch").toString(),
            "locks", folder.resolve("locks").toString());
    return SshBackend.of(
        new BackendConfig("rack", "ssh", values, "config.yaml:3"),
        Ways.only(new Direct(host)),
        new AgentImage(tasks, random),
        random,
        tasks);
  }

  /** Without ssh: this machine under one name, and under any other one that never answers. */
  private record Direct(SystemHost host) implements Transport {
    @Override
    public String kind() {
      return "direct";
    }

    @Override
    public RemoteMachine machine(Destination destination, String login) {
      return new Here(destination.host(), host);
    }

    @Override
    public void close() {}
  }

  private record Here(String name, SystemHost host) implements RemoteMachine {
    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      if (name.equals("silent")) {
        try {
          new CountDownLatch(1).await();
        } catch (InterruptedException stop) {
          throw new InterruptedIOException();
        }
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
