package dev.gpush.sync;

import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.sync.home.Arrivals;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.home.LocalFile;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.home.NewFile;
import dev.gpush.sync.home.NodeWatch;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Predicate;
import java.util.stream.Stream;

/**
 * Brings home to the working tree what was edited, made, deleted and renamed on the editors' node:
 * before a push, and by itself between pushes. Guarded by the lock of {@link WorkspaceSync}.
 */
public final class Homecoming {
  /**
   * How long a change must be unchanged. An editor or git that replaces a file needs less; a file
   * that is being copied goes on growing.
   */
  static final Duration SETTLED = Duration.ofSeconds(1);

  /** A command waits for what still changes, for at most this many looks. */
  private static final int MAX_LOOKS = 3;

  /** Between two tries to bring what cannot be replaced here, such as what was made too large. */
  private static final Duration LONGEST = Duration.ofMinutes(1);

  private static final String OTHER_HERE = "the file here is not as it was sent";

  private final TreeScan scan;
  private final LocalTrash trash;
  private final Conversations conversations;
  private final Obstacles obstacles;
  private final Duration settled;
  private final Clock clock;
  private final ChangesThere changes;

  /**
   * Whether a file that comes home certainly replaces a version that both sides had. If not, as in
   * a new gateway until a push has held nothing, the file here goes to the trash.
   */
  private boolean isSure;

  /** What could not be replaced here at the last look, and the pause before the next try. */
  private Set<String> vain = Set.of();

  private Duration pause;

  private volatile Listener listener = (_, _) -> {};

  /** Called for everything that comes home. */
  @FunctionalInterface
  public interface Listener {
    /**
     * @param isSaid whether a command has named these to its user
     */
    void came(List<String> paths, boolean isSaid);
  }

  /**
   * What comes home before a push.
   *
   * @param removed what a user has decided to delete here
   */
  record Coming(
      List<Decisions.Coming> edits, List<Decisions.Coming> removed, ChangesThere.Found found) {
    private Stream<Decisions.Coming> merged() {
      return Stream.concat(edits.stream(), removed.stream());
    }

    Stream<String> paths() {
      return Stream.concat(merged().map(Decisions.Coming::path), found.paths());
    }

    /** Paths about which a user has decided. */
    List<String> decided() {
      return merged().filter(Decisions.Coming::isDecided).map(Decisions.Coming::path).toList();
    }
  }

  /**
   * What has come home without a user.
   *
   * @param folders here in which something has changed
   * @param paths that have come
   * @param isOfAll all was looked at; else the other parts say nothing of the rest
   * @param isLeft something has changed there that cannot come: a push says why
   * @param again when what was not complete, or could not be replaced here, is looked at once more
   */
  public record Came(
      Set<Path> folders,
      List<String> paths,
      boolean isOfAll,
      boolean isLeft,
      Optional<Duration> again) {
    public Came {
      folders = Set.copyOf(folders);
      paths = List.copyOf(paths);
    }

    static Came nothing(boolean isLeft) {
      return new Came(Set.of(), List.of(), true, isLeft, Optional.empty());
    }
  }

  Homecoming(
      TreeScan scan,
      LocalTrash trash,
      Conversations conversations,
      Obstacles obstacles,
      Duration settled,
      long largestNew,
      Clock clock) {
    this.scan = scan;
    this.trash = trash;
    this.conversations = conversations;
    this.obstacles = obstacles;
    this.settled = settled;
    this.pause = settled;
    this.clock = clock;
    this.changes = new ChangesThere(settled, largestNew, clock);
  }

  /** The listener is called on the thread that brings something, and must not block. */
  public void listen(Listener to) {
    listener = to;
  }

  /** Paths of new files and folders that stay there, and why. On any thread. */
  public Map<String, String> staying() {
    return changes.staying();
  }

  public LocalTrash trash() {
    return trash;
  }

  ChangesThere changes() {
    return changes;
  }

  /** The conversation with the editors' node, if it is one of these and has a generation. */
  private Optional<NodeConversation> editorsNode(List<NodeConversation> nodes) {
    return nodes.stream()
        .filter(conversations::isOfEditors)
        .filter(node -> node.holds().generation().counter() > 0)
        .findFirst();
  }

  /**
   * What may come home, if the editors' node is among these, which were checked just now.
   *
   * @param wanted what is here
   */
  ChangesThere.Found look(List<NodeConversation> nodes, Manifest wanted, ChangesThere.Rules rules)
      throws InterruptedException, NodeFailed, TreeChanged {
    List<NodeConversation> one = editorsNode(nodes).stream().toList();
    return conversations.each("find", one, node -> changes.look(node, wanted, rules)).stream()
        .findFirst()
        .orElse(ChangesThere.Found.nothing());
  }

  /**
   * Runs a push. One that ends in the middle of its commit does not say which files the editors'
   * node has left as they were, because they were changed there at that moment. Its manifest has
   * the version of the laptop for them then, and they look like edits of that.
   */
  Push.Done run(Push push, List<NodeConversation> open, Set<NodeConversation> fresh)
      throws InterruptedException, NodeFailed, TreeChanged, Push.Again {
    boolean isWithEditors = open.stream().anyMatch(conversations::isOfEditors);
    if (isWithEditors && editorsNode(open).isEmpty()) {
      changes.emptied();
    }
    boolean wasSure = isSure & open.stream().filter(NodeConversation::takeAnother).count() == 0;
    isSure = wasSure && !isWithEditors;
    try {
      Push.Done done = push.run(open, fresh);
      isSure = wasSure || (isWithEditors && done.decisions().held().isEmpty());
      return done;
    } catch (Push.Again nothingIsCommitted) {
      isSure = wasSure;
      throw nothingIsCommitted;
    }
  }

  /** What could not come may come now: the next look finds out. */
  void forgetRefused() {
    obstacles.forgetRefused();
    changes.refused().clear();
  }

  /**
   * Has what could not come tried again if the file here, which was away or was changed at that
   * moment, is as it was.
   *
   * @param here what is here
   */
  void seen(Manifest here) {
    Predicate<String> isFree =
        path -> LocalFile.isAsExpected(scan.root().resolve(path), here.get(path));
    conversations.watch().seen(here);
    if (obstacles.forgetRefused(OTHER_HERE, isFree) | changes.refused().forget(isFree)) {
      conversations.watch().due();
    }
  }

  /** These nodes have what is here, but for what is held. */
  void pushed(Set<String> held, List<Integer> nodes) {
    obstacles.retain(held, nodes);
    if (nodes.contains(conversations.editNode())) {
      changes.pushed(held);
    }
  }

  /** What a push would do with what the editors' node has. */
  Decisions decide(NodeConversation node, Manifest here, PushOptions options) {
    var nodes = new TreeMap<Integer, NodeHolds>(Map.of(node.index(), node.holds()));
    return Decisions.of(
        Decisions.Facts.of(here, nodes, obstacles, changes), options.rules(node.index()));
  }

  /** Waits until what has just changed there may come home. The second attempt is made at once. */
  void awaitSettled(int attempt) throws InterruptedException {
    if (attempt > 1) {
      clock.sleep(settled);
    }
  }

  /** The same, after a moment for what is not settled. */
  ChangesThere.Found lookPatiently(
      List<NodeConversation> nodes, Manifest wanted, ChangesThere.Rules rules)
      throws InterruptedException, NodeFailed, TreeChanged {
    ChangesThere.Found found = look(nodes, wanted, rules);
    for (int i = 1; i < MAX_LOOKS && found.isUnsettled(); i++) {
      clock.sleep(settled);
      conversations.look(editorsNode(nodes).stream().toList(), true);
      found = look(nodes, wanted, rules);
    }
    return found;
  }

  /**
   * Brings it home. What is changed here meanwhile stays as it is, for the next attempt.
   *
   * @param isEnough the next attempt leaves out what has not come now
   * @return the folders in which something may have changed
   */
  Set<Path> bring(List<NodeConversation> nodes, Coming coming, boolean isEnough, Talk talk)
      throws InterruptedException {
    List<NodeConversation> one = nodes.stream().filter(conversations::isOfEditors).toList();
    var arrivals = new Arrivals();
    if (!coming.decided().isEmpty()) {
      changes.refused().clear(); // What had no place may have one now.
    }
    try {
      bring(one, coming, arrivals, talk);
    } catch (NodeFailed lost) {
      // The next attempt opens the conversation again, and finds what is left.
    } catch (TreeChanged impossible) {
      throw new IllegalStateException("nothing was sent", impossible);
    }
    if (isEnough) {
      arrivals.vain().forEach(path -> obstacles.refuse(path, OTHER_HERE));
      changes.refused().add(coming.found(), arrivals.vain(), OTHER_HERE);
    }
    return arrivals.folders(scan.root());
  }

  private void bring(List<NodeConversation> one, Coming coming, Arrivals arrivals, Talk talk)
      throws InterruptedException, NodeFailed, TreeChanged {
    try {
      pull(one, pull -> bring(pull, coming, arrivals), talk);
    } finally {
      conversations.cameHome(arrivals.paths());
      arrivals.say(talk, conversations.editNode());
      if (!arrivals.paths().isEmpty()) {
        listener.came(arrivals.paths(), !talk.isSilent());
      }
    }
  }

  private void bring(Pull pull, Coming coming, Arrivals arrivals) throws IOException {
    for (Decisions.Coming edit : coming.edits()) {
      if (edit.isDecided() && edit.here().isEmpty()) {
        scan.requireFree(edit.path());
      }
    }
    pull.expect(coming.edits().stream().map(Decisions.Coming::path));
    pull.expect(coming.found().newer().stream().map(ChangesThere.Newer::path));
    pull.expect(
        coming.found().news().stream().filter(file -> file.from().isEmpty()).map(NewFile::path));
    // First: where a file was, a folder may be now.
    for (Decisions.Coming removed : coming.removed()) {
      arrivals.deleted(
          removed.path(),
          pull.remove(new NewFile.Deleted(removed.path(), removed.here().orElseThrow()), true));
    }
    for (NewFile.Deleted deleted : coming.found().deleted()) {
      arrivals.deleted(deleted.path(), pull.remove(deleted, false));
    }
    for (Decisions.Coming edit : coming.edits()) {
      long most = edit.isDecided() ? Long.MAX_VALUE : ChangesThere.LARGEST_EDIT;
      try {
        Optional<Entry> come =
            Pull.readable(() -> pull.home(edit, edit.isDecided() || isDoubted(edit), most));
        come.ifPresent(entry -> changes.edited(edit.path(), entry));
        arrivals.edited(edit.path(), edit.here(), come);
      } catch (LocalTree.Refused refused) {
        if (edit.isDecided()) {
          throw pull.notPulled(edit.path(), refused);
        }
        obstacles.refuse(edit.path(), String.valueOf(refused.getMessage()));
        conversations.watch().due(); // The next look has a push name it.
      }
    }
    for (ChangesThere.Newer newer : coming.found().newer()) {
      var edit = new Decisions.Coming(newer.path(), Optional.of(newer.here()), false);
      try {
        Optional<Entry> come =
            Pull.readable(() -> pull.home(edit, newer.isDoubted() || !isSure, changes.largest()));
        come.ifPresent(entry -> changes.broughtAgain(newer, entry));
        arrivals.edited(edit.path(), edit.here(), come);
      } catch (LocalTree.Refused refused) {
        changes.refused().add(newer);
      }
    }
    for (NewFile file : coming.found().news()) {
      bring(pull, file, arrivals);
    }
    trash.prune();
  }

  /** Whether who edited it there may not have seen what is here, so that nobody else has that. */
  private boolean isDoubted(Decisions.Coming edit) {
    return !isSure || conversations.hasJustGiven(edit.path());
  }

  private void bring(Pull pull, NewFile file, Arrivals arrivals) throws IOException {
    try {
      Optional<Entry> come =
          file.from().isPresent()
              ? pull.rename(file.from().get(), file.path())
              : Pull.readable(() -> pull.arrive(file));
      come.ifPresent(entry -> changes.brought(file, entry));
      arrivals.made(file, come);
    } catch (LocalTree.Refused refused) {
      changes.refused().add(file, String.valueOf(refused.getMessage()));
    }
  }

  // ---- without a user

  /**
   * Looks at a node, and brings home what may come.
   *
   * @param here what is here
   * @param options of a save
   * @param last what is held is named there already
   */
  Came comeHome(
      List<NodeConversation> one,
      NodeWatch.Due due,
      Manifest here,
      PushOptions options,
      LastPush last)
      throws InterruptedException, NodeFailed, TreeChanged {
    if (!due.isAll() && editorsNode(one).isPresent()) {
      Optional<Came> edits = editsOf(due.paths(), one, here, options);
      if (edits.isPresent()) {
        return edits.get();
      }
    }
    conversations.look(one, true);
    if (editorsNode(one).isEmpty()) {
      return Came.nothing(true); // Its folder was gone, and a push fills it.
    }
    ChangesThere.Found found = look(one, here, scan::rules);
    long looked = clock.nanos();
    Decisions decisions = decide(one.getFirst(), here, options);
    boolean isLeft = found.isMany() || last.differs(decisions);
    ChangesThere.Found coming = found.isMany() ? ChangesThere.Found.nothing() : found;
    var arrivals = new Arrivals();
    if (!decisions.coming().isEmpty() || !coming.isEmpty()) {
      bring(one, new Coming(decisions.coming(), List.of(), coming), arrivals, Talk.silent());
    }
    Optional<Duration> left = Optional.of(settled.minusNanos(clock.nanos() - looked));
    return came(arrivals, true, isLeft, left.filter(_ -> found.isUnsettled()));
  }

  private Came came(Arrivals arrivals, boolean isOfAll, boolean isLeft, Optional<Duration> left) {
    Set<String> now = arrivals.vain();
    boolean isKnown = vain.containsAll(now);
    if (isOfAll || !isKnown) {
      Duration longer = pause.compareTo(LONGEST.dividedBy(2)) < 0 ? pause.multipliedBy(2) : LONGEST;
      pause = isKnown && !now.isEmpty() ? longer : settled;
      vain = now;
    }
    Optional<Duration> again = left.or(() -> Optional.of(pause).filter(_ -> !now.isEmpty()));
    return new Came(arrivals.folders(scan.root()), arrivals.paths(), isOfAll, isLeft, again);
  }

  /** Only of these paths; empty when they are not all edits that may come, or as they were. */
  private Optional<Came> editsOf(
      Set<String> paths, List<NodeConversation> one, Manifest here, PushOptions options)
      throws InterruptedException, NodeFailed, TreeChanged {
    NodeConversation editors = one.getFirst();
    Manifest before = editors.holds().manifest();
    if (!editors.takeTold(paths)) {
      conversations.check(one, paths);
    }
    Set<String> missing = editors.holds().missing();
    Decisions decisions = decide(editors, here, options);
    boolean areEdits =
        paths.stream().noneMatch(path -> missing.contains(path) || decisions.held().contains(path));
    if (!areEdits || !editors.holds().manifest().equals(before)) {
      return Optional.empty();
    }
    List<Decisions.Coming> edits =
        decisions.coming().stream().filter(edit -> paths.contains(edit.path())).toList();
    var arrivals = new Arrivals();
    bring(one, new Coming(edits, List.of(), ChangesThere.Found.nothing()), arrivals, Talk.silent());
    return Optional.of(came(arrivals, false, false, Optional.empty()));
  }

  @FunctionalInterface
  interface Pulling {
    void with(Pull pull) throws IOException;
  }

  /**
   * Brings a path of a node into the working tree, for a user.
   *
   * @param target absolute
   */
  void fetch(SyncNode node, String path, Path target, Talk talk, int attempts)
      throws InterruptedException {
    for (int attempt = 1; ; attempt++) {
      try {
        conversations.finish(conversations.open(List.of(node)));
        pull(conversations.of(List.of(node)), pull -> pull.run(path, target), talk);
        return;
      } catch (NodeFailed lost) {
        if (attempt == attempts) {
          throw lost.failure();
        }
      } catch (TreeChanged impossible) {
        throw new IllegalStateException("nothing was sent", impossible);
      }
    }
  }

  /** Has one conversation pull something. */
  void pull(List<NodeConversation> one, Pulling pulling, Talk talk)
      throws InterruptedException, NodeFailed, TreeChanged {
    try {
      conversations.each(
          "pull",
          one,
          node -> {
            isSure &= !node.takeAnother();
            var had = new Pull.Had(isSure, path -> obstacles.isLate(node.index(), path));
            var pull = new Pull(scan.root(), LocalTree.of(scan.root()), node, trash, had, talk);
            pulling.with(pull);
            pull.end();
            return true;
          });
    } catch (RuntimeException failed) {
      one.forEach(conversations::drop); // perhaps in the middle of a file
      throw failed;
    }
  }
}
