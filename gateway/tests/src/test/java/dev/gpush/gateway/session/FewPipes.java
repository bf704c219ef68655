package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.PipeLimit;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.fake.PassingBackend;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A backend that gives one pipe to a gang, and what it was asked for. */
public final class FewPipes extends PassingBackend {
  private final Queue<Integer> spawned = new ConcurrentLinkedQueue<>();

  public FewPipes(Backend beneath) {
    super(beneath);
  }

  /** The node of each pipe. */
  public Queue<Integer> spawned() {
    return spawned;
  }

  /** The nodes that have had a pipe, each once. */
  public List<Integer> nodes() {
    return spawned.stream().distinct().sorted().toList();
  }

  @Override
  public Capabilities capabilities() {
    return super.capabilities()
        .with(
            PipeLimit.class,
            new PipeLimit() {
              @Override
              public int most() {
                return 1;
              }

              @Override
              public void introduce(Gang gang, Json.Obj where) {
                throw new UnsupportedOperationException("all nodes are on one host");
              }
            });
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    spawned.add(node);
    return super.spawn(gang, node, arguments);
  }
}
