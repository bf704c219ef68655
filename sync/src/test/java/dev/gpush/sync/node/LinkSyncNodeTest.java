package dev.gpush.sync.node;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.PipeSource;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.sync.PushOptions;
import dev.gpush.sync.SyncFixture;
import dev.gpush.sync.WorkFolder;
import dev.gpush.sync.tree.Generation;
import dev.gpush.testkit.fake.ChildPipe;
import dev.gpush.testkit.fake.Interpreters;
import dev.gpush.testkit.fixture.AgentHeader;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** One push over a real link to a real agent, with a cut in the middle. */
class LinkSyncNodeTest extends SyncFixture {
  private static final int LARGE = 3_000_000;

  @Test
  void pushesOverALinkThatIsCutOnTheWay() throws Exception {
    Path near = Files.createTempDirectory(Path.of("/tmp"), "gps"); // a socket's path is short
    Files.createDirectory(near.resolve("a"));
    Path workspace = base.resolve("node/project");
    var info = new NodeInfo(0, "here", "", List.of("0"), "", 1, workspace.toString());
    var header = AgentHeader.of("abcd", 1, 0, near, info.workspace(), info.state());
    var pipe = new AtomicReference<Pipe>();
    try (Tasks tasks = Tasks.named("link-sync", (thread, failure) -> failure.printStackTrace())) {
      var image = new AgentImage(tasks, new SecureRandom());
      PipeSource source =
          () -> {
            Pipe made = spawn(image);
            image.begin(made, header.mode(pipe.get() == null ? "start" : "attach"));
            pipe.set(made);
            return made;
          };
      var identity = new LinkIdentity(0, "me@here", HexFormat.of().formatHex(new byte[16]), 1);
      try (var link =
          new Link(
              identity,
              source,
              tasks,
              Clock.system(),
              new Random(1),
              LinkTiming.usual(),
              state -> {})) {
        link.connect();
        var node = new LinkSyncNode(info, link);
        var noise = new byte[LARGE];
        new Random(4).nextBytes(noise);
        laptop.write("a", "1").write("d/large", noise);
        talk.onceAt("syncing", () -> close(pipe.get()));

        Generation first = sync.push(List.of(node), PushOptions.standard(), talk);
        laptop.write("a", "2");
        Generation second = sync.push(List.of(node), PushOptions.standard(), talk);

        assertEquals(first.counter() + 1, second.counter());
        assertEquals(laptop.tree(), new WorkFolder(workspace).tree());
        sync.close();
      } finally {
        Json answer = image.ask(spawn(image), header.control(Json.object("do", "release")));
        assertEquals(List.of(), answer.texts("kept"), answer.write());
      }
    } finally {
      FolderTree.delete(near);
    }
    assertEquals(Map.of(), new WorkFolder(workspace).tree());
  }

  private static void close(Pipe pipe) {
    try {
      pipe.close();
    } catch (IOException gone) {
      throw new IllegalStateException(gone);
    }
  }

  private static Pipe spawn(AgentImage image) throws IOException {
    return ChildPipe.start(image.arguments(Interpreters.one()));
  }
}
