package dev.gpush.chaos;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.BackendView;
import dev.gpush.core.backend.Backends;
import dev.gpush.core.config.Config;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.session.Holder;
import dev.gpush.core.talk.HowFar;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.gateway.session.GatewaySessions;
import dev.gpush.gateway.session.ledger.GatewayIdentity;
import dev.gpush.gateway.session.live.SessionTiming;
import dev.gpush.launch.fabric.rule.FabricPlanner;
import dev.gpush.link.LinkTiming;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.templates.YamlConfigs;
import java.io.Closeable;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * One gateway in this process. Whatever it does to the world is counted; at its last moment it is
 * dead as by kill -9: its home (a link in the file system) is away, its pipes are broken, no
 * command starts. At other moments something happens to the world instead, or an answer is lost.
 */
final class Life implements AutoCloseable {
  private static final Duration LOOK_AGAIN = Duration.ofMillis(200);

  private final Path home;
  private final int last;
  private final int loses;
  private final Map<Integer, Happening> happenings;
  private final Tasks tasks = Tasks.named("life", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private final AgentImage agent = new AgentImage(tasks, random);
  private final List<Closeable> owned = new ArrayList<>();
  private final GatewaySessions service;
  private final Object lock = new Object();

  // guarded by lock: count, isDead, hasLost, pipes, problems
  private final List<Pipe> pipes = new ArrayList<>();
  private final List<String> problems = new ArrayList<>();
  private int count;
  private boolean isDead;
  private boolean hasLost;

  /** Something that is done to the world. */
  @FunctionalInterface
  interface Happening {
    void now() throws Exception;
  }

  /** Nothing that is written to survive death may catch it. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  /**
   * @param real the home that outlives it
   * @param last the moment at which it dies
   * @param loses the moment of the first command from which on one loses its answer
   */
  Life(
      Scene scene,
      Path real,
      String owner,
      int number,
      int last,
      int loses,
      Map<Integer, Happening> happenings)
      throws IOException {
    this.home =
        Files.createSymbolicLink(real.resolveSibling(real.getFileName() + "-" + number), real);
    this.last = last;
    this.loses = loses;
    this.happenings = new TreeMap<>(happenings);
    Backend backend = new WatchedBackend(scene.backend(this), this, scene);
    this.service =
        new GatewaySessions(
            new GatewayIdentity(owner, new Holder(owner + "@here"), RandomHex.of(random, 16), home),
            new Only(backend),
            new YamlConfigs(home, home.resolve("no-site.yaml"), "ann"),
            new FabricPlanner(List::of),
            agent,
            GitPlaces.of(Map.of("HOME", home.toString(), "GIT_CONFIG_NOSYSTEM", "1")),
            new SessionTiming(
                LOOK_AGAIN,
                SessionTiming.usual().settle(),
                SessionTiming.usual().answer(),
                SessionTiming.usual().grace(),
                SessionTiming.usual().status(),
                LinkTiming.usual()),
            Clock.system(),
            random,
            tasks,
            () -> {});
  }

  private record Only(Backend backend) implements Backends {
    @Override
    public List<Backend> of(Config config) {
      return List.of(backend);
    }

    @Override
    public Optional<Backend> named(String name) {
      return Optional.of(backend);
    }

    @Override
    public List<BackendView> views(Config config) {
      return List.of();
    }
  }

  GatewaySessions service() {
    return service;
  }

  Tasks tasks() {
    return tasks;
  }

  SecureRandom random() {
    return random;
  }

  AgentImage agent() {
    return agent;
  }

  /** Closed with it. */
  void owns(Closeable thing) {
    owned.add(thing);
  }

  /** One more thing is about to be done, or was done. */
  void moment() {
    Optional<Happening> happening;
    boolean isLast;
    synchronized (lock) {
      happening = isDead ? Optional.empty() : Optional.ofNullable(happenings.remove(count));
      isLast = count++ == last;
    }
    happening.ifPresent(this::happen);
    if (isLast) {
      die();
    }
    requireAlive();
  }

  private void happen(Happening happening) {
    try {
      happening.now();
    } catch (Exception broken) {
      synchronized (lock) {
        problems.add(broken.toString());
      }
    }
  }

  private void requireAlive() {
    synchronized (lock) {
      if (isDead) {
        throw new Killed();
      }
    }
  }

  /** How many moments it had. */
  int count() {
    synchronized (lock) {
      return count;
    }
  }

  /** What went wrong with the happenings themselves; empty when all is well. */
  List<String> problems() {
    synchronized (lock) {
      return List.copyOf(problems);
    }
  }

  boolean isDead() {
    synchronized (lock) {
      return isDead;
    }
  }

  /** A machine as this gateway has it: each command is a moment, and its answer another. */
  Machine watched(Machine real) {
    return new Machine() {
      @Override
      public String name() {
        return real.name();
      }

      @Override
      public Pipe spawn(List<String> arguments) throws IOException {
        return command(arguments, () -> real.spawn(arguments));
      }
    };
  }

  /** The way beneath: it breaks with the gateway, and is no moment of its own. */
  Machine beneath(Machine real) {
    return new Machine() {
      @Override
      public String name() {
        return real.name();
      }

      @Override
      public Pipe spawn(List<String> arguments) throws IOException {
        return kept(real.spawn(arguments));
      }
    };
  }

  @FunctionalInterface
  interface Start {
    Pipe pipe() throws IOException;
  }

  /** Whether the answer that comes now is the one that gets lost. */
  boolean losesNow() {
    synchronized (lock) {
      boolean isLost = loses >= 0 && count > loses && !hasLost;
      hasLost = hasLost || isLost;
      return isLost;
    }
  }

  Pipe command(List<String> arguments, Start start) throws IOException {
    try {
      moment();
    } catch (Killed dead) {
      // What a link understands.
      throw new IOException(dead);
    }
    boolean isLost = losesNow();
    Pipe pipe = kept(start.pipe());
    return isLost ? new LostAnswer(pipe, arguments) : new Answered(pipe, this);
  }

  /** A pipe that breaks when the gateway dies. */
  Pipe kept(Pipe pipe) throws IOException {
    synchronized (lock) {
      if (!isDead) {
        pipes.add(pipe);
        return pipe;
      }
    }
    pipe.close();
    throw new IOException("killed");
  }

  /** Every pipe of it breaks, and it lives on. */
  void cut() throws IOException {
    List<Pipe> open;
    synchronized (lock) {
      open = List.copyOf(pipes);
      pipes.clear();
    }
    for (Pipe pipe : open) {
      pipe.close();
    }
  }

  void die() {
    synchronized (lock) {
      if (isDead) {
        return;
      }
      isDead = true;
    }
    try {
      Files.delete(home);
      cut();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Ends the threads of one that has died. */
  @Override
  public void close() throws IOException {
    die();
    tasks.close();
    service.close();
    for (Closeable thing : owned.reversed()) {
      thing.close();
    }
  }

  /** Says nothing; each thing it is told is a moment. */
  Talk talk() {
    return new Talk() {
      @Override
      public void say(String line) {
        moment();
      }

      @Override
      public Step step(String what) {
        moment();
        return new Step() {
          @Override
          public void show(HowFar far) {
            moment();
          }

          @Override
          public void close() {
            moment();
          }
        };
      }

      @Override
      public void confirm(String question, String flag) {
        moment();
      }
    };
  }
}
