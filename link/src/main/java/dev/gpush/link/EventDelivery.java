package dev.gpush.link;

import dev.gpush.link.machine.LinkEvent;
import dev.gpush.link.machine.LinkMachine;
import dev.gpush.link.machine.StreamState;
import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;

/**
 * Calls users with the events of the machine, one at a time and in order, without the lock. The
 * reading thread delivers all events; the watching thread delivers those that come without a frame,
 * states and ends of streams, so that a listener knows of silence, and the user of a withdrawn
 * stream of its end, while the reading thread waits for the pipe.
 */
final class EventDelivery {
  private final LinkDriver driver;
  private final LinkMachine machine;
  private final Consumer<LinkState> listener;
  private final ReentrantLock lock;
  private final Condition delivered;

  // guarded by the driver's lock
  private final Map<StreamState, LinkStream> streams = new HashMap<>();
  private final ArrayDeque<Pending> pending = new ArrayDeque<>();
  private Optional<Thread> deliverer = Optional.empty();
  private int pendingStates;

  /** An event, and the state of the link after it. */
  private record Pending(LinkEvent event, LinkState state) {}

  EventDelivery(LinkDriver driver, LinkMachine machine, Consumer<LinkState> listener) {
    this.driver = driver;
    this.machine = machine;
    this.listener = listener;
    this.lock = driver.lock();
    this.delivered = lock.newCondition();
  }

  // ---- what waits for delivery

  void add(LinkStream stream) {
    assert lock.isHeldByCurrentThread();
    streams.put(stream.state(), stream);
  }

  void add(LinkEvent event, LinkState state) {
    assert lock.isHeldByCurrentThread();
    switch (event) {
      case LinkEvent.OfLink _ -> pendingStates++;
      case LinkEvent.Opened(var stream, _) -> signal(stream);
      case LinkEvent.Writable(var stream) -> signal(stream);
      case LinkEvent.Closed(var stream, _) -> signal(stream);
      case LinkEvent.Data _, LinkEvent.Ended _, LinkEvent.Message _, LinkEvent.Offered _ -> {}
    }
    pending.add(new Pending(event, state));
  }

  private void signal(StreamState stream) {
    Optional.ofNullable(streams.get(stream)).ifPresent(LinkStream::signal);
  }

  boolean isEmpty() {
    assert lock.isHeldByCurrentThread();
    return pending.isEmpty();
  }

  /** Whether the listener was not called yet for some state, or is being called now. */
  boolean hasPendingState() {
    assert lock.isHeldByCurrentThread();
    return pendingStates > 0;
  }

  /** Whether the watching thread has something to deliver. */
  boolean isDueWithoutFrame() {
    assert lock.isHeldByCurrentThread();
    return deliverer.isEmpty()
        && !pending.isEmpty()
        && (pending.element().event() instanceof LinkEvent.OfLink
            || pending.element().event() instanceof LinkEvent.Closed);
  }

  /**
   * The next call, which {@link #deliverFrom} makes. Waits while another thread delivers, if {@code
   * all} is set.
   */
  Optional<Runnable> claim(boolean all) {
    assert lock.isHeldByCurrentThread();
    while (deliverer.isPresent()) {
      if (!all || deliverer.orElseThrow().equals(Thread.currentThread())) {
        return Optional.empty();
      }
      delivered.awaitUninterruptibly();
    }
    while (!pending.isEmpty() && (all || isDueWithoutFrame())) {
      Pending next = pending.remove();
      Optional<Runnable> call =
          switch (next.event()) {
            case LinkEvent.OfLink ofLink -> Optional.of(() -> deliver(ofLink, next.state()));
            case LinkEvent.Offered offered -> Optional.of(() -> offer(offered));
            case LinkEvent.Closed closed ->
                Optional.ofNullable(streams.remove(closed.stream()))
                    .map(stream -> () -> stream.deliver(closed));
            case LinkEvent.OfStream event ->
                Optional.ofNullable(streams.get(event.stream()))
                    .map(stream -> () -> stream.deliver(event));
          };
      if (call.isPresent()) {
        deliverer = Optional.of(Thread.currentThread());
        return call;
      }
    }
    return Optional.empty();
  }

  // ---- calling users, without the lock

  /** For the reading thread, and at the end of the link. */
  void deliverAll() {
    deliver(true);
  }

  /** For the watching thread. */
  void deliverWithoutFrame() {
    deliver(false);
  }

  private void deliver(boolean all) {
    Optional<Runnable> next;
    lock.lock();
    try {
      next = claim(all);
    } finally {
      lock.unlock();
    }
    deliverFrom(next, all);
  }

  /** Delivers this event, which was claimed, and those that follow it. */
  void deliverFrom(Optional<Runnable> claimed, boolean all) {
    Optional<Runnable> next = claimed;
    while (next.isPresent()) {
      boolean isDone = false;
      try {
        next.orElseThrow().run();
        isDone = true;
      } finally {
        lock.lock();
        try {
          deliverer = Optional.empty();
          delivered.signalAll();
          next = isDone ? claim(all) : Optional.empty();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  private void deliver(LinkEvent.OfLink event, LinkState state) {
    try {
      if (!(event instanceof LinkEvent.NotConnected)) {
        listener.accept(state);
      }
    } finally {
      lock.lock();
      try {
        pendingStates--;
        driver.delivered(event, state);
      } finally {
        lock.unlock();
      }
    }
  }

  /** The agent opens a stream: its listener decides whether it is accepted. */
  private void offer(LinkEvent.Offered offered) {
    var stream = new LinkStream(driver, offered.stream());
    Optional<StreamReceiver> made =
        offered
            .listener()
            .flatMap(this::streamOf)
            .flatMap(listening -> listening.receiver().accepted(stream, offered.request()));
    driver.act(
        _ -> {
          if (made.isPresent()) {
            stream.receiver(made.orElseThrow());
            add(stream);
            machine.accept(offered.stream());
          } else {
            machine.refuse(offered.stream(), "not-found");
          }
        });
  }

  private Optional<LinkStream> streamOf(StreamState state) {
    lock.lock();
    try {
      return Optional.ofNullable(streams.get(state));
    } finally {
      lock.unlock();
    }
  }
}
