package dev.gpush.sync;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.session.SyncView.Preview.Sent;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.talk.TalkAround;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.home.NewFile;
import dev.gpush.sync.node.FoundNames;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.Prepared.Obstacle;
import dev.gpush.sync.node.SyncNode;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.scan.TreeScan;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import dev.gpush.sync.tree.TreeChanged;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What a push would do: its looks and its decisions without its moves. Guarded by the lock of
 * {@link WorkspaceSync}.
 */
final class PushPreview {
  /** In which new files may meet others; in a tree with more, the push finds the rest. */
  private static final int MOST_FOLDERS = 500;

  private final TreeScan scan;
  private final Talk talk;
  private final Set<String> asked;
  private final Conversations conversations;
  private final Homecoming home;
  private final Obstacles obstacles;
  private final LastPush last;
  private Scan here;

  /** What a push has decided, and the moves that it would begin with. */
  record Ahead(Decisions decisions, Map<NodeConversation, SyncPlan> plans) {}

  /**
   * Looks at the tree already, without the lock: reading large files may take minutes.
   *
   * @param scan remembers nothing, so an answer to it is none to a push
   */
  PushPreview(
      TreeScan scan,
      Conversations conversations,
      Homecoming home,
      Obstacles obstacles,
      LastPush last,
      Talk talk)
      throws InterruptedException {
    var questions = new Questions(talk);
    this.scan = scan;
    this.here = scan.scan(questions);
    this.talk = talk;
    this.asked = questions.asked;
    this.conversations = conversations;
    this.home = home;
    this.obstacles = obstacles;
    this.last = last;
  }

  /** Waits for no slow node, and opens a broken conversation once more: others need the lock. */
  SyncView.Preview of(List<SyncNode> nodes, PushOptions options, boolean bringsHome)
      throws InterruptedException {
    var later = new Questions(talk);
    here = scan.scan(later); // What was saved or came home while others had the lock.
    asked.addAll(later.asked);
    Runnable back = home.changes().tryAll();
    try {
      try {
        return attempt(nodes, options, bringsHome);
      } catch (NodeFailed lost) {
        if (!lost.isLost()) {
          throw lost;
        }
        return attempt(nodes, options, bringsHome);
      }
    } catch (NodeFailed lost) {
      throw lost.isSlow()
          ? new GpushException(new AgentFailure.Slow(lost.node(), lost.why()), lost)
          : lost.failure();
    } catch (TreeChanged impossible) {
      throw new IllegalStateException("nothing was sent", impossible);
    } finally {
      back.run();
    }
  }

  private SyncView.Preview attempt(List<SyncNode> nodes, PushOptions options, boolean bringsHome)
      throws InterruptedException, NodeFailed, TreeChanged {
    Set<NodeConversation> fresh = new HashSet<>(conversations.openReachable(nodes));
    List<NodeConversation> open = conversations.of(nodes);
    conversations.look(open.stream().filter(node -> !fresh.contains(node)).toList(), bringsHome);
    if (open.stream().anyMatch(this::isEmptyOfEditors)) {
      home.changes().emptied(); // As the push does: nothing that came home is there any more.
    }
    ChangesThere.Found found =
        options.takesChangesHome()
            ? home.lookPatiently(open, here.manifest(), scan::rules)
            : ChangesThere.Found.nothing();
    var questions = new Questions(talk);
    Ahead ahead = ahead(found, obstacles.begun(List.of()), options, questions).ahead(open);
    List<Obstacle> inTheWay = inTheWay(ahead);
    if (!inTheWay.isEmpty()) {
      questions = new Questions(talk);
      ahead = ahead(found, obstacles.begun(inTheWay), options, questions).ahead(open);
    }
    var asks = new ArrayList<String>(asked);
    asks.addAll(questions.asked);
    return preview(ahead, found, asks);
  }

  private boolean isEmptyOfEditors(NodeConversation node) {
    return conversations.isOfEditors(node) && node.holds().generation().counter() == 0;
  }

  private Push ahead(
      ChangesThere.Found found, Obstacles known, PushOptions options, Talk questions) {
    PushQuestions.Deletions deletions = last.wouldDelete(here, conversations.known());
    var start = new Push.Start(here, found, known, deletions, last.newest());
    return new Push(conversations, home.changes(), start, options, questions);
  }

  /**
   * Files of others where a node would get a new one, which no manifest has and the push itself
   * finds with its first move. One of the same size may be the same, so it counts as that.
   */
  private List<Obstacle> inTheWay(Ahead ahead)
      throws InterruptedException, NodeFailed, TreeChanged {
    return conversations
        .each(
            "find",
            List.copyOf(ahead.plans().keySet()),
            node -> inTheWay(node, Objects.requireNonNull(ahead.plans().get(node))))
        .stream()
        .flatMap(List::stream)
        .toList();
  }

  private static List<Obstacle> inTheWay(NodeConversation node, SyncPlan plan) throws IOException {
    var made = new TreeMap<String, List<String>>();
    for (String path : plan.writes().keySet()) {
      if (node.holds().manifest().get(path).isEmpty()) {
        String folder = path.substring(0, Math.max(0, path.lastIndexOf('/')));
        made.computeIfAbsent(folder, _ -> new ArrayList<>()).add(path);
      }
    }
    if (made.isEmpty()) {
      return List.of();
    }
    var found = new ArrayList<Obstacle>();
    FoundNames names = node.find(made.keySet().stream().limit(MOST_FOLDERS).toList());
    made.forEach(
        (folder, paths) -> {
          FoundNames.Folder there = names.folders().get(folder);
          for (FoundNames.Name name : there == null ? List.<FoundNames.Name>of() : there.names()) {
            String path = folder.isEmpty() ? name.name() : folder + "/" + name.name();
            Entry ours = plan.writes().get(path);
            if (ours != null && paths.contains(path) && name.size() != size(ours)) {
              found.add(new Obstacle(node.index(), path, "foreign", 0));
            }
          }
        });
    return found;
  }

  private SyncView.Preview preview(Ahead ahead, ChangesThere.Found found, List<String> asks) {
    var comes = new TreeSet<String>(Manifest.ORDER);
    var removes = new TreeSet<String>(Manifest.ORDER);
    ahead.decisions().coming().forEach(each -> comes.add(each.path()));
    found.news().forEach(each -> comes.add(each.path()));
    found.newer().forEach(each -> comes.add(each.path()));
    found.news().stream()
        .flatMap(each -> each.from().stream())
        .map(NewFile.Deleted::path)
        .forEach(removes::add);
    found.deleted().forEach(each -> removes.add(each.path()));
    var sends = new TreeMap<String, Entry>(Manifest.ORDER);
    var deletes = new TreeSet<String>(Manifest.ORDER);
    for (SyncPlan plan : ahead.plans().values()) {
      sends.putAll(plan.writes());
      deletes.addAll(plan.deletes());
    }
    // What comes home, or was deleted there, is another thing in the tree that is sent then.
    sends.keySet().removeAll(comes);
    sends.keySet().removeAll(removes);
    deletes.removeAll(comes);
    return new SyncView.Preview(
        sends.entrySet().stream()
            .map(each -> new Sent(each.getKey(), size(each.getValue())))
            .toList(),
        bytes(sends.values(), SyncPlan.needs(ahead.plans().values()).keySet()),
        List.copyOf(deletes),
        List.copyOf(comes),
        List.copyOf(removes),
        last.words(ahead.decisions()),
        asks);
  }

  private static long size(Entry entry) {
    return entry instanceof Entry.File file ? file.size() : 0;
  }

  private static long bytes(Collection<Entry> entries, Set<String> needed) {
    Map<String, Long> sizes = new HashMap<>();
    for (Entry entry : entries) {
      if (entry instanceof Entry.File(var size, _, var hash) && needed.contains(hash)) {
        sizes.put(hash, size);
      }
    }
    return sizes.values().stream().mapToLong(size -> size).sum();
  }

  /** Keeps the questions, and goes on as if the user had agreed. */
  private static final class Questions extends TalkAround {
    private final Set<String> asked = new LinkedHashSet<>();

    Questions(Talk talk) {
      super(talk);
    }

    @Override
    public void confirm(String question, String flag) {
      if (!isAnswered(flag)) {
        asked.add(question);
      }
    }
  }
}
