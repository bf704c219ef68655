package dev.gpush.sync;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.talk.Talk;
import dev.gpush.sync.PushQuestions.Deletions;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.node.Bases;
import dev.gpush.sync.node.Blobs;
import dev.gpush.sync.node.Committed;
import dev.gpush.sync.node.FileSystems;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.NodeHolds;
import dev.gpush.sync.node.Prepared;
import dev.gpush.sync.node.Prepared.Obstacle;
import dev.gpush.sync.node.SendCount;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

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

  /** The reason for a refusal that another look at the node explains. */
  private static final String CHANGED = "changed";

  private final Conversations conversations;
  private final ChangesThere changes;
  private final ChangesThere.Found found;
  private final Scan scan;

  /** What is here. */
  private final Manifest wanted;

  private final PushOptions options;
  private final Decisions.Rules rules;
  private final Start start;
  private final PushQuestions questions;
  private final Talk talk;

  /** Another attempt has to be made. Never leaves the module. */
  static final class Again extends Exception {
    private static final long serialVersionUID = 1;

    private final transient Reason reason;

    Again(Reason reason) {
      super(reason.path());
      this.reason = reason;
    }

    Reason reason() {
      return reason;
    }
  }

  /** Why another attempt has to be made. */
  sealed interface Reason {
    int node();

    /** On the node; empty when it is not known. */
    String path();

    /** The nodes do not hold the expected generation. */
    record Moved(int node, String path) implements Reason {}

    /** Edits have to come home before anything can be sent. */
    record Edited(int node, Homecoming.Coming coming) implements Reason {
      @Override
      public String path() {
        return coming.paths().findFirst().orElse("");
      }
    }

    /** Nodes have refused something, which another attempt has to leave out. */
    record Refused(List<Obstacle> obstacles) implements Reason {
      @Override
      public int node() {
        return obstacles.getFirst().node();
      }

      @Override
      public String path() {
        return obstacles.getFirst().path();
      }
    }
  }

  /**
   * What a push has done.
   *
   * @param manifest what all nodes hold
   */
  record Done(Generation generation, Manifest manifest, Decisions decisions, Set<String> lately) {}

  /**
   * What a push begins with.
   *
   * @param found on the editors' node, which comes home before anything is sent
   * @param obstacles what nodes have refused
   * @param newest no generation up to this number is on nodes that are empty
   */
  record Start(
      Scan scan, ChangesThere.Found found, Obstacles obstacles, Deletions deletions, long newest) {}

  Push(
      Conversations conversations,
      ChangesThere changes,
      Start start,
      PushOptions options,
      Talk talk) {
    this.conversations = conversations;
    this.changes = changes;
    this.found = start.found();
    this.scan = start.scan();
    this.wanted = scan.manifest();
    this.options = options;
    this.rules = options.rules(conversations.editNode());
    this.start = start;
    this.questions = new PushQuestions(start.deletions(), talk);
    this.talk = talk;
  }

  /**
   * @param fresh nodes that were looked at just now
   */
  Done run(List<NodeConversation> nodes, Set<NodeConversation> fresh)
      throws InterruptedException, NodeFailed, TreeChanged, Again {
    FileSystems systems = FileSystems.of(nodes, conversations.editNode());
    // What was in the way at the last push may have gone since.
    checkDeviations(nodes.stream().filter(node -> !fresh.contains(node)).toList());
    Decisions decisions = decide(systems.writers());
    if (comesNothing(decisions) && isThere(nodes, decisions)) {
      if (options.verify()) {
        check(nodes.stream().filter(node -> !fresh.contains(node)).toList());
        decisions = decide(systems.writers());
      }
      if (comesNothing(decisions) && isThere(nodes, decisions)) {
        Generation same = nodes.getFirst().holds().generation();
        return new Done(same, decisions.target(), decisions, questions.lately());
      }
    }
    bringHome(decisions);
    Manifest target = decisions.target();
    Map<NodeConversation, SyncPlan> plans = plan(systems.writers(), decisions, target);
    ask(plans);
    if (options.compare()) {
      plans.replaceAll((node, plan) -> plan.keeping(node.holds()));
    }
    long last = Math.max(start.newest(), Conversations.newest(nodes));
    var next = new Generation(last + 1, target.root());
    var move = new NodeConversation.Move(target, next, options.overwrite(), options.verify());
    tell(commit(plans, systems.writers(), move, fresh));
    awaitFollowers(systems, target, decisions);
    return new Done(move.to(), target, decisions, questions.lately());
  }

  /** What {@link #run} would do to nodes that were looked at just now. */
  PushPreview.Ahead ahead(List<NodeConversation> nodes) {
    List<NodeConversation> writers = FileSystems.of(nodes, conversations.editNode()).writers();
    Decisions decisions = decide(writers);
    askForDeletedThere();
    Map<NodeConversation, SyncPlan> plans = plan(writers, decisions, decisions.target());
    ask(plans);
    return new PushPreview.Ahead(decisions, plans);
  }

  private void ask(Map<NodeConversation, SyncPlan> plans) {
    if (!options.compare()) {
      questions.askForDeletes(plans, wanted.size(), this::ofEditors);
    } else if (!options.overwrite()) {
      questions.askForReplaced(plans);
    }
  }

  private boolean isThere(List<NodeConversation> nodes, Decisions decisions) {
    Generation first = nodes.getFirst().holds().generation();
    Manifest target = decisions.target();
    return first.counter() > 0
        && nodes.stream()
            .allMatch(
                node ->
                    isThere(node, target, decisions) && node.holds().generation().equals(first));
  }

  private boolean isThere(NodeConversation node, Manifest target, Decisions decisions) {
    return node.holds().isExactly(target, decisions.stays(node.index(), !options.verify()));
  }

  private void check(List<NodeConversation> nodes)
      throws InterruptedException, NodeFailed, TreeChanged {
    check(nodes, conversations.known());
  }

  /**
   * @param known what they probably hold
   */
  private void check(List<NodeConversation> nodes, Manifest known)
      throws InterruptedException, NodeFailed, TreeChanged {
    conversations.each(
        "check",
        nodes,
        node -> {
          node.check(known);
          return true;
        });
  }

  private void checkDeviations(List<NodeConversation> nodes)
      throws InterruptedException, NodeFailed, TreeChanged {
    conversations.each(
        "check",
        nodes.stream().filter(node -> !node.holds().deviations().isEmpty()).toList(),
        node -> {
          node.check(node.holds().deviations().keySet());
          return true;
        });
  }

  // ---- planning

  private Decisions decide(List<NodeConversation> writers) {
    var holds = new TreeMap<Integer, NodeHolds>();
    writers.forEach(node -> holds.put(node.index(), node.holds()));
    return Decisions.of(Decisions.Facts.of(wanted, holds, start.obstacles(), changes), rules);
  }

  private boolean comesNothing(Decisions decisions) {
    return found.isEmpty()
        && decisions.coming().isEmpty()
        && decisions.deletedByDecision().isEmpty();
  }

  private void bringHome(Decisions decisions) throws Again {
    askForDeletedThere();
    if (!comesNothing(decisions)) {
      var coming = new Homecoming.Coming(decisions.coming(), decisions.deletedByDecision(), found);
      throw new Again(new Reason.Edited(conversations.editNode(), coming));
    }
  }

  private void askForDeletedThere() {
    if (found.isMany()) {
      questions.askForDeletedThere(found.deleted().size(), wanted.size(), conversations.editNode());
    }
  }

  private Map<NodeConversation, SyncPlan> plan(
      List<NodeConversation> writers, Decisions decisions, Manifest target) {
    var plans = new HashMap<NodeConversation, SyncPlan>();
    for (NodeConversation node : writers) {
      var trash = new HashSet<String>(decisions.trash(node.index()));
      if (conversations.isOfEditors(node)) {
        trash.addAll(found.replaced()); // It came home from there and was changed here since.
      }
      SyncPlan plan =
          SyncPlan.plan(
              target, node.holds(), decisions.stays(node.index(), !options.verify()), trash);
      if (!plan.clashes().isEmpty()) {
        throw new GpushException(
            new SyncFailure.BadNames(
                plan.clashes(),
                "node "
                    + node.index()
                    + "'s file system does not distinguish names that differ only in case"));
      }
      // What has come home is there, and need not be sent.
      plans.put(node, ofEditors(node) ? plan.without(changes::isBrought) : plan);
    }
    return plans;
  }

  private boolean ofEditors(NodeConversation node) {
    return conversations.isOfEditors(node) && options.bringsEditsHome();
  }

  // ---- moving

  private Map<NodeConversation, Committed> commit(
      Map<NodeConversation, SyncPlan> plans,
      List<NodeConversation> writers,
      NodeConversation.Move move,
      Set<NodeConversation> fresh)
      throws InterruptedException, NodeFailed, TreeChanged, Again {
    var committed = Collections.synchronizedMap(new HashMap<NodeConversation, Committed>());
    boolean isAlone = writers.size() == 1;
    boolean packs = !writers.stream().allMatch(node -> node.node().isHere());
    try (Talk.Step step = talk.step(what(plans));
        var blobs =
            new Blobs(
                scan.contents(),
                SyncPlan.needs(plans.values()),
                packs,
                Bases.of(plans),
                conversations.signatures())) {
      var sent = new SendCount(step, plans.values());
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
                      sent.sent(Objects.requireNonNull(plans.get(node)))));
      failUnlessReady(writers, answers);
      if (!isAlone) {
        conversations.each(
            "commit",
            writers,
            node -> {
              committed.put(node, node.commit(Objects.requireNonNull(plans.get(node)), move));
              return true;
            });
      }
      return committed;
    } catch (NodeFailed | TreeChanged | Again | RuntimeException failed) {
      abort(writers, committed);
      throw failed;
    } finally {
      plans.forEach((node, plan) -> conversations.gave(node, plan, this::isAsItCame));
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
    Prepared answer = new Prepared.Missing(Set.of());
    for (int i = 0; i < MAX_SENDS; i++) {
      node.stage(needed, blobs, i > 0, sent);
      var committed = new ArrayList<Committed>();
      NodeConversation.Move now = isFresh && node.hasJustLooked() ? move.trusting() : move;
      answer =
          alone.isPresent() ? node.prepareAndCommit(plan, now, committed) : node.prepare(plan, now);
      committed.forEach(one -> alone.orElseThrow().put(node, one));
      if (!(answer instanceof Prepared.Missing(var hashes))) {
        return answer;
      }
      needed = hashes.stream().sorted().toList();
    }
    return answer;
  }

  private void failUnlessReady(List<NodeConversation> writers, List<Prepared> answers)
      throws Again {
    var refused = new ArrayList<Obstacle>();
    var moved = new ArrayList<Obstacle>();
    for (int i = 0; i < writers.size(); i++) {
      int node = writers.get(i).index();
      switch (answers.get(i)) {
        case Prepared.Ready _ -> {}
        case Prepared.Blocked(var blocked) -> refused.addAll(blocked);
        case Prepared.Moved(var path) -> moved.add(new Obstacle(node, path, CHANGED, 0));
        case Prepared.Missing _ -> moved.add(new Obstacle(node, "", CHANGED, 0));
        case Prepared.CannotWrite(var code, var path, var detail) ->
            throw new GpushException(new SyncFailure.NodeCannotWrite(node, code, path, detail));
      }
    }
    for (Obstacle each : refused) {
      if (isNewer(each)) {
        changes.doubt(each.path());
        moved.add(each);
      } else if (each.why().equals(CHANGED)) {
        moved.add(each); // Another look at the node tells more of it.
      }
    }
    if (!moved.isEmpty()) {
      throw new Again(new Reason.Moved(moved.getFirst().node(), moved.getFirst().path()));
    }
    if (!refused.isEmpty()) {
      throw new Again(new Reason.Refused(refused));
    }
  }

  /** It came home, and is something else there now; the next look brings it home. */
  private boolean isNewer(Obstacle obstacle) {
    return obstacle.node() == conversations.editNode()
        && changes.isBrought(obstacle.path())
        && !found.both().contains(obstacle.path());
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
    } catch (NodeFailed | TreeChanged | GpushException gone) {
      left.forEach(conversations::drop);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private void tell(Map<NodeConversation, Committed> committed) throws Again {
    committed.forEach((node, answer) -> questions.tell(node.index(), answer));
    var late = new ArrayList<Obstacle>();
    var moved = new ArrayList<Obstacle>();
    for (Map.Entry<NodeConversation, Committed> each : committed.entrySet()) {
      NodeConversation node = each.getKey();
      for (String path : each.getValue().late()) {
        // An edit of what came home before comes, too.
        boolean isEdit = ofEditors(node) && isAsItCame(path);
        (isEdit ? moved : late).add(new Obstacle(node.index(), path, Decisions.LATE, 0));
      }
    }
    if (!late.isEmpty()) {
      throw new Again(new Reason.Refused(late));
    }
    if (!moved.isEmpty()) {
      throw new Again(new Reason.Moved(moved.getFirst().node(), moved.getFirst().path()));
    }
  }

  /** Whether it is here as the editors' node had it. */
  private boolean isAsItCame(String path) {
    Optional<Entry> here = wanted.get(path);
    return here.isPresent()
        && (here.equals(Optional.ofNullable(changes.edited().get(path)))
            || here.equals(Optional.ofNullable(changes.brought().get(path))));
  }

  /**
   * The others of a shared file system see what was written, at the latest when their caches are
   * old.
   */
  private void awaitFollowers(FileSystems systems, Manifest target, Decisions decisions)
      throws InterruptedException, NodeFailed, TreeChanged {
    List<NodeConversation> behind = systems.followers();
    for (int i = 0; !behind.isEmpty(); i++) {
      check(behind, target);
      behind = behind.stream().filter(node -> !isThere(node, target, decisions)).toList();
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
