package dev.gpush.backends.transport;

import dev.gpush.backends.transport.openssh.OpenSsh;
import dev.gpush.core.talk.Person;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.SshRig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;

@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class OpenSshTest implements TransportContract {
  @Override
  public TransportPlace open(SshRig rig, Duration patience) throws Exception {
    return new Place(rig, patience);
  }

  private static final class Place implements TransportPlace {
    private final SshRig rig;
    private final Path folder = Files.createTempDirectory("gs");
    private final Tasks tasks = Tasks.named("openssh-test", (_, _) -> {});
    private final SshTransport transport;

    Place(SshRig rig, Duration patience) throws IOException {
      this.rig = rig;
      SshSettings settings =
          new SshSettings(
              "ssh",
              Optional.of(rig.config()),
              folder.resolve("s"),
              System.getenv(),
              patience,
              patience,
              patience);
      var client = new OpenSsh(settings, ChildPipe::start, tasks);
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
    public Person person(String code) throws IOException {
      Path askpass = folder.resolve("askpass-" + code);
      Files.writeString(askpass, "#!/bin/sh\necho " + code + "\n");
      askpass.toFile().setExecutable(true);
      return new AtATerminal(askpass);
    }

    @Override
    public void close() throws IOException {
      transport.close();
      try (Stream<Path> sockets = list()) {
        for (Path socket : sockets.toList()) {
          end(socket);
        }
      }
      tasks.close();
      FolderTree.delete(folder);
    }

    private Stream<Path> list() throws IOException {
      Path sockets = folder.resolve("s");
      return Files.isDirectory(sockets) ? Files.list(sockets) : Stream.empty();
    }

    /** What a person has opened stays open: for the next gateway, not for the next test. */
    private static void end(Path socket) throws IOException {
      try {
        new ProcessBuilder("ssh", "-F", "/dev/null", "-S", socket.toString(), "-O", "exit", "x")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start()
            .waitFor();
      } catch (InterruptedException stop) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /** Types the answer, as far as ssh can tell. */
  private record AtATerminal(Path askpass) implements Person {
    @Override
    public void say(String line) {}

    @Override
    public Optional<String> ask(String question, boolean hidden) {
      return Optional.empty();
    }

    @Override
    public int run(List<String> command, Map<String, String> environment)
        throws InterruptedException {
      var builder = new ProcessBuilder(new ArrayList<>(command)).redirectErrorStream(true);
      builder.environment().putAll(environment);
      builder.environment().put("SSH_ASKPASS", askpass.toString());
      builder.environment().put("SSH_ASKPASS_REQUIRE", "force");
      builder.redirectOutput(ProcessBuilder.Redirect.DISCARD);
      try {
        return builder.start().waitFor();
      } catch (IOException notThere) {
        return 127;
      }
    }
  }
}
