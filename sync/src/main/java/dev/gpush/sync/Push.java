package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.SyncFailure.Conflict;
import dev.gpush.core.talk.Talk;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.node.Bases;
import dev.gpush.sync.node.Blobs;
import dev.gpush.sync.node.Committed;
import dev.gpush.sync.node.FileSystems;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.NodeLost;
import dev.gpush.sync.node.Prepared;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;

/**
 * One attempt to move all nodes to one manifest. Either all commit, or nothing changes anywhere.
 */
final class Push {
  /** Contents that a node turns out not to have are sent at most this often. */
  private static final int MAX_SENDS = 3;

  /** A shared file system may show its followers an old state for this many checks … */
  private static final int MAX_LOOKS = 20;

  /** … this far apart: attribute caches of NFS live for some seconds. */
  private static final long LOOK_PAUSE_MILLIS = 200;

  /** Fewer deleted files than this, or than a fifth, are normal. */
  private static final int MANY_DELETES = 50;

  private static final int FIFTH = 5;

  /** Of the files that a question is about. */
  private static final int NAMED = 5;

  private final Conversations conversations;
  private final ChangesThere changes;
  private final ChangesThere.Found found;
  private final Scan scan;
  private final Manifest wanted;
  private final PushOptions options;
  private final boolean mayDelete;
  private final Talk talk;

  /** The nodes do not hold the expected generation. Never leaves the module. */
  static final class Moved extends Exception {
    private static final long serialVersionUID = 1;
  }

  /** Edits have to come home before anything can be sent. Never leaves the module. */
  static final class Edited extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Homecoming.Coming coming;

    Edited(Homecoming.Coming coming) {
      this.coming = coming;
    }

    Homecoming.Coming coming() {
      return coming;
    }
  }

  /**
   * @param changes on the editors' node, which come home before anything is sent
   * @param mayDelete many files may go without asking, as after a checkout
   */
  Push(
      Conversations conversations,
      ChangesThere changes,
      ChangesThere.Found found,
      Scan scan,
      PushOptions options,
      boolean mayDelete,
      Talk talk) {
    this.conversations = conversations;
    this.changes = changes;
    this.found = found;
    this.scan = scan;
    this.wanted = scan.manifest();
    this.options = options;
    this.mayDelete = mayDelete;
    this.talk = talk;
  }

  /**
   * @param fresh nodes that were looked at just now
   */
  Generation run(List<NodeConversation> nodes, Set<NodeConversation> fresh)
      throws InterruptedException, NodeLost, TreeChanged, Moved, Edited {
    FileSystems systems = FileSystems.of(nodes);
    if (found.isEmpty() && isThere(nodes)) {
      if (options.verify()) {
        check(nodes.stream().filter(node -> !fresh.contains(node)).toList());
      }
      if (isThere(nodes)) {
        return nodes.getFirst().holds().generation();
      }
    }
    // What was in the way at the last push may have gone since.
    check(
        nodes.stream()
            .filter(node -> !fresh.contains(node) && !node.holds().deviations().isEmpty())
            .toList());
    Map<NodeConversation, SyncPlan> plans = plan(systems.writers());
    if (options.compare()) {
      askForReplaced(plans);
    } else {
      askForDeletes(plans);
    }
    long last =
        nodes.stream().mapToLong(node -> node.holds().generation().counter()).max().orElse(0);
    var move =
        new NodeConversation.Move(
            wanted, new Generation(last + 1, wanted.root()), options.overwrite(), options.verify());
    tell(commit(plans, systems.writers(), move, fresh));
    awaitFollowers(systems);
    conversations.signatures().save();
    return move.to();
  }

  private boolean isThere(List<NodeConversation> nodes) {
    Generation first = nodes.getFirst().holds().generation();
    return first.counter() > 0
        && nodes.stream()
            .map(NodeConversation::holds)
            .allMatch(holds -> holds.isExactly(wanted) && holds.generation().equals(first));
  }

  private void check(List<NodeConversation> nodes)
      throws InterruptedException, NodeLost, TreeChanged {
    conversations.each(
        "check",
        nodes,
        node -> {
          node.check(wanted);
          return true;
        });
  }

  // ---- planning

  private Map<NodeConversation, SyncPlan> plan(List<NodeConversation> writers) throws Edited {
    var plans = new HashMap<NodeConversation, SyncPlan>();
    var conflicts = new ArrayList<Conflict>();
    for (NodeConversation node : writers) {
      SyncPlan plan = SyncPlan.plan(node.index(), wanted, node.holds(), options.overwrite());
      if (!plan.clashes().isEmpty()) {
        throw new GpushException(
            new SyncFailure.BadNames(
                plan.clashes(),
                "node "
                    + node.index()
                    + "'s file system does not distinguish names that differ only in case"));
      }
      conflicts.addAll(plan.conflicts());
      plans.put(node, ofEditors(node) ? withoutChanges(plan, node) : plan);
    }
    Optional<EditsThere> edits =
        options.bringsEditsHome()
            ? EditsThere.of(wanted, holds(writers), conflicts)
            : Optional.empty();
    if (edits.isEmpty()) {
      failOn(conflicts);
    }
    if (!found.many().isEmpty()) {
      throw Homecoming.tooMany(found.many(), wanted);
    }
    if (edits.isPresent() || !found.isEmpty()) {
      throw new Edited(
          new Homecoming.Coming(edits.map(EditsThere::edits).orElse(List.of()), found));
    }
    return plans;
  }

  private boolean ofEditors(NodeConversation node) {
    return node.index() == EditsThere.NODE && options.bringsEditsHome();
  }

  /**
   * What has come home is there, and need not be sent. A save does not write again what was deleted
   * there: the next look at the node brings the deletion home.
   */
  private SyncPlan withoutChanges(SyncPlan plan, NodeConversation node) {
    Set<String> deferred =
        options.verify() || options.overwrite()
            ? Set.of()
            : ChangesThere.deleted(node.holds(), wanted).keySet();
    return plan.without(deferred, changes::isBrought);
  }

  private static Map<Integer, NodeHolds> holds(List<NodeConversation> nodes) {
    return nodes.stream()
        .collect(Collectors.toMap(NodeConversation::index, NodeConversation::holds));
  }

  private static void failOn(List<Conflict> conflicts) {
    if (!conflicts.isEmpty()) {
      throw new GpushException(new SyncFailure.Conflicts(conflicts));
    }
  }

  /** Files that were sent from elsewhere may exist nowhere else. */
  private void askForReplaced(Map<NodeConversation, SyncPlan> plans) {
    for (Map.Entry<NodeConversation, SyncPlan> entry : plans.entrySet()) {
      Manifest held = entry.getKey().holds().manifest();
      List<String> other =
          entry.getValue().writes().keySet().stream()
              .filter(path -> held.get(path).isPresent())
              .toList();
      List<String> gone = entry.getValue().deletes();
      if (!other.isEmpty() || !gone.isEmpty()) {
        var all = new ArrayList<String>(other);
        all.addAll(gone);
        talk.confirm(
            "The nodes have "
                + files(other.size())
                + " different here and "
                + files(gone.size())
                + " not here ("
                + named(all)
                + "); gpush pull fetches a file first. Make the nodes match this folder?",
            "--yes");
        return;
      }
    }
  }

  private static String files(int count) {
    return count == 1 ? "1 file that is" : count + " files that are";
  }

  private static String named(List<String> paths) {
    String first = String.join(", ", paths.subList(0, Math.min(NAMED, paths.size())));
    return paths.size() <= NAMED ? first : first + ", …";
  }

  /** An unmounted disk looks like a user who has deleted everything. */
  private void askForDeletes(Map<NodeConversation, SyncPlan> plans) {
    Set<String> deletedThere =
        plans.keySet().stream()
            .filter(this::ofEditors)
            .flatMap(node -> node.holds().missing().stream())
            .collect(Collectors.toSet());
    for (Map.Entry<NodeConversation, SyncPlan> entry : plans.entrySet()) {
      int held = entry.getKey().holds().manifest().size();
      int gone =
          (int)
              entry.getValue().deletes().stream()
                  .filter(path -> !deletedThere.contains(path))
                  .count();
      boolean isMany = gone > MANY_DELETES && gone > held / FIFTH && !mayDelete;
      if (isMany || (gone > 0 && wanted.size() == 0)) {
        talk.confirm(
            gone + " of " + held + " files are gone here. Remove them on the nodes too?", "--yes");
        return;
      }
    }
  }

  // ---- moving

  private Map<NodeConversation, Committed> commit(
      Map<NodeConversation, SyncPlan> plans,
      List<NodeConversation> writers,
      NodeConversation.Move move,
      Set<NodeConversation> fresh)
      throws InterruptedException, NodeLost, TreeChanged, Moved {
    var committed = Collections.synchronizedMap(new HashMap<NodeConversation, Committed>());
    boolean isAlone = writers.size() == 1;
    boolean packs = !writers.stream().allMatch(NodeConversation::isHere);
    try (Talk.Step step = talk.step(what(plans));
        var blobs =
            new Blobs(
                scan.contents(),
                writers.size(),
                packs,
                Bases.of(plans),
                conversations.signatures())) {
      var sent = new AtomicInteger();
      List<Prepared> answers =
          conversations.each(
              "prepare",
              writers,
              node ->
                  prepare(
                      node,
                      Objects.requireNonNull(plans.get(node)),
                      move,
                      fresh.contains(node),
                      isAlone ? Optional.of(committed) : Optional.empty(),
                      blobs,
                      () -> step.detail(sent.incrementAndGet() + " sent")));
      failUnlessReady(writers, answers);
      if (!isAlone) {
        conversations.each(
            "commit",
            writers,
            node -> {
              committed.put(node, node.commit(move));
              return true;
            });
      }
      return committed;
    } catch (NodeLost | TreeChanged | Moved | RuntimeException failed) {
      abort(writers, committed);
      throw failed;
    }
  }

  private String what(Map<NodeConversation, SyncPlan> plans) {
    int files = plans.values().stream().mapToInt(plan -> plan.writes().size()).max().orElse(0);
    int gone = plans.values().stream().mapToInt(plan -> plan.deletes().size()).max().orElse(0);
    return "syncing " + files + " files" + (gone == 0 ? "" : ", deleting " + gone);
  }

  private Prepared prepare(
      NodeConversation node,
      SyncPlan plan,
      NodeConversation.Move move,
      boolean isFresh,
      Optional<Map<NodeConversation, Committed>> alone,
      Blobs blobs,
      Runnable sent)
      throws IOException, TreeChanged {
    List<String> needed = plan.blobs().stream().sorted().toList();
    Prepared answer = new Prepared.Moved();
    NodeConversation.Move how = move;
    for (int i = 0; i < MAX_SENDS; i++) {
      node.stage(needed, blobs, i > 0, sent);
      var committed = new ArrayList<Committed>();
      NodeConversation.Move now = isFresh && node.hasJustLooked() ? how.trusting() : how;
      answer =
          alone.isPresent() ? node.prepareAndCommit(plan, now, committed) : node.prepare(plan, now);
      committed.forEach(one -> alone.orElseThrow().put(node, one));
      if (answer instanceof Prepared.Blocked(var conflicts) && areReplaced(conflicts)) {
        how = move.overwriting();
        needed = List.of();
        continue;
      }
      if (!(answer instanceof Prepared.Missing(var hashes))) {
        return answer;
      }
      needed = hashes.stream().sorted().toList();
    }
    return answer;
  }

  /** It came home from there and was changed here since: what is there is the older one. */
  private boolean areReplaced(List<Conflict> conflicts) {
    return !conflicts.isEmpty()
        && conflicts.stream()
            .allMatch(
                each -> each.node() == EditsThere.NODE && found.replaced().contains(each.path()));
  }

  private void failUnlessReady(List<NodeConversation> writers, List<Prepared> answers)
      throws Moved {
    var conflicts = new ArrayList<Conflict>();
    boolean isMoved = false;
    for (int i = 0; i < writers.size(); i++) {
      switch (answers.get(i)) {
        case Prepared.Ready _ -> {}
        case Prepared.Blocked(var blocked) -> conflicts.addAll(blocked);
        case Prepared.Moved _, Prepared.Missing _ -> isMoved = true;
        case Prepared.CannotWrite(var code, var path, var detail) ->
            throw new GpushException(
                new SyncFailure.NodeCannotWrite(writers.get(i).index(), code, path, detail));
      }
    }
    // What has come home, and was changed there again meanwhile, comes again.
    boolean isNewer =
        !conflicts.isEmpty()
            && conflicts.stream()
                .allMatch(
                    each ->
                        each.node() == EditsThere.NODE
                            && changes.isBrought(each.path())
                            && !found.both().contains(each.path()));
    if (!isNewer) {
      failOn(conflicts);
    }
    if (isMoved || isNewer) {
      throw new Moved();
    }
  }

  /**
   * Those that are not committed forget the plan; a conversation that does not even answer that is
   * dropped.
   */
  private void abort(List<NodeConversation> writers, Map<NodeConversation, Committed> committed) {
    List<NodeConversation> left =
        writers.stream()
            .filter(node -> conversations.isOpen(node) && !committed.containsKey(node))
            .toList();
    try {
      conversations.each(
          "abort",
          left,
          node -> {
            node.abort();
            return true;
          });
    } catch (NodeLost | TreeChanged | GpushException gone) {
      left.forEach(conversations::drop);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Reports files of others that stayed, and those that went to the trash. */
  private void tell(Map<NodeConversation, Committed> committed) {
    var late = new ArrayList<Conflict>();
    committed.forEach(
        (node, answer) -> {
          answer
              .trash()
              .ifPresent(
                  trash ->
                      talk.say("node " + node.index() + ": overwritten files are in " + trash));
          if (!answer.emptied().isEmpty()) {
            talk.say(
                "node "
                    + node.index()
                    + ": its trash was over the limit; removed the oldest: "
                    + named(answer.emptied()));
          }
          if (!answer.kept().isEmpty()) {
            talk.say(
                "node "
                    + node.index()
                    + " keeps files that were changed there: "
                    + String.join(", ", answer.kept()));
          }
          answer.late().forEach(path -> late.add(new Conflict(node.index(), path, "changed")));
        });
    failOn(late);
  }

  /**
   * The others of a shared file system see what was written, at the latest when their caches are
   * old.
   */
  private void awaitFollowers(FileSystems systems)
      throws InterruptedException, NodeLost, TreeChanged {
    List<NodeConversation> behind = systems.followers();
    for (int i = 0; !behind.isEmpty(); i++) {
      check(behind);
      behind = behind.stream().filter(node -> !node.holds().isExactly(wanted)).toList();
      if (behind.isEmpty()) {
        return;
      }
      if (i == MAX_LOOKS) {
        throw new GpushException(
            new SyncFailure.NodeCannotWrite(
                behind.getFirst().index(),
                "stale",
                behind.getFirst().node().info().workspace(),
                "the shared file system does not show it the new files"));
      }
      Thread.sleep(LOOK_PAUSE_MILLIS);
    }
  }
}
