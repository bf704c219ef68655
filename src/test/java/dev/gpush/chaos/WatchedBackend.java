package dev.gpush.chaos;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentLinks;
import dev.gpush.core.backend.Capabilities.AgentPipes;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.machine.Pipe;
import dev.gpush.testkit.fake.PassingBackend;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** The real one; remembers what was asked for, and straight pipes break with their gateway. */
final class WatchedBackend extends PassingBackend {
  private final Life life;
  private final Scene scene;

  WatchedBackend(Backend real, Life life, Scene scene) {
    super(real);
    this.life = life;
    this.scene = scene;
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    scene.asked(request);
    life.moment();
    Gang gang = super.reserve(request, waiter);
    life.moment();
    return gang;
  }

  private Gang resume(RequestQueue queue, GangRequest request, Waiter waiter)
      throws InterruptedException {
    life.moment();
    Gang gang = queue.resume(request, waiter);
    life.moment();
    return gang;
  }

  @Override
  public Capabilities capabilities() {
    Capabilities all = super.capabilities();
    Capabilities watched = all;
    if (all.queue().isPresent()) {
      RequestQueue queue = all.queue().get();
      watched =
          watched.with(RequestQueue.class, (request, waiter) -> resume(queue, request, waiter));
    }
    if (all.agentLinks().isPresent()) {
      AgentLinks links = all.agentLinks().get();
      watched =
          watched.with(
              AgentLinks.class, agents -> new WatchedBackend(links.withLinks(agents), life, scene));
    }
    if (all.agentPipes().isPresent()) {
      AgentPipes pipes = all.agentPipes().get();
      watched =
          watched.with(
              AgentPipes.class,
              (gang, node) -> pipes.openAgentPipe(gang, node).flatMap(this::kept));
    }
    return watched;
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    life.moment();
    List<String> kept = super.release(gang, limit);
    life.moment();
    return kept;
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return life.kept(super.spawn(gang, node, arguments));
  }

  /** The dead have none, and no relay either. */
  private Optional<Pipe> kept(Pipe pipe) {
    try {
      return Optional.of(life.kept(pipe));
    } catch (IOException dead) {
      return Optional.empty();
    }
  }
}
