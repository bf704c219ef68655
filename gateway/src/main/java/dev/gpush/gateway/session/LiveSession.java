package dev.gpush.gateway.session;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Gang;
import dev.gpush.core.backend.NodeInfo;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;

/**
 * One session in this process: its ledger entry, its backend, its links and its work. Commands that
 * change it take {@link #begin}, so they are one after the other; everything else only reads.
 */
final class LiveSession implements AutoCloseable {
  private final Backend backend;
  private final Ledger ledger;

  /** Held by the one command that changes this session. Fair: who waits longest is next. */
  private final ReentrantLock operation = new ReentrantLock(true);

  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock: entry, links, work, doing, generation, isForgotten
  private LedgerEntry entry;
  private List<Link> links = List.of();
  private Optional<SessionWork> work = Optional.empty();
  private String doing = "";
  private boolean isForgotten;

  LiveSession(LedgerEntry entry, Backend backend, Ledger ledger) {
    this.entry = entry;
    this.backend = backend;
    this.ledger = ledger;
  }

  /** Waits for its turn; the command that is at work is named while waiting. */
  Turn begin(String what, Talk talk) throws InterruptedException {
    if (!operation.tryLock()) {
      try (Talk.Step _ = talk.step("waiting for " + doing() + " of " + name())) {
        operation.lockInterruptibly();
      }
    }
    doing(what);
    return () -> {
      doing("");
      operation.unlock();
    };
  }

  /** The end of it gives the session to the next command. */
  interface Turn extends AutoCloseable {
    @Override
    void close();
  }

  /** The ledger first, then this process. */
  void move(LedgerEntry next) {
    ledger.put(next);
    lock.lock();
    try {
      entry = next;
    } finally {
      lock.unlock();
    }
  }

  /** The request came to nothing: no trace stays. */
  void forget() {
    ledger.forget(entry());
    lock.lock();
    try {
      isForgotten = true;
    } finally {
      lock.unlock();
    }
  }

  /** True when a command that waited for its turn must look for the session again. */
  boolean isOver() {
    lock.lock();
    try {
      return isForgotten || entry.state().isOver();
    } finally {
      lock.unlock();
    }
  }

  void linked(List<Link> made, SessionWork with) {
    lock.lock();
    try {
      links = List.copyOf(made);
      work = Optional.of(with);
    } finally {
      lock.unlock();
    }
  }

  LedgerEntry entry() {
    lock.lock();
    try {
      return entry;
    } finally {
      lock.unlock();
    }
  }

  SessionName name() {
    return entry().name();
  }

  Backend backend() {
    return backend;
  }

  Gang gang() {
    LedgerEntry now = entry();
    return now.grant().orElseThrow(() -> notReached(0, now.state().word()));
  }

  /** What is to be released: the grant, or, when the reply was lost, the gang by its id alone. */
  Gang whateverIsThere() {
    LedgerEntry now = entry();
    return now.grant().orElseGet(() -> new Gang(now.gang(), backend.name(), List.of(), ""));
  }

  List<Link> links() {
    lock.lock();
    try {
      return links;
    } finally {
      lock.unlock();
    }
  }

  /** The link of a node, whatever its state; while it is cut, streams wait. */
  Link link(int node) {
    List<Link> all = links();
    if (all.isEmpty()) {
      throw notReached(node, entry().state().word());
    }
    if (node < 0 || node >= all.size()) {
      throw new GpushException(new SessionFailure.UnknownNode(name().text(), node, all.size()));
    }
    return all.get(node);
  }

  NodeInfo node(int index) {
    link(index);
    return gang().nodes().get(index);
  }

  SessionWork work() {
    lock.lock();
    try {
      return work.orElseThrow(() -> notReached(0, entry.state().word()));
    } finally {
      lock.unlock();
    }
  }

  Optional<SessionWork> workIfAny() {
    lock.lock();
    try {
      return work;
    } finally {
      lock.unlock();
    }
  }

  private GpushException notReached(int node, String state) {
    return new GpushException(new SessionFailure.NotReached(entry().name().text(), node, state));
  }

  /**
   * What people see: a session whose link is not up is degraded, however ready the ledger says it
   * is.
   */
  SessionState shownState() {
    LedgerEntry now = entry();
    if (now.state() != SessionState.READY) {
      return now.state();
    }
    boolean allUp =
        !links().isEmpty()
            && links().stream().allMatch(link -> link.state() instanceof LinkState.Up);
    return allUp ? SessionState.READY : SessionState.DEGRADED;
  }

  private String doing() {
    lock.lock();
    try {
      return doing.isEmpty() ? "another command" : doing;
    } finally {
      lock.unlock();
    }
  }

  private void doing(String what) {
    lock.lock();
    try {
      doing = what;
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    workIfAny().ifPresent(SessionWork::close);
    links().forEach(Link::close);
  }
}
