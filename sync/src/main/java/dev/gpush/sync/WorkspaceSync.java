package dev.gpush.sync;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.home.Editors;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.pace.PushAttempts;
import dev.gpush.sync.pace.SlowNodes;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import dev.gpush.sync.tree.TreeChanged;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Keeps the copies of a workspace on the nodes of a session equal to the working tree.
 *
 * <p>Only the gateway decides: it knows what each node holds, because it wrote it, and the node
 * checks every path once more before it touches anything. So a push costs one round trip for one
 * node and two for many, and no node decides anything. Thread-safe; one operation runs at a time.
 */
public final class WorkspaceSync implements AutoCloseable {
  private final TreeScan scan;
  private final Editors editors;
  private final Homecoming home;
  private final Tasks tasks;
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final Conversations conversations;
  private static final Duration REWRITE = Duration.ofSeconds(10);

  final SlowNodes slow;
  private final CatchUps catchUps;
  private Optional<Scan> looked = Optional.empty();
  private final Obstacles obstacles;
  private final LastPush last;

  private volatile boolean isInBackground;

  /**
   * @param trash for what was deleted on the editors' node
   * @param largestNew new files of the editors' node that have more bytes stay there
   */
  public WorkspaceSync(
      TreeScan scan, Editors editors, LocalTrash trash, long largestNew, Clock clock, Tasks tasks) {
    this(scan, editors, trash, largestNew, Homecoming.SETTLED, REWRITE, clock, tasks);
  }

  /** For tests, which do not wait as long for changes on a node to settle. */
  WorkspaceSync(
      TreeScan scan,
      Editors editors,
      LocalTrash trash,
      long largestNew,
      Duration settled,
      Duration rewrite,
      Clock clock,
      Tasks tasks) {
    this.scan = scan;
    this.editors = editors;
    this.tasks = tasks.group("sync");
    this.slow = new SlowNodes(clock, this.tasks);
    this.conversations = new Conversations(editors.node(), rewrite, slow, this.tasks);
    this.catchUps = new CatchUps(conversations, lock, () -> looked.orElseThrow());
    this.last = new LastPush(scan.root(), trash, clock);
    this.obstacles = new Obstacles(editors.node());
    this.home = new Homecoming(scan, trash, conversations, obstacles, settled, largestNew, clock);
  }

  /**
   * Moves all nodes to the present working tree, or none.
   *
   * @return the generation that every node holds: a new one, or the old one when nothing changed
   * @throws GpushException {@link SyncFailure}, {@link AgentFailure}, or that the user declined.
   *     After {@link SyncFailure.Held} and {@link SyncFailure.NotHeld} everything else is done
   */
  public Generation push(List<SyncNode> nodes, PushOptions options, Talk talk)
      throws InterruptedException {
    lock.lockInterruptibly();
    try (SlowNodes.Watch _ = slow.name(talk)) {
      catchUps.stop(nodes);
      conversations.retain(nodes);
      home.forgetRefused();
      last.begin();
      boolean mustCheck = false;
      var attempts = new PushAttempts();
      while (true) {
        try {
          attempt(nodes, options, mustCheck, talk);
          return last.require(options, talk);
        } catch (NodeFailed lost) {
          attempts.failed("", _ -> lost.failure());
        } catch (Push.Again again) {
          int attempt = requireSteady(again, attempts);
          mustCheck |= isForAnotherLook(again);
          bring(again, nodes, talk, attempt);
        } catch (TreeChanged changed) {
          scan.forget(scan.root().relativize(changed.file()).toString());
          requireSteady(changed, attempts);
        }
      }
    } finally {
      conversations.dropAsked();
      lock.unlock();
    }
  }

  private void attempt(List<SyncNode> nodes, PushOptions options, boolean mustCheck, Talk talk)
      throws InterruptedException, NodeFailed, TreeChanged, Push.Again {
    OpeningConversations opening = conversations.open(nodes);
    PushOptions usual = usual(options);
    Scan found;
    try {
      if (mustCheck || usual.takesChangesHome()) {
        // The nodes look at theirs while this machine looks at its own.
        conversations.ask(nodes, editors.bringHome());
      }
      found = scan.scan(talk);
    } catch (InterruptedException | NodeFailed | TreeChanged | RuntimeException failed) {
      conversations.abandon(opening);
      throw failed;
    }
    var fresh = new HashSet<>(conversations.finish(opening));
    List<NodeConversation> open = conversations.of(nodes);
    // The look here may have waited for the user: what the nodes saw before is old then.
    boolean isOld = !open.stream().allMatch(NodeConversation::hasJustLooked);
    if (mustCheck) {
      conversations.look(open, editors.bringHome());
      fresh.addAll(open);
    }
    var changes = ChangesThere.Found.nothing();
    if (usual.takesChangesHome()) {
      // All are looked at: an edit that differs on another node stays where it is.
      conversations.look(open.stream().filter(fresh::add).toList(), editors.bringHome());
      changes = home.lookPatiently(open, found.manifest(), scan::rules);
    }
    done(found, home.run(push(found, changes, usual, talk), open, isOld ? Set.of() : fresh), nodes);
  }

  private Push push(Scan found, ChangesThere.Found changes, PushOptions options, Talk talk) {
    PushQuestions.Deletions deletions = last.deletions(found, conversations.known());
    var start = new Push.Start(found, changes, obstacles, deletions, last.newest());
    return new Push(conversations, home.changes(), start, options, talk);
  }

  private Push.Done done(Scan found, Push.Done done, List<SyncNode> nodes) {
    conversations.known(done.manifest());
    List<Integer> those = nodes.stream().map(node -> node.info().index()).toList();
    home.pushed(done.decisions().held(), those);
    slow.quick(those);
    last.done(done, found, conversations.all());
    return done;
  }

  /** What {@link #push} would do now; the nodes are asked what they have, and nothing changes. */
  public SyncView.Preview preview(List<SyncNode> nodes, PushOptions options, Talk talk)
      throws InterruptedException {
    var preview = new PushPreview(scan.apart(), conversations, home, obstacles, last, talk);
    try (SlowNodes.Watch _ = inBackground(nodes)) {
      return preview.of(nodes, usual(options), editors.bringHome());
    }
  }

  /** What the last push left out or changed. On any thread. */
  public LastPush last() {
    return last;
  }

  // ---- without a user

  /**
   * What a look without a user has found.
   *
   * @param pending paths that differ from what was pushed last
   * @param left paths that would be asked about or cannot be read, and why; they are as they were
   * @param root the hash of the whole tree
   */
  public record Looked(List<String> pending, Map<String, String> left, String root) {
    public Looked {
      pending = List.copyOf(pending);
      left = Map.copyOf(left);
    }
  }

  /**
   * What a push without a user has done.
   *
   * @param paths that went to the nodes
   */
  public record Pushed(Generation generation, List<String> paths) {
    public Pushed {
      paths = List.copyOf(paths);
    }
  }

  /**
   * Looks at the tree again, for {@link #pushLooked}. Asks no question.
   *
   * @param folders that may have changed since the last look; empty: all
   * @param waiting paths that are not read yet, because they keep changing
   */
  public Looked rescan(Optional<Set<Path>> folders, Set<String> waiting)
      throws InterruptedException {
    return locked(
        () -> {
          Scan found = scan.look(folders, waiting);
          looked = Optional.of(found);
          home.seen(found.manifest());
          List<String> pending = last.looked(found, conversations.known());
          return new Looked(pending, found.left(), found.manifest().root());
        });
  }

  /**
   * Moves all of these nodes to what {@link #rescan} has found, or none. Does not wait for a node
   * whose link is cut, and does not compare unchanged paths on the nodes: the push before a launch
   * does.
   *
   * @param check whether the nodes look at everything first
   * @throws NodeFailed the others can be pushed to without it
   * @throws GpushException what only the user can decide or change
   */
  public Pushed pushLooked(List<SyncNode> nodes, boolean check)
      throws InterruptedException, NodeFailed {
    try (SlowNodes.Watch _ = inBackground(nodes)) {
      conversations.retain(nodes);
      boolean mustCheck = check;
      if (check) {
        home.forgetRefused();
      }
      var attempts = new PushAttempts();
      while (true) {
        Conversations.requireReachable(nodes);
        try {
          return attemptLooked(nodes, mustCheck);
        } catch (NodeFailed failed) {
          if (!failed.isLost()) {
            throw failed;
          }
          attempts.failed("", _ -> failed.failure());
          if (attempts.count() >= 2) {
            throw failed;
          }
        } catch (Push.Again again) {
          int attempt = requireSteady(again, attempts);
          mustCheck |= isForAnotherLook(again);
          if (again.reason() instanceof Push.Reason.Moved) {
            home.awaitSettled(attempt);
          }
          Set<Path> folders = bring(again, nodes, Talk.silent(), attempt);
          Scan found = scan.look(Optional.of(folders), Set.of());
          looked = Optional.of(found);
          there().seen(found.manifest());
        } catch (TreeChanged changed) {
          leave(changed, requireSteady(changed, attempts));
        }
      }
    } catch (GpushException failed) {
      if (failed.failure() instanceof SyncFailure.NodeCannotWrite cannot) {
        throw NodeFailed.of(cannot.node(), failed);
      }
      throw failed;
    }
  }

  /**
   * Takes what the nodes hold as pushed, for a gateway that has just taken them over.
   *
   * @return their generation; empty when they differ, or cannot be asked
   */
  public Optional<Generation> learn(List<SyncNode> nodes) throws InterruptedException {
    try (SlowNodes.Watch _ = inBackground(nodes)) {
      Optional<Generation> held = conversations.learn(nodes);
      last.counts(conversations.all(), editors.node());
      return held;
    } catch (NodeFailed lost) {
      return Optional.empty();
    }
  }

  /** What brings changes on the editors' node here. */
  public Homecoming home() {
    return home;
  }

  /** The node where people edit. */
  public int editNode() {
    return editors.node();
  }

  /** What the editors' node reports without being asked. */
  public NodeWatch there() {
    return conversations.watch();
  }

  /**
   * Brings home what was changed on the editors' node, where the file here is still as it was sent.
   * The other nodes get it with the next push.
   *
   * @throws NodeFailed the node could not be looked at
   */
  public Homecoming.Came comeHome(SyncNode node, NodeWatch.Due due)
      throws InterruptedException, NodeFailed {
    try (SlowNodes.Watch _ = inBackground(List.of(node))) {
      if (!editors.bringHome() || looked.isEmpty()) {
        return Homecoming.Came.nothing(false);
      }
      for (int attempt = 1; ; attempt++) {
        try {
          conversations.openReachable(List.of(node));
          List<NodeConversation> one = conversations.of(List.of(node));
          Manifest here = looked.get().manifest();
          Homecoming.Came came = home.comeHome(one, due, here, usual(PushOptions.save()), last);
          last.hasKept();
          return came;
        } catch (NodeFailed failed) {
          if (attempt >= 2 || !failed.isLost()) {
            throw failed;
          }
        }
      }
    } catch (TreeChanged impossible) {
      throw new IllegalStateException("nothing was sent", impossible);
    }
  }

  /**
   * Waits until a slow node answers, and sends it the contents that it lacks, while other work goes
   * on. The next push includes it. Ends early when a command pushes to it.
   */
  public void catchUp(SyncNode node) throws InterruptedException, NodeFailed {
    catchUps.run(node);
  }

  private Pushed attemptLooked(List<SyncNode> nodes, boolean mustCheck)
      throws InterruptedException, NodeFailed, TreeChanged, Push.Again {
    Scan found = looked.orElseThrow(() -> new IllegalStateException("nothing was looked at"));
    var fresh = new HashSet<>(conversations.openReachable(nodes));
    List<NodeConversation> open = conversations.of(nodes);
    boolean looks = mustCheck || open.stream().anyMatch(NodeConversation::isOfAnotherFolder);
    if (looks) {
      conversations.look(open, editors.bringHome());
      fresh.addAll(open);
    }
    List<String> before = last.pending(found.manifest(), conversations.known());
    PushOptions options = usual(PushOptions.save());
    ChangesThere.Found changes =
        looks && options.bringsEditsHome()
            ? home.look(open, found.manifest(), scan::rules)
            : ChangesThere.Found.nothing();
    Push push = push(found, changes, options, Talk.silent());
    Push.Done done = done(found, home.run(push, open, fresh), nodes);
    List<String> paths =
        before.stream().filter(path -> !done.decisions().held().contains(path)).toList();
    return new Pushed(done.generation(), paths);
  }

  /** A refusal names the path to leave out: another look is needed only if it is a new one. */
  private boolean isForAnotherLook(Push.Again again) {
    return !(again.reason() instanceof Push.Reason.Refused(var refused)) || obstacles.add(refused);
  }

  /** Returns the folders in which something may have changed. */
  private Set<Path> bring(Push.Again again, List<SyncNode> nodes, Talk talk, int attempt)
      throws InterruptedException {
    if (!(again.reason() instanceof Push.Reason.Edited(_, var coming))) {
      return Set.of();
    }
    last.decided(coming.decided());
    obstacles.forget(coming.decided());
    boolean isEnough = attempt >= PushAttempts.MOST / 2;
    return home.bring(conversations.of(nodes), coming, isEnough, talk);
  }

  private static int requireSteady(Push.Again again, PushAttempts attempts) {
    return attempts.failed(
        again.reason().path(),
        all ->
            new GpushException(
                new SyncFailure.KeptChanging(all, again.reason().node(), again.reason().path()),
                again));
  }

  private int requireSteady(TreeChanged changed, PushAttempts attempts) {
    String path = scan.root().relativize(changed.file()).toString();
    var why = new SyncFailure.Unreadable(path, changed.why());
    return attempts.failed(path, _ -> new GpushException(why, changed));
  }

  /**
   * At first the file is left as it was; a node that lacks that version can only get the present.
   */
  private void leave(TreeChanged changed, int attempt) throws InterruptedException {
    String path = scan.root().relativize(changed.file()).toString();
    scan.forget(path);
    Set<Path> folder = attempt == 1 ? Set.of() : Set.of(changed.file().resolveSibling(""));
    looked = Optional.of(scan.look(Optional.of(folder), attempt == 1 ? Set.of(path) : Set.of()));
  }

  /** A push without a user stops waiting for this node. The push of a command goes on waiting. */
  public void abandon(SyncNode node) {
    if (isInBackground) {
      conversations.cut(node);
    }
  }

  /** Holds the lock until it is closed; meanwhile no slow node is waited for. */
  private SlowNodes.Watch inBackground(List<SyncNode> nodes) throws InterruptedException {
    lock.lockInterruptibly();
    isInBackground = true;
    SlowNodes.Watch watch = conversations.givingUpSlow(nodes);
    return () -> {
      watch.close();
      isInBackground = false;
      lock.unlock();
    };
  }

  private PushOptions usual(PushOptions options) {
    return editors.bringHome() ? options : options.leavingEdits();
  }

  /**
   * Brings a path of a node into the working tree. Asks before it replaces what was changed here
   * since the last push.
   *
   * @param path relative to the workspace there; a folder comes with all that is in it
   * @param target inside the root; usually {@code root/path}
   */
  public void pull(SyncNode node, String path, Path target, Talk talk) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      home.fetch(node, path, target.toAbsolutePath(), talk, PushAttempts.MOST);
    } finally {
      last.hasKept();
      lock.unlock();
    }
  }

  /** The tree as a push would send it now. Asks the nodes nothing, and the user nothing. */
  public Manifest look() throws InterruptedException {
    return locked(() -> scan.scan(Talk.silent()).manifest());
  }

  /** The tree that was pushed last; empty before the first push. */
  public Manifest pushed() throws InterruptedException {
    return locked(conversations::known);
  }

  private <T> T locked(Work<T, RuntimeException> work) throws InterruptedException {
    lock.lockInterruptibly();
    try {
      return work.run();
    } finally {
      lock.unlock();
    }
  }

  /** Why a path is not sent, as in {@code data/ (.gitignore:3)}; empty when it is. */
  public Optional<String> whyIgnored(String path) {
    lock.lock();
    try {
      return scan.whyIgnored(path);
    } finally {
      lock.unlock();
    }
  }

  /** Ends the conversations; what nodes hold stays. */
  @Override
  public void close() {
    tasks.close();
    lock.lock();
    try {
      conversations.close();
      scan.save();
    } finally {
      lock.unlock();
    }
  }
}
