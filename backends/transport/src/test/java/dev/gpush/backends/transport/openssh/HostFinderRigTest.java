package dev.gpush.backends.transport.openssh;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.rig.SshRig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.ResourceLock;

/** Real servers, one of which would ring a telephone. */
@ResourceLock(SshRig.NAME)
@Tag("hosts")
final class HostFinderRigTest {
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path home;

  @Test
  void machinesAreFoundAndNobodyIsAsked() throws Exception {
    SshRig rig = SshRig.required();
    Files.createDirectories(home.resolve(".ssh"));
    Files.writeString(home.resolve(".ssh/config"), "Include \"" + rig.config() + "\"\n");
    int asked = rig.count("mfa", "asked");
    int jumps = rig.count("bastion", "connections");

    Map<String, PlaceFinding> found = new HashMap<>();
    try (var tasks = Tasks.named("test", (_, _) -> {})) {
      Launch launch =
          (words, environment) -> {
            var command = new ArrayList<>(List.of("ssh", "-F", rig.config().toString()));
            command.addAll(words.subList(1, words.size()));
            return ChildPipe.start(command, environment);
          };
      var finder =
          new HostFinder(home, home.resolve("none"), List.of(), _ -> List.of(), launch, tasks);
      var question = new SetupQuestion(home, home, System.getenv(), List.of());
      for (PlaceCheck check : finder.checks(question)) {
        if (!check.name().equals("bastion")) {
          found.put(check.name(), check.inspection().look(LIMIT));
        }
      }
    }

    assertEquals("8 × H100 80GB HBM3", ((PlaceFinding.GpuHost) found.get("h1")).gpus());
    assertEquals("no GPUs and no Slurm", ((PlaceFinding.Unusable) found.get("noisy")).why());
    assertEquals("asks for keyboard-interactive", ((PlaceFinding.Unasked) found.get("mfa")).why());
    assertEquals("is reached through bastion", ((PlaceFinding.Unasked) found.get("inner")).why());
    assertEquals(asked, rig.count("mfa", "asked"));
    assertEquals(jumps, rig.count("bastion", "connections"));
  }
}
