package dev.gpush.gateway.session.live;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.gateway.session.ledger.Ledger;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.saves.LiveSync;
import dev.gpush.link.Link;
import dev.gpush.link.LinkState;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * One session in this process: its ledger entry, its backend, its links and its work. Commands that
 * change it take their turn by {@link #begin}, one after the other; everything else only reads.
 */
public final class LiveSession implements AutoCloseable {
  private final Ledger ledger;
  private final ChangeSignal changes;
  private final SessionAgents agents = new SessionAgents(this);

  private final TurnQueue turns = new TurnQueue();

  /** Held while the entry is written. */
  private final ReentrantLock writing = new ReentrantLock();

  // guarded by this: backend, entry, links, work, lost, gone, pending, refused, isForgotten,
  // isClosed, isObserved
  private Backend backend;
  private LedgerEntry entry;
  private long moves;
  private List<Link> links = List.of();
  private Optional<SessionWork> work = Optional.empty();
  private Optional<Observation.Partly> lost = Optional.empty();
  private Optional<String> gone = Optional.empty();
  private Optional<PendingRequest> pending = Optional.empty();
  private List<LinkState> refused = List.of();
  private boolean isForgotten;
  private boolean isClosed;
  private boolean isObserved;

  /**
   * @param changes signalled when users would see something else of it
   */
  public LiveSession(LedgerEntry entry, Backend backend, Ledger ledger, ChangeSignal changes) {
    this.entry = entry;
    this.backend = backend;
    this.ledger = ledger;
    this.changes = changes;
  }

  /** A part of it has changed: a link, a run, what is sent. */
  public void changed() {
    changes.signal();
  }

  /**
   * Waits for its turn; the command that has the turn is named while waiting. The turn is not
   * reentrant.
   */
  public TurnQueue.Turn begin(String what, Talk talk) throws InterruptedException {
    return turns.take(what, name().text(), talk);
  }

  /** As {@link #begin}; empty when there is a {@link #pending} request instead. */
  public Optional<TurnQueue.Turn> beginOrJoin(String what, Talk talk) throws InterruptedException {
    return turns.takeOrJoin(what, name().text(), talk);
  }

  /**
   * As {@link #beginOrJoin}, for a command that ends the session, to which the user has agreed: it
   * does not wait for a push, whether of a save or of another command. That of a request that can
   * be joined goes on.
   */
  public Optional<TurnQueue.Turn> beginEndOrJoin(String what, Talk talk)
      throws InterruptedException {
    Optional<TurnQueue.Turn> free = turns.tryTake(what);
    if (free.isPresent() || turns.isJoinable()) {
      return free;
    }
    try (LiveSync.Left _ = workIfAny().map(SessionWork::stopForEnd).orElse(() -> {})) {
      return beginOrJoin(what, talk);
    }
  }

  /** As {@link #begin}, without waiting: empty while a command has the turn, or waits for it. */
  public Optional<TurnQueue.Turn> tryBegin(String what) {
    return turns.tryTake(what);
  }

  /** The first turn of a session that no other command knows yet. */
  TurnQueue.Turn beginFirst(String what) {
    return turns.takeFirst(what);
  }

  /** The caller's turn passes to this request, which ends it. */
  public void pending(PendingRequest request) {
    synchronized (this) {
      pending = Optional.of(request);
    }
    turns.joinable("up");
  }

  /** The request that makes this session, until it is over. */
  public synchronized Optional<PendingRequest> pending() {
    return pending.filter(request -> !request.isOver());
  }

  /** How often its entry was written by this process. */
  public synchronized long moves() {
    return moves;
  }

  /** Writes the ledger first, then changes this object. */
  public void change(UnaryOperator<LedgerEntry> change) {
    change(change, Optional.empty());
  }

  /** As {@link #change}, to another backend than before. */
  public void move(LedgerEntry next, Backend with) {
    change(_ -> next, Optional.of(with));
  }

  private void change(UnaryOperator<LedgerEntry> change, Optional<Backend> with) {
    writing.lock();
    try {
      LedgerEntry next = change.apply(entry());
      ledger.put(next);
      set(next, with);
    } finally {
      writing.unlock();
    }
    changed();
  }

  private synchronized void set(LedgerEntry next, Optional<Backend> with) {
    entry = next;
    moves++;
    backend = with.orElse(backend);
  }

  /**
   * As {@link #change}, also if the ledger cannot be written: a full disk must neither prevent a
   * release nor cause one. The next gateway then finds the same gang by the older entry.
   *
   * @return why the ledger could not be written
   */
  public Optional<GpushException> changeAnyway(UnaryOperator<LedgerEntry> change) {
    return changeAnyway(change, Optional.empty());
  }

  /** As {@link #changeAnyway}, to another backend than before. */
  public void moveAnyway(LedgerEntry next, Backend with) {
    changeAnyway(_ -> next, Optional.of(with));
  }

  private Optional<GpushException> changeAnyway(
      UnaryOperator<LedgerEntry> change, Optional<Backend> with) {
    writing.lock();
    try {
      change(change, with);
      return Optional.empty();
    } catch (GpushException unwritten) {
      set(change.apply(entry()), with);
      changed();
      return Optional.of(unwritten);
    } finally {
      writing.unlock();
    }
  }

  /** The backend has it in its queue, with this reason. */
  public void waits(String words) {
    LedgerEntry now = entry();
    if (now.state() != SessionState.QUEUED || !now.detail().equals(words)) {
      changeAnyway(was -> was.in(SessionState.QUEUED, words));
    }
  }

  /** Requested and not granted yet: a further {@code up} follows it. */
  public boolean isWaiting() {
    LedgerEntry now = entry();
    return now.state() == SessionState.QUEUED && now.grant().isEmpty();
  }

  /** Fails for a queued session, so that commands do not wait as long as the queue. */
  public void requireNodes() {
    LedgerEntry now = entry();
    if (isWaiting()) {
      throw new GpushException(new SessionFailure.Queued(now.name().text(), now.detail()));
    }
  }

  /** It could not be confirmed that the gang is gone. */
  public void leak(String why) {
    changeAnyway(was -> was.in(SessionState.LEAKED, why));
  }

  /** The request failed: removes its ledger entry. */
  public void forget() {
    synchronized (this) {
      isForgotten = true;
    }
    try {
      ledger.forget(entry());
    } catch (GpushException unwritten) {
      // The next gateway finds the entry and no gang, and removes it then.
    }
  }

  /** True when a command that waited for its turn must look for the session again. */
  public synchronized boolean isOver() {
    return isForgotten || entry.state().isOver();
  }

  public void setLinks(List<Link> made, SessionWork with) {
    synchronized (this) {
      links = List.copyOf(made);
      work = Optional.of(with);
    }
    changed();
  }

  /** The states of its links; while all are idle, those that agents have refused. */
  public List<LinkState> linkStates() {
    List<LinkState> now = links().stream().map(Link::state).toList();
    boolean areIdle = now.stream().allMatch(LinkState.Idle.class::isInstance);
    List<LinkState> before = locked(() -> refused);
    return areIdle && !before.isEmpty() ? before : now;
  }

  /** The gateway that has the gang, if it is another one: no links are made until it is taken. */
  public Optional<AgentFailure.Superseded> superseded() {
    Optional<AgentFailure.Superseded> found = Optional.empty();
    for (LinkState state : linkStates()) {
      if (state instanceof LinkState.Refused(AgentFailure.Superseded by)) {
        found = Optional.of(by);
      }
    }
    return found;
  }

  /** Fails when another gateway has the gang. */
  public void requireOurs() {
    Optional<AgentFailure.Superseded> other = superseded();
    if (other.isPresent()) {
      throw new GpushException(other.get());
    }
  }

  /** Another gateway has the gang, and writes the entry where both have one ledger. */
  public synchronized void watch() {
    entry = entry.in(SessionState.READY, "");
  }

  /** Takes it over, under a higher term. The next push asks: the other may have sent files. */
  public void takeFrom(AgentFailure.Superseded other, Holder by) {
    unlink();
    long term = Math.max(entry().keeper().term(), other.term()) + 1;
    changeAnyway(was -> was.keptBy(by, term).foreign(true));
    synchronized (this) {
      refused = List.of();
    }
  }

  /** The backend says that these nodes are gone for good: their links end, the others continue. */
  public void lose(Observation.Partly seen) {
    synchronized (this) {
      lost = Optional.of(seen);
    }
    changed();
    List<Link> all = links();
    seen.lost().stream()
        .filter(node -> node < all.size())
        .map(all::get)
        .filter(link -> !(link.state() instanceof LinkState.Over))
        .forEach(link -> link.gone(seen.reason()));
  }

  /** The same for all nodes. Commands whose links end report it before it is in the entry. */
  public void lose(String reason) {
    synchronized (this) {
      gone = Optional.of(reason);
    }
    links().forEach(link -> link.gone(reason));
  }

  /** Why its gang is gone. */
  public Optional<String> gone() {
    return locked(() -> gone);
  }

  public boolean isLost(int node) {
    return lost().map(seen -> seen.lost().contains(node)).orElse(false);
  }

  public Optional<Observation.Partly> lost() {
    return locked(() -> lost);
  }

  /** Fails unless the gang is whole. */
  public void requireWhole() {
    lost()
        .ifPresent(
            seen -> {
              throw new GpushException(
                  new SessionFailure.NodesLost(
                      name().text(), seen.nodes(), gang().nodes().size(), seen.reason()));
            });
  }

  public LedgerEntry entry() {
    return locked(() -> entry);
  }

  public SessionName name() {
    return entry().name();
  }

  /** Its backend, which asks the session's agents over their links where these are up. */
  public Backend backend() {
    return locked(
        () ->
            backend
                .capabilities()
                .agentLinks()
                .map(port -> port.withLinks(agents))
                .orElse(backend));
  }

  public Gang gang() {
    LedgerEntry now = entry();
    return now.grant().orElseThrow(() -> notReached(0, now.state().word()));
  }

  public Gang gangToRelease() {
    return entry().gangToRelease();
  }

  public List<Link> links() {
    return locked(() -> links);
  }

  /** Fails for one that is given back, or whose end could not be confirmed. */
  public void requireUsable() {
    LedgerEntry now = entry();
    if (isOver()) {
      String reason = now.detail().isEmpty() ? "it was given back" : now.detail();
      throw new GpushException(new SessionFailure.Gone(now.name().text(), reason));
    }
    switch (now.state()) {
      case LEAKED ->
          throw new GpushException(
              new SessionFailure.Leaked(now.name().text(), now.backend(), now.detail()));
      case RELEASING ->
          throw new GpushException(new SessionFailure.Busy(now.name().text(), "down"));
      case ASKED, QUEUED, GRANTED, READY, DEGRADED, RELEASED -> {}
    }
  }

  /** The link of a node, whatever its state; while it is cut, streams wait. */
  public Link link(int node) {
    List<Link> all = links();
    if (all.isEmpty()) {
      throw notReached(node, entry().state().word());
    }
    if (node < 0 || node >= all.size()) {
      throw new GpushException(new SessionFailure.UnknownNode(name().text(), node, all.size()));
    }
    return all.get(node);
  }

  public NodeInfo node(int index) {
    link(index);
    return gang().nodes().get(index);
  }

  public synchronized SessionWork work() {
    return work.orElseThrow(() -> notReached(0, entry.state().word()));
  }

  public Optional<SessionWork> workIfAny() {
    return locked(() -> work);
  }

  private GpushException notReached(int node, String state) {
    return new GpushException(new SessionFailure.NotReached(entry().name().text(), node, state));
  }

  /** The state that users see: one that is ready in the ledger is degraded without its links. */
  public SessionState shownState() {
    LedgerEntry now = entry();
    if (now.state() != SessionState.READY) {
      return now.state();
    }
    boolean isWhole = workIfAny().map(work -> !work.isAnyEmpty()).orElse(true);
    return allUp() && isWhole ? SessionState.READY : SessionState.DEGRADED;
  }

  /** Registered by a new gateway, not linked yet, and a command has its turn. */
  public synchronized boolean isBeingTakenOver() {
    return entry.state() == SessionState.READY && links.isEmpty() && turns.isTaken();
  }

  /** Waits until the turn ends, up to the limit. */
  public void awaitTurn(Duration limit) {
    turns.await(limit);
  }

  public boolean allUp() {
    List<Link> all = links();
    return !all.isEmpty() && all.stream().allMatch(link -> link.state() instanceof LinkState.Up);
  }

  private synchronized <T> T locked(Supplier<T> look) {
    return look.get();
  }

  /** One observer is enough; true for the one that is to begin. */
  public synchronized boolean startObserving() {
    boolean isFirst = !isObserved && !isClosed;
    isObserved = isObserved || isFirst;
    return isFirst;
  }

  public synchronized void stopObserving() {
    isObserved = false;
  }

  public boolean isClosed() {
    return locked(() -> isClosed);
  }

  /**
   * Stops all work, because the gang is given back. Links end too, except those over which agents
   * are asked to release.
   */
  public void stop() {
    boolean isAsked;
    synchronized (this) {
      isClosed = true;
      isAsked = backend.capabilities().agentLinks().isPresent();
    }
    if (isAsked) {
      workIfAny().ifPresent(SessionWork::close);
    } else {
      endLinks();
    }
  }

  /** Ends links and work so that new ones can be made. */
  public void unlink() {
    List<LinkState> last = links().stream().map(Link::state).toList();
    endLinks();
    synchronized (this) {
      links = List.of();
      work = Optional.empty();
      refused =
          last.stream().anyMatch(LinkState.Refused.class::isInstance)
              ? last.stream()
                  .map(one -> one instanceof LinkState.Refused ? one : new LinkState.Idle())
                  .toList()
              : List.of();
    }
    changed();
  }

  private void endLinks() {
    try {
      workIfAny().ifPresent(SessionWork::close);
    } finally {
      // Node 0 last, because others may be reached through it.
      links().reversed().forEach(Link::close);
    }
  }

  /** Closes it for good. The records of its runs can still be read. */
  @Override
  public void close() {
    synchronized (this) {
      isClosed = true;
    }
    endLinks();
  }
}
