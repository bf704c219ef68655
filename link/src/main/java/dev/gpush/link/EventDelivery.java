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

/**
 * Tells users what the machine says, one event at a time and in order, without the lock. The
 * reading thread tells everything; the watching thread tells states, so that a listener hears of
 * silence while the reading thread waits for the silent pipe.
 */
final class EventDelivery {
  private final LinkDriver driver;
  private final LinkMachine machine;
  private final LinkListener listener;
  private final ReentrantLock lock;
  private final Condition told;

  // guarded by the driver's lock
  private final Map<StreamState, LinkStream> streams = new HashMap<>();
  private final ArrayDeque<Untold> untold = new ArrayDeque<>();
  private Optional<Thread> teller = Optional.empty();
  private int untoldStates;

  /** An event, and the state of the link after it. */
  private record Untold(LinkEvent event, LinkState state) {}

  EventDelivery(LinkDriver driver, LinkMachine machine, LinkListener listener) {
    this.driver = driver;
    this.machine = machine;
    this.listener = listener;
    this.lock = driver.lock();
    this.told = lock.newCondition();
  }

  // ---- the lock is held

  void add(LinkStream stream) {
    streams.put(stream.state(), stream);
  }

  void add(LinkEvent event, LinkState state) {
    switch (event) {
      case LinkEvent.OfLink _ -> untoldStates++;
      case LinkEvent.Opened(var stream, _) -> signal(stream);
      case LinkEvent.Writable(var stream) -> signal(stream);
      case LinkEvent.Closed(var stream, _) -> signal(stream);
      case LinkEvent.Data _, LinkEvent.Ended _, LinkEvent.Message _, LinkEvent.Offered _ -> {}
    }
    untold.add(new Untold(event, state));
  }

  private void signal(StreamState stream) {
    Optional.ofNullable(streams.get(stream)).ifPresent(LinkStream::signal);
  }

  boolean isEmpty() {
    return untold.isEmpty();
  }

  /** Whether the listener has still to hear of a state, or is hearing of it now. */
  boolean hasUntoldState() {
    return untoldStates > 0;
  }

  /** Whether the watching thread has something to tell. */
  boolean isStateNext() {
    return teller.isEmpty()
        && !untold.isEmpty()
        && untold.element().event() instanceof LinkEvent.OfLink;
  }

  /**
   * What to call next, without the lock; {@link #tellFrom} does that. Waits while another thread
   * tells, if it is to tell all.
   */
  Optional<Runnable> claim(boolean all) {
    while (teller.isPresent()) {
      if (!all || teller.orElseThrow().equals(Thread.currentThread())) {
        return Optional.empty();
      }
      told.awaitUninterruptibly();
    }
    while (!untold.isEmpty() && (all || isStateNext())) {
      Untold next = untold.remove();
      Optional<Runnable> call =
          switch (next.event()) {
            case LinkEvent.OfLink ofLink -> Optional.of(() -> tell(ofLink, next.state()));
            case LinkEvent.Offered offered -> Optional.of(() -> offer(offered));
            case LinkEvent.Closed closed ->
                Optional.ofNullable(streams.remove(closed.stream()))
                    .map(stream -> () -> stream.tell(closed));
            case LinkEvent.OfStream event ->
                Optional.ofNullable(streams.get(event.stream()))
                    .map(stream -> () -> stream.tell(event));
          };
      if (call.isPresent()) {
        teller = Optional.of(Thread.currentThread());
        return call;
      }
    }
    return Optional.empty();
  }

  // ---- without the lock

  /** For the reading thread, and at the end of the link. */
  void tellAll() {
    tell(true);
  }

  /** For the watching thread. */
  void tellStates() {
    tell(false);
  }

  private void tell(boolean all) {
    Optional<Runnable> next;
    lock.lock();
    try {
      next = claim(all);
    } finally {
      lock.unlock();
    }
    tellFrom(next, all);
  }

  /** Tells this, which was claimed, and what follows it. */
  void tellFrom(Optional<Runnable> claimed, boolean all) {
    Optional<Runnable> next = claimed;
    while (next.isPresent()) {
      boolean isDone = false;
      try {
        next.orElseThrow().run();
        isDone = true;
      } finally {
        lock.lock();
        try {
          teller = Optional.empty();
          told.signalAll();
          next = isDone ? claim(all) : Optional.empty();
        } finally {
          lock.unlock();
        }
      }
    }
  }

  private void tell(LinkEvent.OfLink event, LinkState state) {
    try {
      if (!(event instanceof LinkEvent.NotConnected)) {
        listener.changed(state);
      }
    } finally {
      lock.lock();
      try {
        untoldStates--;
        driver.told(event, state);
      } finally {
        lock.unlock();
      }
    }
  }

  /** The agent opens a stream: who listens for it says whether it is wanted. */
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
