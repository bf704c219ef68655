package dev.gpush.app;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.AgentLinks;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Capabilities.QueueOrder;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A backend whose block of the configuration was changed after a gang was requested. The gang is
 * where the block led before, or behind another name of that place, where the block leads now: a
 * gang that is found proves its place. Only the place where it was requested can prove that it is
 * gone.
 */
final class MovedBackend implements Backend {
  private final Backend before;
  private final Backend now;

  /** Where the gang was found; one gang has one such backend, with or without links. */
  private final AtomicReference<Optional<Side>> found;

  private enum Side {
    BEFORE,
    NOW
  }

  private MovedBackend(Backend before, Backend now, AtomicReference<Optional<Side>> found) {
    this.before = before;
    this.now = now;
    this.found = found;
  }

  MovedBackend(Backend before, Backend now) {
    this(before, now, new AtomicReference<>(Optional.empty()));
  }

  /**
   * Where a block leads, as it is kept with each request.
   *
   * @param maker of the backend of a block
   */
  record KeptPlace(BackendConfig block, Function<BackendConfig, Backend> maker) implements Places {
    /** The keys that say where hosts are, or Slurm's login node; and as which user. */
    private static final List<String> WHERE =
        List.of("login", "cluster", "hosts", "user", "ssh-config");

    private static final String KIND = "kind";

    @Override
    public String now() {
      var fields = new LinkedHashMap<String, Json>(Map.of(KIND, new Json.Text(block.kind())));
      for (String key : WHERE) {
        block.values().get(key).ifPresent(value -> fields.put(key, value));
      }
      return new Json.Obj(fields).write();
    }

    @Override
    public Backend at(String place) {
      Backend here = maker.apply(block);
      Json kept = Json.parse(place);
      Optional<String> kind = kept.text(KIND);
      if (place.equals(now()) || kind.isEmpty()) {
        return here;
      }
      var values = new LinkedHashMap<>(block.values().entries());
      values.keySet().removeAll(WHERE);
      values.putAll(kept.entries());
      values.remove(KIND);
      var before =
          new BackendConfig(block.name(), kind.get(), new Json.Obj(values), block.origin());
      return new MovedBackend(maker.apply(before), here);
    }
  }

  private Backend of(Gang gang) {
    if (found.get().isEmpty()) {
      found.set(Stream.of(Side.values()).filter(side -> isAt(at(side), gang)).findFirst());
    }
    return any();
  }

  private Backend at(Side side) {
    return side == Side.BEFORE ? before : now;
  }

  private static boolean isAt(Backend place, Gang gang) {
    try {
      return switch (place.observe(gang)) {
        case Observation.Exists _, Observation.Partly _ -> true;
        case Observation.Gone _, Observation.CannotTell _ -> false;
      };
    } catch (GpushException unknown) {
      return false;
    }
  }

  private Backend any() {
    return at(found.get().orElse(Side.BEFORE));
  }

  @Override
  public Capabilities capabilities() {
    Capabilities all = any().capabilities();
    if (all.queue().isPresent()) {
      all = all.with(RequestQueue.class, this::resume).with(QueueOrder.class, this::ahead);
    }
    return all.agentLinks().isEmpty() ? all : all.with(AgentLinks.class, this::linked);
  }

  private Optional<JobsAhead> ahead(GangId gang) {
    Backend there = of(new Gang(gang, name(), List.of(), ""));
    return there.capabilities().queueOrder().flatMap(order -> order.ahead(gang));
  }

  private Gang resume(GangRequest request, Waiter waiter) throws InterruptedException {
    Backend there = of(new Gang(request.gang(), name(), List.of(), ""));
    return there.capabilities().queue().orElseThrow().resume(request, waiter);
  }

  private Backend linked(LinkedAgents agents) {
    Function<Backend, Backend> link =
        backend ->
            backend.capabilities().agentLinks().map(port -> port.withLinks(agents)).orElse(backend);
    return new MovedBackend(link.apply(before), link.apply(now), found);
  }

  @Override
  public String name() {
    return before.name();
  }

  @Override
  public String kind() {
    return before.kind();
  }

  @Override
  public String describe() {
    return any().describe();
  }

  @Override
  public List<String> interpreters(Gang gang) {
    return any().interpreters(gang);
  }

  @Override
  public Plan plan(GangRequest request) {
    return now.plan(request);
  }

  @Override
  public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
    return now.reserve(request, waiter);
  }

  @Override
  public Observation observe(Gang gang) {
    return of(gang).observe(gang);
  }

  @Override
  public void renew(Gang gang, LeaseTerms terms) {
    of(gang).renew(gang, terms);
  }

  @Override
  public List<String> release(Gang gang, Duration limit) throws InterruptedException {
    return of(gang).release(gang, limit);
  }

  @Override
  public List<Discovered> discover(String owner) {
    return any().discover(owner);
  }

  @Override
  public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
    return of(gang).spawn(gang, node, arguments);
  }
}
