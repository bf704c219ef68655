package dev.gpush.launch;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.config.Config;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.node.EnvironmentChoice;
import dev.gpush.launch.node.LaunchNode;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import dev.gpush.launch.node.NodeEnvironments;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** A node whose link is cut announces nothing; calls of it wait until the link is up again. */
final class EnvironmentOfCutLinkTest {
  private final List<String> called = new CopyOnWriteArrayList<>();

  private final NodeCalls cut =
      new CallsOnly(
          method -> {
            called.add(method);
            return Json.object();
          });

  @Test
  void anEnvironmentIsMadeWhenTheLinkIsUpAgainAndNotLeftOut() throws Exception {
    var info = new NodeInfo(0, "host0", "10.0.0.0", List.of("0"), "H100", 8, "/ws");
    var site =
        new LaunchSite(
            new SessionName("devbox"),
            "0123456789",
            Path.of("/p"),
            false,
            List.of(new LaunchNode(() -> info, cut)),
            Path.of("/history"),
            Optional.empty());
    var config =
        new Config(Path.of("/p"), "gpush.yaml", List.of(), List.of(), List.of(), List.of());
    EnvironmentChoice choice = EnvironmentChoice.of(config, Optional.of("/opt/py"));
    try (var tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace())) {
      var environments = new NodeEnvironments(site, tasks);

      environments.tell(Set.of(0), choice);
      environments.prepare(choice, new FakeTalk());
    }

    assertEquals(List.of("environment.use", "environment.use"), called);
  }
}
