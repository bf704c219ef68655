package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.node.FileSystems;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;

/**
 * What the last push that was done has left. What is public may be read on any thread; the rest is
 * guarded by the lock of {@link WorkspaceSync}.
 */
public final class LastPush {
  /** Deletions of which each follows the one before within this time may be one accident. */
  private static final Duration TOGETHER = Duration.ofSeconds(10);

  private final Path root;
  private final LocalTrash trash;
  private final Clock clock;
  private final Set<String> decided = new HashSet<>();
  private Map<String, Optional<Entry>> heldHere = Map.of();
  private Optional<String> head = Optional.empty();
  private Set<String> deletedLately = Set.of();
  private Set<String> pendingDeletions = Set.of();
  private long lastDeletion;

  private volatile List<HeldPath> held = List.of();
  private volatile List<SyncView.Trash> trashes = List.of();
  private volatile Generation generation = Generation.none();
  private volatile LongSupplier others = () -> 0;

  LastPush(Path root, LocalTrash trash, Clock clock) {
    this.root = root;
    this.trash = trash;
    this.clock = clock;
    this.lastDeletion = clock.nanos();
  }

  /** What stays as it is on all sides until a user decides. */
  public List<HeldPath> held() {
    return held;
  }

  /** Where replaced and deleted versions are. */
  public List<SyncView.Trash> trashes() {
    return trashes;
  }

  /** What all nodes held after it. */
  public Generation generation() {
    return generation;
  }

  /**
   * The number of a generation means one version, also when all nodes start again empty and know of
   * none.
   *
   * @param newest the newest that is known elsewhere, as to runs
   */
  public void numberAfter(LongSupplier newest) {
    others = newest;
  }

  /** The newest number that is known here. */
  long newest() {
    return Math.max(generation.counter(), others.getAsLong());
  }

  /** Another push begins. */
  void begin() {
    decided.clear();
  }

  /** A user's decision about these is carried out. */
  void decided(Collection<String> paths) {
    decided.addAll(paths);
  }

  /**
   * @param found what was on the laptop
   * @param nodes as {@link #counts}
   */
  void done(Push.Done done, Scan found, List<NodeConversation> nodes) {
    generation = done.generation();
    head = found.head();
    deletedLately = done.lately();
    decided.addAll(done.decisions().decided());
    var versions = new HashMap<String, Optional<Entry>>();
    done.decisions().held().forEach(path -> versions.put(path, found.manifest().get(path)));
    heldHere = versions;
    held = words(done.decisions());
    counts(nodes, done.decisions().editNode());
  }

  /**
   * Counts the trashes.
   *
   * @param nodes that have been asked; of those that share a file system, one counts
   */
  void counts(List<NodeConversation> nodes, int editNode) {
    var all = new ArrayList<SyncView.Trash>();
    trash.contents().ifPresent(all::add);
    FileSystems.of(nodes, editNode).writers().forEach(node -> node.trash().ifPresent(all::add));
    trashes = all;
  }

  /** Something was put into the trash here since. */
  void hasKept() {
    var all = new ArrayList<SyncView.Trash>();
    trash.contents().ifPresent(all::add);
    trashes.stream().filter(each -> each.node().isPresent()).forEach(all::add);
    trashes = all;
  }

  /**
   * A look has found this. While few files are gone, where HEAD is now counts: a commit does not
   * explain what goes after it.
   *
   * @return the paths that are pending
   */
  List<String> looked(Scan found, Manifest pushed) {
    int lately = deletions(found, pushed).lately().size();
    if (!ChangesThere.areMany(pendingDeletions.size() + lately, pushed.size() + lately)) {
      head = found.head();
    }
    return pending(found.manifest(), pushed);
  }

  /**
   * What came before the deletions that a push of this would bring. As long as some of them wait,
   * what has gone before them counts.
   */
  PushQuestions.Deletions deletions(Scan found, Manifest pushed) {
    Set<String> gone = gone(found, pushed);
    deletedLately = lately(gone);
    if (!pendingDeletions.containsAll(gone)) {
      lastDeletion = clock.nanos();
    }
    pendingDeletions = gone;
    return before(found, deletedLately);
  }

  /** The same for a preview, after which no push follows: nothing is remembered. */
  PushQuestions.Deletions wouldDelete(Scan found, Manifest pushed) {
    return before(found, lately(gone(found, pushed)));
  }

  private Set<String> gone(Scan found, Manifest pushed) {
    Manifest here = found.manifest();
    return pending(here, pushed).stream()
        .filter(path -> here.get(path).isEmpty())
        .collect(Collectors.toSet());
  }

  private Set<String> lately(Set<String> gone) {
    boolean isOver = clock.nanos() - lastDeletion > TOGETHER.toNanos();
    return isOver && Collections.disjoint(gone, pendingDeletions) ? Set.of() : deletedLately;
  }

  private PushQuestions.Deletions before(Scan found, Set<String> lately) {
    return new PushQuestions.Deletions(
        mayDelete(found),
        lately.stream()
            .filter(path -> found.manifest().get(path).isEmpty())
            .collect(Collectors.toSet()));
  }

  /** Of a node that took no part, what was known last. */
  List<HeldPath> words(Decisions decisions) {
    List<HeldPath> now = decisions.words(this::changedHere);
    if (decisions.isWithEditors()) {
      return now;
    }
    var before = new HashMap<String, HeldPath>();
    held.forEach(each -> before.put(each.path(), each));
    return now.stream().map(each -> before.getOrDefault(each.path(), each)).toList();
  }

  /**
   * Whether many files may go without asking, because HEAD has moved since they were there. A
   * repository that is gone has not: that is how an unmounted disk looks.
   */
  private boolean mayDelete(Scan found) {
    return head.isPresent() && found.head().isPresent() && !head.equals(found.head());
  }

  private Optional<Instant> changedHere(String path) {
    try {
      return Optional.of(
          Files.getLastModifiedTime(root.resolve(path), LinkOption.NOFOLLOW_LINKS).toInstant());
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /** Paths that differ from what was pushed, without those that are held as they are. */
  List<String> pending(Manifest here, Manifest pushed) {
    var paths = new TreeSet<String>(Manifest.ORDER);
    paths.addAll(here.differences(pushed));
    paths.addAll(heldHere.keySet());
    paths.removeIf(path -> here.get(path).equals(heldHere.get(path)));
    return List.copyOf(paths);
  }

  /**
   * Whether a push would hold more, or less.
   *
   * @param now of the editors' node alone
   */
  boolean differs(Decisions now) {
    boolean isLess =
        held.stream()
            .anyMatch(each -> each.node() == now.editNode() && !now.held().contains(each.path()));
    return isLess || !heldHere.keySet().containsAll(now.held());
  }

  /**
   * The generation, when nothing waits for a user.
   *
   * @param options with what the user has decided
   * @throws GpushException what is held, and was not left to be decided later; or paths of which
   *     nothing is held
   */
  Generation require(PushOptions options, Talk talk) {
    boolean isDecision = !options.kept().isEmpty();
    if (held.stream().anyMatch(each -> !isDecision || options.isKept(each.path()))) {
      throw new GpushException(new SyncFailure.Held(held));
    }
    held.forEach(each -> talk.say("still held: " + each.path() + ": " + each.why()));
    List<String> idle =
        options.kept().stream()
            .sorted()
            .filter(path -> decided.stream().noneMatch(each -> PushOptions.covers(path, each)))
            .toList();
    if (!idle.isEmpty()) {
      throw new GpushException(new SyncFailure.NotHeld(idle));
    }
    return generation;
  }
}
