package dev.gpush.backends.transport;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.transport.builtin.Builtin;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;

@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class BuiltinTest implements TransportContract {
  @Override
  public TransportPlace open(SshRig rig, Duration patience) throws Exception {
    return new Place(rig.config(), Map.of(), patience);
  }

  /** A server that takes fewer sessions than is usual costs more connections, and no failure. */
  @Test
  void aServerOfFewSessionsIsAskedForMoreConnections() throws Exception {
    SshRig rig = SshRig.required();
    Path config = Files.createTempFile("few", ".config");
    Files.writeString(
        config,
        """
        Host few
          HostName %s
          Port %s
          HostKeyAlias h1
          User ann
          IdentityFile %s
          UserKnownHostsFile %s
        """
            .formatted(
                address(rig, "h1"),
                Bare.PORT,
                rig.file("keys", "ann"),
                rig.config().resolveSibling("known_hosts")));
    try (Bare few = new Bare(rig, "MaxSessions 2");
        Place place = new Place(config, Map.of())) {
      List<Work<String, Exception>> questions = new ArrayList<>();
      for (int i = 0; i < 6; i++) {
        questions.add(() -> place.ask(place.machine(few.host()), "hostname").output());
      }
      List<String> answers = place.tasks().all("few", questions);
      assertEquals(List.of("h1\n"), answers.stream().distinct().toList());
    } finally {
      Files.delete(config);
    }
  }

  @Test
  void aPasswordIsAskedWhereNoKeyIsTaken() throws Exception {
    SshRig rig = SshRig.required();
    Path config = Files.createTempFile("few", ".config");
    Files.writeString(
        config,
        """
        Host few
          HostName %s
          Port %s
          HostKeyAlias h1
          User ann
          IdentityFile none
          IdentityAgent none
          UserKnownHostsFile %s
        """
            .formatted(address(rig, "h1"), Bare.PORT, rig.config().resolveSibling("known_hosts")));
    rig.in("h1", "sh", "-c", "usermod -p \"$(openssl passwd -6 secret)\" ann");
    try (Bare few = new Bare(rig, "PasswordAuthentication yes");
        Place place = new Place(config, Map.of())) {
      RemoteMachine machine = place.machine(few.host());

      GpushException alone =
          assertThrows(GpushException.class, () -> machine.spawn(List.of("true")));
      assertInstanceOf(MachineFailure.NeedsYou.class, alone.failure());
      assertThrows(GpushException.class, () -> machine.open(place.person("wrong")));
      machine.open(place.person("secret"));

      assertEquals("h1\n", place.ask(machine, "hostname").output());
    } finally {
      rig.in("h1", "usermod", "-p", "*", "ann");
      Files.delete(config);
    }
  }

  /** A reader that waits longer than the library would must not break the writer, nor others. */
  @Test
  void aCommandThatEndsWithoutReadingStopsNobody() throws Exception {
    SshRig rig = SshRig.required();
    try (Place place = new Place(rig.config(), Map.of())) {
      RemoteMachine machine = place.machine("h1");
      try (Pipe lazy = machine.spawn(List.of("sh", "-c", "echo up; read line; exit 3"))) {
        assertEquals('u', lazy.output().read());
        var written =
            place
                .tasks()
                .fork(
                    "write",
                    () -> {
                      byte[] much = new byte[16 * 1024 * 1024];
                      assertThrows(IOException.class, () -> lazy.input().write(much));
                      return true;
                    });
        assertEquals("h1\n", place.ask(machine, "hostname").output());
        rig.in("h1", "pkill", "-u", "ann", "-f", "read line; exit 3");
        assertTrue(written.get());
        assertEquals("h1\n", place.ask(machine, "hostname").output());
      }
    }
  }

  @Test
  void keysOfTheAgentAreTakenAndThoseOfFilesWhereThereIsNone() throws Exception {
    SshRig rig = SshRig.required();
    Path folder = Files.createTempDirectory("ga");
    Path socket = folder.resolve("agent");
    Process agent =
        new ProcessBuilder("ssh-agent", "-D", "-a", socket.toString())
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    try {
      while (!Files.exists(socket)) {
        assertTrue(agent.isAlive());
      }
      add(socket, rig.file("keys", "ann"));
      Path config = folder.resolve("config");
      Files.writeString(
          config,
          """
          Host h2
            HostName %s
          Host *
            User ann
            IdentityFile none
            UserKnownHostsFile %s
          """
              .formatted(address(rig, "h2"), rig.config().resolveSibling("known_hosts")));
      try (Place with = new Place(config, Map.of("SSH_AUTH_SOCK", socket.toString()));
          Place without = new Place(config, Map.of("SSH_AUTH_SOCK", ""))) {
        assertEquals("h2\n", with.ask(with.machine("h2"), "hostname").output());
        GpushException none =
            assertThrows(GpushException.class, () -> without.machine("h2").spawn(List.of("true")));
        assertInstanceOf(MachineFailure.KeyRefused.class, none.failure());
      }
    } finally {
      agent.destroy();
      agent.waitFor();
      Files.deleteIfExists(folder.resolve("config"));
      Files.deleteIfExists(socket);
      Files.delete(folder);
    }
  }

  /** A network that swallows everything, in the midst of writing, is noticed. */
  @Test
  void aCutWhileMuchIsWrittenEndsTheWriter() throws Exception {
    SshRig rig = SshRig.required();
    try (Place place = new Place(rig.config(), Map.of(), BRIEF)) {
      try (Pipe pipe = place.machine("h3").spawn(List.of("sh", "-c", "echo up; cat >/dev/null"))) {
        assertEquals('u', pipe.output().read());
        var written =
            place
                .tasks()
                .forkOnThread(
                    "write",
                    () -> {
                      byte[] much = new byte[64 * 1024];
                      while (true) {
                        pipe.input().write(much);
                      }
                    });
        rig.with("cut", "h3");
        try {
          assertThrows(IOException.class, written::get);
          assertEquals(255, pipe.await());
        } finally {
          rig.with("heal", "h3");
        }
      }
      assertEquals("h3\n", place.ask(place.machine("h3"), "hostname").output());
    }
  }

  @Test
  void anUnknownHostIsAskedAboutAndThenKnown() throws Exception {
    SshRig rig = SshRig.required();
    Path folder = Files.createTempDirectory("gk");
    Path known = folder.resolve("known");
    Path config = folder.resolve("config");
    Files.writeString(
        config,
        """
        Host h2
          HostName %s
          User ann
          IdentityFile %s
          UserKnownHostsFile %s
        """
            .formatted(address(rig, "h2"), rig.file("keys", "ann"), known));
    try (Place place = new Place(config, Map.of())) {
      assertThrows(GpushException.class, () -> place.machine("h2").open(place.person("no")));
      assertFalse(Files.exists(known));

      place.machine("h2").open(place.person("yes"));

      assertEquals("h2\n", place.ask(place.machine("h2"), "hostname").output());
      assertTrue(Files.readString(known).startsWith(address(rig, "h2") + " ssh-ed25519 "));
    }
    try (Place place = new Place(config, Map.of())) {
      assertEquals("h2\n", place.ask(place.machine("h2"), "hostname").output());
    } finally {
      Files.delete(known);
      Files.delete(config);
      Files.delete(folder);
    }
  }

  @Test
  void aKeyWithAPassphraseIsOpenedByTheUser() throws Exception {
    SshRig rig = SshRig.required();
    Path folder = Files.createTempDirectory("gp");
    Path key = Files.copy(rig.file("keys", "ann"), folder.resolve("key"));
    Path config = folder.resolve("config");
    Files.writeString(
        config,
        """
        Host h2
          HostName %s
          User ann
          IdentityFile %s
          IdentityAgent none
          UserKnownHostsFile %s
        """
            .formatted(address(rig, "h2"), key, rig.config().resolveSibling("known_hosts")));
    try (Place place = new Place(config, Map.of())) {
      var lock = new ProcessBuilder("ssh-keygen", "-q", "-p", "-N", "secret", "-f", key.toString());
      assertEquals(0, lock.redirectOutput(ProcessBuilder.Redirect.DISCARD).start().waitFor());
      RemoteMachine machine = place.machine("h2");

      assertThrows(GpushException.class, () -> machine.spawn(List.of("true")));
      assertThrows(GpushException.class, () -> machine.open(place.person("wrong")));
      machine.open(place.person("secret"));

      assertEquals("h2\n", place.ask(machine, "hostname").output());
    } finally {
      Files.delete(key);
      Files.delete(config);
      Files.delete(folder);
    }
  }

  private static void add(Path socket, Path key) throws IOException, InterruptedException {
    var builder = new ProcessBuilder("ssh-add", "-q", key.toString()).redirectErrorStream(true);
    builder.environment().put("SSH_AUTH_SOCK", socket.toString());
    builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
    assertEquals(0, builder.start().waitFor());
  }

  /** As the rig's configuration says it. */
  private static String address(SshRig rig, String host) throws IOException {
    List<String> lines = Files.readAllLines(rig.config());
    return lines.get(lines.indexOf("Host " + host) + 1).strip().substring("HostName ".length());
  }

  /** Another sshd on h1, with an option of its own. */
  private static final class Bare implements AutoCloseable {
    private static final String PORT = "2201";

    private final SshRig rig;

    Bare(SshRig rig, String option) throws IOException, InterruptedException {
      this.rig = rig;
      rig.in(
          "h1",
          "sh",
          "-c",
          "grep -v '^\\(Port\\|PidFile\\|MaxSessions\\|PasswordAuthentication\\)' /mnt/rig/sshd_config > /tmp/bare.conf;"
              + " printf '%s\\n' 'Port "
              + PORT
              + "' 'PidFile /tmp/bare.pid' '"
              + option
              + "' >> /tmp/bare.conf; /usr/sbin/sshd -f /tmp/bare.conf -E /tmp/bare.log;"
              + " until test -s /tmp/bare.pid; do :; done");
    }

    String host() {
      return "few";
    }

    @Override
    public void close() throws IOException {
      try {
        rig.in("h1", "sh", "-c", "kill $(cat /tmp/bare.pid); rm -f /tmp/bare.*");
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }
  }

  private static final class Place implements TransportPlace {
    private final Path folder = Files.createTempDirectory("gs");
    private final Tasks tasks =
        Tasks.named("builtin-test", (_, failed) -> failed.printStackTrace());
    private final SshTransport transport;

    Place(Path config, Map<String, String> more) throws IOException {
      this(config, more, PATIENT);
    }

    Place(Path config, Map<String, String> more, Duration patience) throws IOException {
      var environment = new HashMap<>(System.getenv());
      environment.putAll(more);
      SshSettings settings =
          new SshSettings(
              "no ssh",
              Optional.of(config),
              folder.resolve("s"),
              environment,
              patience,
              patience,
              patience);
      var client = new Builtin(settings, "a test", tasks);
      transport = new SshTransport(client, settings, new SecureRandom(), tasks);
    }

    @Override
    public RemoteMachine machine(String name) {
      return transport.machine(Destination.parse(name), "rack");
    }

    @Override
    public Tasks tasks() {
      return tasks;
    }

    @Override
    public Person person(String code) {
      return new Knows(code);
    }

    @Override
    public void close() throws IOException {
      transport.close();
      tasks.close();
      FolderTree.delete(folder);
    }
  }

  /** Gives the same answer to everything. */
  private record Knows(String answer) implements Person {
    @Override
    public void say(String line) {}

    @Override
    public Optional<String> ask(String question, boolean hidden) {
      return Optional.of(answer);
    }

    @Override
    public int run(List<String> command, Map<String, String> environment) {
      throw new IllegalStateException("there is no program to run");
    }
  }
}
