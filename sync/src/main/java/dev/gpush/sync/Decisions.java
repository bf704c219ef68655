package dev.gpush.sync;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.failure.SyncFailure.HeldPath.Reason;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.Prepared.Obstacle;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Merge;
import dev.gpush.sync.tree.Version;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a push does with each path: {@link Merge} for each one alone, and then the paths that cannot
 * be where another one is held. Pure.
 */
final class Decisions {
  /** Beside what PREPARE says of an obstacle. */
  static final String LATE = "late";

  private static final Version ABSENT = new Version.Absent();

  /**
   * What is there.
   *
   * @param here what is on the laptop
   * @param nodes what those hold that are written to, by their numbers
   * @param obstacles what nodes have refused, and what was changed there at that moment
   * @param refused what cannot be on the laptop, and why
   * @param came new files that came home and are in no generation yet, as they came
   * @param edited the same for edits
   */
  record Facts(
      Manifest here,
      SortedMap<Integer, NodeHolds> nodes,
      List<Obstacle> obstacles,
      Map<String, String> refused,
      Map<String, Entry> came,
      Map<String, Entry> edited) {
    Facts {
      nodes = new TreeMap<>(nodes);
      obstacles = List.copyOf(obstacles);
      refused = Map.copyOf(refused);
      came = Map.copyOf(came);
      edited = Map.copyOf(edited);
    }

    static Facts of(
        Manifest here,
        SortedMap<Integer, NodeHolds> nodes,
        Obstacles obstacles,
        ChangesThere changes) {
      return new Facts(
          here,
          nodes,
          obstacles.among(nodes.keySet()),
          obstacles.refused(),
          changes.brought(),
          changes.edited());
    }
  }

  /**
   * How to decide.
   *
   * @param editNode the node where people edit
   * @param forced the laptop's version goes everywhere, also where no path is held
   * @param keep what a user wants of a path that is held
   */
  record Rules(
      int editNode,
      Merge.Editing editing,
      boolean forced,
      Predicate<String> kept,
      Merge.Keep keep) {}

  /**
   * A file or link of the editors' node that replaces what is here.
   *
   * @param here as it is here now; empty when nothing is
   * @param isDecided by a user, so that what is here goes to the trash: nobody else has it
   */
  record Coming(String path, Optional<Entry> here, boolean isDecided) {}

  private final Facts facts;
  private final Rules rules;
  private final SortedMap<String, Merge> merges = new TreeMap<>(Manifest.ORDER);
  private final NavigableSet<String> held = new TreeSet<>(Manifest.ORDER);
  private final Map<String, String> blockedBy = new HashMap<>();
  private final Set<String> decided = new HashSet<>();
  private final Map<String, Obstacle> obstacles = new HashMap<>();

  private Decisions(Facts facts, Rules rules) {
    this.facts = facts;
    this.rules = rules;
    facts.obstacles().forEach(each -> obstacles.putIfAbsent(each.path(), each));
  }

  static Decisions of(Facts facts, Rules rules) {
    var decisions = new Decisions(facts, rules);
    decisions.decideAll();
    decisions.holdWhatIsInTheWay();
    return decisions;
  }

  // ---- each path alone

  private void decideAll() {
    var paths = new TreeSet<String>(Manifest.ORDER);
    for (NodeHolds node : facts.nodes().values()) {
      paths.addAll(facts.here().differences(node.manifest()));
      paths.addAll(node.deviations().keySet());
    }
    paths.addAll(obstacles.keySet());
    paths.forEach(this::decide);
  }

  private void decide(String path) {
    Version here = here(path);
    Version there = there(path);
    Merge merge = alone(path, here, there);
    if (rules.forced() && !(merge instanceof Merge.LeaveAlone || merge instanceof Merge.Adopt)) {
      merge = Merge.kept(Merge.Keep.LAPTOP, here, there);
      decided.add(path);
    } else if (merge instanceof Merge.Hold(var reason)
        && rules.kept().test(path)
        && isNamed(path, reason, there)) {
      merge = Merge.kept(rules.keep(), here, there);
      decided.add(path);
    }
    merges.put(path, merge);
    if (merge instanceof Merge.Hold) {
      held.add(path);
    }
  }

  /** With "node" a user means the editors' node, and its version if it has one of its own. */
  private boolean isNamed(String path, Reason reason, Version there) {
    boolean isOfAnother = obstacle(path).map(each -> each.node() != rules.editNode()).orElse(false);
    return rules.keep() == Merge.Keep.LAPTOP
        || (!isOfAnother && (reason != Reason.OTHER_NODE || !there.is(ancestor(path))));
  }

  private Merge alone(String path, Version here, Version there) {
    Optional<Obstacle> obstacle = obstacle(path);
    if (obstacle.isPresent() && !(isLate(obstacle.get()) && here.is(there))) {
      return new Merge.Hold(reason(obstacle.get()));
    }
    Merge merge = Merge.of(ancestor(path), here, there, rules.editing());
    var others = new ArrayList<Version>();
    var written = new ArrayList<Version>();
    facts
        .nodes()
        .forEach(
            (node, holds) -> {
              if (node != rules.editNode() && holds.deviations().containsKey(path)) {
                others.add(holds.now(path));
                written.add(Version.of(holds.manifest().get(path)));
              }
            });
    return merge.among(result(merge, here, there), others, written);
  }

  private Reason reason(Obstacle obstacle) {
    if (!isLate(obstacle) && !obstacle.why().equals("foreign")) {
      return Reason.IN_THE_WAY;
    }
    return obstacle.node() == rules.editNode() ? Reason.CHANGED_BOTH : Reason.OTHER_NODE;
  }

  /** It was changed on the node at the moment in which it would have been replaced. */
  private static boolean isLate(Obstacle obstacle) {
    return obstacle.why().equals(LATE);
  }

  private static Version result(Merge merge, Version here, Version there) {
    return switch (merge) {
      case Merge.ComeHome _ -> there;
      case Merge.DeleteHere _, Merge.DeleteThere _ -> ABSENT;
      case Merge.Send _, Merge.Adopt _, Merge.LeaveAlone _, Merge.Hold _ -> here;
    };
  }

  private Optional<Obstacle> obstacle(String path) {
    return Optional.ofNullable(obstacles.get(path));
  }

  /** What the editors' node holds; without it, what the first node does. */
  private NodeHolds editors() {
    return facts.nodes().getOrDefault(rules.editNode(), facts.nodes().firstEntry().getValue());
  }

  private Version ancestor(String path) {
    return Version.of(
        Optional.ofNullable(facts.edited().get(path))
            .or(() -> editors().manifest().get(path))
            .or(() -> Optional.ofNullable(facts.came().get(path))));
  }

  private Version here(String path) {
    return Version.of(facts.here().get(path));
  }

  private Version there(String path) {
    NodeHolds editors = facts.nodes().get(rules.editNode());
    if (editors == null) {
      return ancestor(path);
    }
    if (isBelowObstacle(path)) {
      return ABSENT; // Something is where its folder would be.
    }
    if (obstacle(path)
        .filter(each -> each.node() == rules.editNode() && !isLate(each))
        .isPresent()) {
      return new Version.Unread("");
    }
    Version now = editors.manifest().get(path).isPresent() ? editors.now(path) : ancestor(path);
    boolean isTooLarge =
        now instanceof Version.Known(Entry.File file)
            && file.size() > ChangesThere.LARGEST_EDIT
            && editors.deviations().containsKey(path)
            && !now.is(here(path));
    if (isTooLarge) {
      return new Version.Unread("it has more than 50 MB");
    }
    Optional<String> whyNot = Optional.ofNullable(facts.refused().get(path));
    return whyNot.isPresent() && !now.isAbsent() && !now.is(ancestor(path))
        ? new Version.Unread(whyNot.get())
        : now;
  }

  private boolean isBelowObstacle(String path) {
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      Obstacle above = obstacles.get(path.substring(0, end));
      if (above != null && above.node() == rules.editNode() && !isLate(above)) {
        return true;
      }
    }
    return false;
  }

  // ---- paths that need the place of another one

  private void holdWhatIsInTheWay() {
    var obstacles = new TreeSet<String>(held);
    for (boolean isDone = held.isEmpty(); !isDone; ) {
      isDone = true;
      for (Map.Entry<String, Merge> each : merges.entrySet()) {
        String path = each.getKey();
        boolean isWanted = facts.here().get(path).isPresent();
        if (isWanted && !held.contains(path)) {
          Optional<String> obstacle = inTheWay(path, obstacles);
          if (obstacle.isPresent()) {
            held.add(path);
            obstacles.add(path);
            blockedBy.put(path, obstacle.get());
            each.setValue(new Merge.Hold(Reason.IN_THE_WAY));
            isDone = false;
          }
        }
      }
    }
  }

  private static Optional<String> inTheWay(String path, NavigableSet<String> obstacles) {
    for (int end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      if (obstacles.contains(path.substring(0, end))) {
        return Optional.of(path.substring(0, end));
      }
    }
    return Optional.ofNullable(obstacles.ceiling(path + "/")).filter(each -> isBelow(each, path));
  }

  private static boolean isBelow(String path, String folder) {
    return path.length() > folder.length()
        && path.startsWith(folder)
        && path.charAt(folder.length()) == '/';
  }

  // ---- the result

  /** The node where people edit. */
  int editNode() {
    return rules.editNode();
  }

  /** Whether what is there was decided about. */
  boolean isWithEditors() {
    return facts.nodes().containsKey(rules.editNode());
  }

  /** Paths that stay as they are on all sides. */
  Set<String> held() {
    return held;
  }

  /** Paths about which a user has decided. */
  Set<String> decided() {
    return decided;
  }

  /**
   * What all nodes hold after the push: what is here, but of what is held the version that both
   * sides had.
   */
  Manifest target() {
    Manifest.Draft draft = facts.here().draft();
    for (String path : held) {
      Optional<Entry> base = editors().manifest().get(path);
      base.ifPresentOrElse(entry -> draft.put(path, entry), () -> draft.remove(path));
    }
    return draft.done();
  }

  /**
   * Paths at which a node is not written to.
   *
   * @param isSave a save writes nothing again that was deleted: the next look brings it home
   */
  Set<String> stays(int node, boolean isSave) {
    NodeHolds holds = facts.nodes().getOrDefault(node, editors());
    var stays = new HashSet<String>();
    for (String path : held) {
      boolean isWritten =
          facts.here().get(path).equals(editors().manifest().get(path))
              && !holds.deviations().containsKey(path)
              && inTheWay(path, held).isEmpty() // It is held for this reason, or has two.
              && !obstacles.containsKey(path); // Refused on one node: on none until it is decided.
      if (!isWritten) {
        stays.add(path);
      }
    }
    if (isSave
        && node == rules.editNode()
        && rules.editing() == Merge.Editing.COMES_HOME
        && !rules.forced()) {
      merges.forEach(
          (path, merge) -> {
            if (merge instanceof Merge.DeleteHere) {
              stays.add(path);
            }
          });
    }
    return stays;
  }

  /**
   * Paths at which a node has what nobody else has, and which a user has decided; and those at
   * which the editors' node has what came home and was changed here since, which gpush did not
   * write there.
   */
  Set<String> trash(int node) {
    NodeHolds holds = facts.nodes().getOrDefault(node, editors());
    var trash = new HashSet<String>();
    for (String path : decided) {
      boolean isOwn = holds.deviations().containsKey(path) && !holds.now(path).isAbsent();
      if (isOwn || obstacle(path).isPresent()) {
        trash.add(path);
      }
    }
    if (node == rules.editNode()) {
      facts.edited().keySet().stream()
          .filter(path -> holds.deviations().containsKey(path) && isReplaced(path))
          .forEach(trash::add);
    }
    return trash;
  }

  private boolean isReplaced(String path) {
    Merge merge = merges.get(path);
    return merge instanceof Merge.Send || merge instanceof Merge.DeleteThere;
  }

  /** What comes home: first those whose places others may need. */
  List<Coming> coming() {
    var coming = new ArrayList<Coming>();
    merges.forEach(
        (path, merge) -> {
          if (merge instanceof Merge.ComeHome) {
            coming.add(new Coming(path, facts.here().get(path), decided.contains(path)));
          }
        });
    return coming;
  }

  /** What a user has decided to delete here. */
  List<Coming> deletedByDecision() {
    var deleted = new ArrayList<Coming>();
    merges.forEach(
        (path, merge) -> {
          if (merge instanceof Merge.DeleteHere && decided.contains(path)) {
            deleted.add(new Coming(path, facts.here().get(path), true));
          }
        });
    return deleted;
  }

  /**
   * What is held, for its user.
   *
   * @param changedHere when a file here was changed
   */
  List<HeldPath> words(Function<String, Optional<Instant>> changedHere) {
    var words = new ArrayList<HeldPath>();
    for (String path : held) {
      if (merges.get(path) instanceof Merge.Hold(var reason)) {
        words.add(word(path, reason, changedHere));
      }
    }
    return words;
  }

  private HeldPath word(
      String path, Reason reason, Function<String, Optional<Instant>> changedHere) {
    int node = reason == Reason.OTHER_NODE ? otherNode(path) : rules.editNode();
    Optional<Obstacle> obstacle = obstacle(path);
    NodeHolds.Deviation deviation =
        facts.nodes().containsKey(node) ? facts.nodes().get(node).deviations().get(path) : null;
    long seconds =
        obstacle.map(Obstacle::seconds).orElse(deviation == null ? 0 : deviation.seconds());
    String detail =
        switch (reason) {
          case IN_THE_WAY ->
              obstacle
                  .map(Decisions::inTheWay)
                  .orElseGet(() -> blockedBy.getOrDefault(path, "another path") + " is held");
          case CANNOT_COME -> there(path) instanceof Version.Unread(var whyNot) ? whyNot : "";
          case CHANGED_BOTH, DELETED_HERE, DELETED_THERE, STAYS_THERE, OTHER_NODE -> "";
        };
    return new HeldPath(
        path,
        reason,
        obstacle.map(Obstacle::node).orElse(node),
        changedHere.apply(path),
        seconds == 0 ? Optional.empty() : Optional.of(Instant.ofEpochSecond(seconds)),
        detail);
  }

  private static String inTheWay(Obstacle obstacle) {
    return "on node "
        + obstacle.node()
        + (obstacle.why().equals("parent")
            ? " it is no folder of gpush"
            : " it is something else, such as a folder");
  }

  private int otherNode(String path) {
    return facts.nodes().entrySet().stream()
        .filter(each -> each.getKey() != rules.editNode())
        .filter(each -> each.getValue().deviations().containsKey(path))
        .filter(each -> isOfItsOwn(each.getValue(), path))
        .map(Map.Entry::getKey)
        .findFirst()
        .orElse(rules.editNode());
  }

  /** Not where only the mode bit differs, which is set back. */
  private boolean isOfItsOwn(NodeHolds holds, String path) {
    Version now = holds.now(path);
    return !now.isAbsent()
        && !now.is(here(path))
        && !now.hasBytesOf(here(path))
        && !now.hasBytesOf(Version.of(holds.manifest().get(path)));
  }
}
