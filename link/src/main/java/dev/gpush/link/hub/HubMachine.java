package dev.gpush.link.hub;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.AgentStart;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.BlockingStream;
import dev.gpush.link.Link;
import dev.gpush.link.LinkIdentity;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.PipeSource;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.random.RandomGenerator;

/**
 * A machine with an agent that holds no resources: the hub. Every command is a stream of the one
 * link to it, over one pipe of the underlying machine. When that is cut, the link finds the hub
 * again, and commands continue where they were; a hub without a link ends by itself.
 *
 * <p>So a login node has one connection with one channel, whatever the gang's size, and a second
 * factor is asked for once.
 */
public final class HubMachine implements Machine, AutoCloseable {
  /**
   * How long a hub waits for its gateway: a change of networks, a laptop that is carried elsewhere.
   */
  public static final Duration LEAVE = Duration.ofSeconds(60);

  private static final long TERM = 1;
  private static final int NODE = 0;

  private final Machine beneath;
  private final AgentProgram agent;
  private final String holder;
  private final Duration leave;
  private final LinkTiming timing;
  private final Tasks tasks;
  private final Clock clock;
  private final RandomGenerator random;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private Optional<Link> link = Optional.empty();
  private boolean isClosed;

  /**
   * @param holder this gateway, for the hub's log
   * @param leave how long the hub stays without a link
   * @param random unguessable: it names the hub
   */
  public HubMachine(
      Machine beneath,
      AgentProgram agent,
      String holder,
      Duration leave,
      LinkTiming timing,
      Tasks tasks,
      Clock clock,
      RandomGenerator random) {
    this.beneath = beneath;
    this.agent = agent;
    this.holder = holder;
    this.leave = leave;
    this.timing = timing;
    this.tasks = tasks;
    this.clock = clock;
    this.random = random;
  }

  @Override
  public String name() {
    return beneath.name();
  }

  /** Waits for the link if it is cut. */
  @Override
  public Pipe spawn(List<String> arguments) throws IOException {
    try {
      BlockingStream stream =
          link()
              .open(
                  Json.object(
                      "type", "exec", "argv", arguments, "stdin", true, "kill_on_close", true));
      boolean isOpen = false;
      try {
        stream.awaitOpened();
        isOpen = true;
        return new StreamPipe(stream);
      } finally {
        if (!isOpen) {
          stream.close();
        }
      }
    } catch (GpushException refused) {
      if (refused.failure() instanceof AgentFailure.Refused(_, var code, _)
          && code.equals("not-found")) {
        return new NoProgram(arguments.getFirst());
      }
      throw passing(refused);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new java.io.InterruptedIOException("interrupted");
    }
  }

  /**
   * A cause that broke the link may be gone at the next try; something that the machine lacks is
   * not.
   */
  private IOException passing(GpushException refused) {
    return switch (refused.failure()) {
      case AgentFailure.LinkOver(_, var reason) ->
          new IOException("the link to " + name() + " ended: " + reason, refused);
      case AgentFailure.Died(var detail) ->
          new IOException("the hub on " + name() + " ended: " + detail, refused);
      default -> throw refused;
    };
  }

  /** The one link, made when it is first needed, and again when it has ended. */
  private Link link() throws IOException, InterruptedException {
    lock.lockInterruptibly();
    try {
      if (isClosed) {
        throw new IOException("closed: " + name());
      }
      if (link.isPresent() && !link.get().state().isFinal()) {
        return link.get();
      }
      link.ifPresent(Link::close);
      link = Optional.empty();
      Link fresh = make();
      boolean isUp = false;
      try {
        fresh.connect();
        isUp = true;
      } finally {
        if (!isUp) {
          fresh.close();
        }
      }
      link = Optional.of(fresh);
      return fresh;
    } finally {
      lock.unlock();
    }
  }

  private Link make() {
    String name = RandomHex.of(random, 8);
    var identity = new LinkIdentity(NODE, holder, RandomHex.of(random, 16), TERM);
    Tasks group = tasks.group("hub-" + beneath.name());
    return new Link(identity, pipes(name), group, clock, random, timing, _ -> {});
  }

  private PipeSource pipes(String name) {
    Json.Obj start =
        AgentStart.of(holder, name, 1, Json.object("unclaimed_s", leave.toSeconds()))
            .with("name", "hub")
            .with("node", NODE)
            .with("leave_s", leave.toMillis() / 1000.0);
    Json.Obj header = Json.object("mode", "start", "gang", name, "node", NODE, "start", start);
    return () -> {
      Pipe pipe = beneath.spawn(agent.arguments(AgentProgram.INTERPRETERS));
      boolean hasBegun = false;
      try {
        agent.begin(pipe, header);
        hasBegun = true;
        return pipe;
      } finally {
        if (!hasBegun) {
          pipe.close();
        }
      }
    };
  }

  /** The hub ends after its pipe; commands end with their streams. */
  @Override
  public void close() {
    lock.lock();
    try {
      isClosed = true;
      link.ifPresent(Link::close);
      link = Optional.empty();
    } finally {
      lock.unlock();
    }
  }
}
