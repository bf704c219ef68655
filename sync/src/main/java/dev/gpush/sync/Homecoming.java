package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.time.Clock;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.home.LocalTrash;
import dev.gpush.sync.home.NewFile;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.NodeLost;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Brings home what was edited, made, deleted and renamed on the editors' node. Guarded by the lock
 * of {@link WorkspaceSync}.
 */
public final class Homecoming {
  /**
   * How long a change must be unchanged: an editor that replaces a file, or git, leaves it away for
   * less; a copy goes on growing.
   */
  static final Duration SETTLED = Duration.ofSeconds(1);

  /** For a command, which waits for what is not settled; what goes on changing stays. */
  private static final int MAX_LOOKS = 3;

  /** Of the paths that a line names. */
  private static final int NAMED = 8;

  private final TreeScan scan;
  private final LocalTrash trash;
  private final Conversations conversations;
  private final Duration settled;
  private final ChangesThere changes;

  /** What comes home before a push. */
  record Coming(List<EditsThere.Edit> edits, ChangesThere.Found found) {
    Coming {
      edits = List.copyOf(edits);
    }
  }

  /**
   * What has come home without a user.
   *
   * @param folders here in which something has changed
   * @param paths that have come
   * @param isLeft something has changed there that cannot come: a push says why
   * @param again when what was not complete may be
   */
  public record Came(
      Set<Path> folders, List<String> paths, boolean isLeft, Optional<Duration> again) {
    public Came {
      folders = Set.copyOf(folders);
      paths = List.copyOf(paths);
    }

    static Came nothing() {
      return new Came(Set.of(), List.of(), false, Optional.empty());
    }
  }

  /** Edits that are here and in no generation yet: path → hash. */
  private final Map<String, String> brought = new HashMap<>();

  Homecoming(
      TreeScan scan,
      LocalTrash trash,
      Conversations conversations,
      Duration settled,
      long largestNew,
      Clock clock) {
    this.scan = scan;
    this.trash = trash;
    this.conversations = conversations;
    this.settled = settled;
    this.changes = new ChangesThere(settled, largestNew, clock);
  }

  ChangesThere changes() {
    return changes;
  }

  /** The conversation with the editors' node, if it is one of these and can be asked. */
  private static Optional<NodeConversation> editorsNode(List<NodeConversation> nodes) {
    return nodes.stream()
        .filter(node -> node.index() == EditsThere.NODE)
        .filter(node -> node.holds().generation().counter() > 0)
        .findFirst();
  }

  /**
   * What may come home, if the editors' node is among these, which were checked just now.
   *
   * @param wanted what is here
   */
  ChangesThere.Found look(List<NodeConversation> nodes, Manifest wanted)
      throws InterruptedException, NodeLost, TreeChanged {
    Optional<NodeConversation> node = editorsNode(nodes);
    return node.isEmpty()
        ? ChangesThere.Found.nothing()
        : conversations
            .each("find", List.of(node.get()), one -> changes.look(one, wanted, scan::rules))
            .getFirst();
  }

  /**
   * What has just changed on the editors' node may come home after this.
   *
   * @param attempt the second attempt is made at once
   */
  void awaitSettled(int attempt) throws InterruptedException {
    if (attempt > 1) {
      Thread.sleep(settled);
    }
  }

  /** The same, after a moment for what is not settled. */
  ChangesThere.Found lookPatiently(List<NodeConversation> nodes, Manifest wanted)
      throws InterruptedException, NodeLost, TreeChanged {
    ChangesThere.Found found = look(nodes, wanted);
    for (int i = 1; i < MAX_LOOKS && found.isUnsettled(); i++) {
      Thread.sleep(settled);
      conversations.each(
          "check",
          editorsNode(nodes).stream().toList(),
          one -> {
            one.look(true);
            return true;
          });
      found = look(nodes, wanted);
    }
    return found;
  }

  /**
   * Brings it home. What is changed here meanwhile stays as it is, for the next attempt.
   *
   * @return the folders in which something may have changed
   */
  Set<Path> bring(List<NodeConversation> nodes, Coming coming, Talk talk)
      throws InterruptedException {
    List<NodeConversation> one =
        nodes.stream().filter(node -> node.index() == EditsThere.NODE).toList();
    var said = new Said();
    try {
      pull(one, pull -> bring(pull, coming, said), talk);
    } catch (NodeLost lost) {
      // The next attempt opens the conversation again, and finds what is left.
    } catch (TreeChanged impossible) {
      throw new IllegalStateException("nothing was sent", impossible);
    }
    said.to(talk);
    return said.folders(scan.root());
  }

  private void bring(Pull pull, Coming coming, Said said) throws IOException {
    for (EditsThere.Edit edit : coming.edits()) {
      said.touched.add(edit.path());
      pull.home(edit)
          .ifPresent(
              hash -> {
                brought.put(edit.path(), hash);
                said.edited.add(edit.path());
              });
    }
    for (ChangesThere.Newer newer : coming.found().newer()) {
      var edit = new EditsThere.Edit(newer.path(), newer.here());
      pull.home(edit)
          .ifPresent(
              hash -> {
                changes.broughtAgain(newer, hash);
                said.edited.add(edit.path());
              });
    }
    // First: where a file was, a folder may be now.
    for (NewFile.Deleted deleted : coming.found().deleted()) {
      Optional<Path> kept = pull.remove(deleted, trash);
      kept.ifPresent(
          place -> {
            said.deleted.add(deleted.path());
            said.kept = Optional.of(place);
          });
    }
    for (NewFile file : coming.found().news()) {
      bring(pull, file, said);
    }
    trash.prune();
  }

  private void bring(Pull pull, NewFile file, Said said) throws IOException {
    try {
      Optional<String> hash =
          file.from().isPresent()
              ? pull.rename(file.from().get(), file.path(), trash)
              : pull.arrive(file.path());
      if (hash.isPresent()) {
        changes.brought(file, hash.get());
        if (file.from().isPresent()) {
          said.renamed.add(file.from().get().path() + " to " + file.path());
          said.moved.add(file.from().get().path());
          said.moved.add(file.path());
          said.touched.add(file.from().get().path());
        } else {
          said.made.add(file.path());
        }
        said.touched.add(file.path());
      }
    } catch (LocalTree.Refused refused) {
      changes.refuse(file, String.valueOf(refused.getMessage()));
    }
  }

  // ---- without a user

  /**
   * Brings home what may come from a node that was looked at just now.
   *
   * @param wanted what is here
   */
  Came comeHome(List<NodeConversation> one, Manifest wanted)
      throws InterruptedException, NodeLost, TreeChanged {
    if (editorsNode(one).isEmpty()) {
      return Came.nothing();
    }
    ChangesThere.Found found = look(one, wanted);
    Optional<Duration> again = found.isUnsettled() ? Optional.of(settled) : Optional.empty();
    NodeHolds holds = one.getFirst().holds();
    var edits = new ArrayList<EditsThere.Edit>();
    boolean isLeft = !found.many().isEmpty() || edits(holds, wanted, edits);
    if (edits.isEmpty() && (found.isEmpty() || !found.many().isEmpty())) {
      return new Came(Set.of(), List.of(), isLeft, again);
    }
    var said = new Said();
    var coming = new Coming(edits, found);
    pull(one, pull -> bring(pull, coming, said), Talk.silent());
    return new Came(said.folders(scan.root()), said.paths(), isLeft, again);
  }

  /**
   * Finds files that were changed there and are here as they were sent, or as they came the last
   * time.
   *
   * @return whether others were changed there, too
   */
  private boolean edits(NodeHolds holds, Manifest wanted, List<EditsThere.Edit> edits) {
    brought.keySet().retainAll(holds.deviations().keySet());
    boolean isLeft = false;
    for (var each : new TreeMap<>(holds.deviations()).entrySet()) {
      if (!(each.getValue() instanceof NodeHolds.Deviation.Changed(var hash))) {
        continue;
      }
      String path = each.getKey();
      Optional<Entry> here = wanted.get(path);
      boolean isAsSent =
          here.equals(holds.manifest().get(path))
              || here.map(entry -> isContent(entry, brought.getOrDefault(path, ""))).orElse(false);
      if (here.isPresent() && isContent(here.get(), hash.orElse(""))) {
        continue;
      }
      if (isAsSent && hash.isPresent() && here.orElseThrow() instanceof Entry.File file) {
        edits.add(new EditsThere.Edit(path, file));
      } else {
        isLeft = true;
      }
    }
    return isLeft;
  }

  private static boolean isContent(Entry entry, String hash) {
    return entry instanceof Entry.File file && file.hash().equals(hash);
  }

  @FunctionalInterface
  interface Pulling {
    void with(Pull pull) throws IOException;
  }

  /** Has one conversation pull something. */
  void pull(List<NodeConversation> one, Pulling pulling, Talk talk)
      throws InterruptedException, NodeLost, TreeChanged {
    try {
      conversations.each(
          "pull",
          one,
          node -> {
            pulling.with(new Pull(scan.root(), LocalTree.of(scan.root()), node, talk));
            return true;
          });
    } catch (GpushException failed) {
      one.forEach(conversations::drop); // perhaps in the middle of a file
      throw failed;
    }
  }

  /** What has come. */
  private static final class Said {
    private final List<String> edited = new ArrayList<>();
    private final List<String> made = new ArrayList<>();
    private final List<String> renamed = new ArrayList<>();
    private final List<String> deleted = new ArrayList<>();
    private final List<String> moved = new ArrayList<>();
    private final List<String> touched = new ArrayList<>();
    private Optional<Path> kept = Optional.empty();

    void to(Talk talk) {
      say("edited", edited, "", talk);
      say("new", made, "", talk);
      say("renamed", renamed, "", talk);
      String where = kept.map(path -> " (kept, the last one as " + path + ")").orElse("");
      say("deleted", deleted, where, talk);
    }

    private static void say(String what, List<String> paths, String end, Talk talk) {
      if (!paths.isEmpty()) {
        int more = paths.size() - NAMED;
        String names = String.join(", ", paths.subList(0, Math.min(NAMED, paths.size())));
        talk.say(
            what
                + " on node 0, and now here as well: "
                + names
                + (more > 0 ? " and " + more + " more" : "")
                + end);
      }
    }

    List<String> paths() {
      return Stream.of(edited, made, moved, deleted).flatMap(List::stream).distinct().toList();
    }

    /** With those above: of a new folder, the one in which it is new. */
    Set<Path> folders(Path root) {
      var folders = new HashSet<Path>();
      Stream.of(edited, touched, deleted)
          .flatMap(List::stream)
          .forEach(path -> addFolders(root, path, folders));
      return folders;
    }

    private static void addFolders(Path root, String path, Set<Path> folders) {
      for (Path at = root.resolve(path).getParent();
          at != null && at.startsWith(root);
          at = at.getParent()) {
        folders.add(at);
      }
    }
  }

  /** Too many deletions to be meant. */
  static GpushException tooMany(List<String> paths, Manifest wanted) {
    return new GpushException(new SyncFailure.ManyDeleted(EditsThere.NODE, paths, wanted.size()));
  }
}
