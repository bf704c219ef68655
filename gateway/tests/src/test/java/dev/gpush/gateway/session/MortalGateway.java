package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities;
import dev.gpush.core.backend.Capabilities.RequestQueue;
import dev.gpush.core.backend.Discovered;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.backend.Waiter;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangRequest;
import dev.gpush.core.gang.LeaseTerms;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.testkit.fake.PassingBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * A gateway that dies at the n-th thing it does, as by kill -9: from then on it reaches neither its
 * home (a link in the file system that is removed) nor the backend, and its pipes are broken.
 */
final class MortalGateway implements AutoCloseable {
  private final SessionRig rig;
  private final Path home;
  private final AtomicInteger left;
  private final Tasks tasks = Tasks.named("mortal", (_, _) -> {});
  private final GatewaySessions service;
  private final Object lock = new Object();

  // guarded by lock: pipes, isDead
  private final List<Pipe> pipes = new ArrayList<>();
  private boolean isDead;

  MortalGateway(SessionRig rig, int number, int moments) throws IOException {
    this(rig, number, moments, _ -> List.of(rig.backend()));
  }

  /**
   * @param backends that take nothing back once this one is dead
   */
  MortalGateway(
      SessionRig rig, int number, int moments, Function<BooleanSupplier, List<Backend>> backends)
      throws IOException {
    this.rig = rig;
    this.left = new AtomicInteger(moments);
    this.home = Files.createSymbolicLink(rig.path("home-" + number), rig.home());
    List<Backend> all = backends.apply(this::isAlive).stream().<Backend>map(Mortal::new).toList();
    this.service = rig.gateway(home, all, tasks);
  }

  /** Nothing that is written to survive death may catch it. */
  static final class Killed extends Error {
    private static final long serialVersionUID = 1;
  }

  GatewaySessions service() {
    return service;
  }

  FakeTalk talk() {
    return FakeTalk.at(this::moment);
  }

  boolean isAlive() {
    synchronized (lock) {
      return !isDead;
    }
  }

  /** One more thing is about to be done, or was done. */
  void moment() {
    if (left.getAndDecrement() == 0) {
      die();
    }
    synchronized (lock) {
      if (isDead) {
        throw new Killed();
      }
    }
  }

  void die() {
    List<Pipe> open;
    synchronized (lock) {
      if (isDead) {
        return;
      }
      isDead = true;
      open = List.copyOf(pipes);
    }
    try {
      Files.delete(home);
      for (Pipe pipe : open) {
        pipe.close();
      }
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** Ends the threads of one that has died. */
  @Override
  public void close() {
    die();
    tasks.close();
    service.close();
  }

  private final class Mortal extends PassingBackend {
    Mortal(Backend inner) {
      super(inner);
    }

    @Override
    public Gang reserve(GangRequest request, Waiter waiter) throws InterruptedException {
      moment();
      Gang gang = super.reserve(request, waiter);
      moment();
      return gang;
    }

    private Gang resume(RequestQueue queue, GangRequest request, Waiter waiter)
        throws InterruptedException {
      moment();
      Gang gang = queue.resume(request, waiter);
      moment();
      return gang;
    }

    @Override
    public Capabilities capabilities() {
      Capabilities all = super.capabilities();
      return all.queue()
          .map(
              queue ->
                  all.with(RequestQueue.class, (request, waiter) -> resume(queue, request, waiter)))
          .orElse(all);
    }

    @Override
    public Observation observe(Gang gang) {
      moment();
      return super.observe(gang);
    }

    @Override
    public void renew(Gang gang, LeaseTerms terms) {
      moment();
      super.renew(gang, terms);
      moment();
    }

    @Override
    public List<String> release(Gang gang, Duration limit) throws InterruptedException {
      moment();
      List<String> kept = super.release(gang, limit);
      moment();
      return kept;
    }

    @Override
    public List<Discovered> discover(String owner) {
      moment();
      return super.discover(owner);
    }

    @Override
    public Pipe spawn(Gang gang, int node, List<String> arguments) throws IOException {
      try {
        moment();
      } catch (Killed dead) {
        // What a link understands.
        throw new IOException(dead);
      }
      Pipe pipe = super.spawn(gang, node, arguments);
      synchronized (lock) {
        if (!isDead) {
          pipes.add(pipe);
          return pipe;
        }
      }
      pipe.close();
      throw new IOException("killed");
    }
  }
}
