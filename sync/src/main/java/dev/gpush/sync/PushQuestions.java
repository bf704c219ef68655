package dev.gpush.sync;

import dev.gpush.core.talk.Talk;
import dev.gpush.sync.home.ChangesThere;
import dev.gpush.sync.node.Committed;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.node.SyncPlan;
import dev.gpush.sync.tree.Manifest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** What a push asks its user before it replaces or deletes much, and says afterwards. */
final class PushQuestions {
  /** Of the files that a question is about. */
  private static final int NAMED = 5;

  private final Deletions before;
  private final Talk talk;
  private Set<String> lately;

  /**
   * What came before the deletions of a push.
   *
   * @param mayBeMany many files may go without asking, as after a checkout
   * @param lately paths that have gone just before, without a question: a slow {@code rm -r} comes
   *     in many pushes, each of which would be small enough
   */
  record Deletions(boolean mayBeMany, Set<String> lately) {
    Deletions {
      lately = Set.copyOf(lately);
    }
  }

  PushQuestions(Deletions before, Talk talk) {
    this.before = before;
    this.talk = talk;
    this.lately = before.lately();
  }

  /** Paths that have gone without a question, with this push. */
  Set<String> lately() {
    return lately;
  }

  /** Files that were sent from elsewhere may exist nowhere else. */
  void askForReplaced(Map<NodeConversation, SyncPlan> plans) {
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

  static String named(List<String> paths) {
    String first = String.join(", ", paths.subList(0, Math.min(NAMED, paths.size())));
    return paths.size() <= NAMED ? first : first + ", …";
  }

  /** An unmounted disk looks like a user who has deleted everything. */
  void askForDeletes(
      Map<NodeConversation, SyncPlan> plans, int wanted, Predicate<NodeConversation> ofEditors) {
    Set<String> deletedThere =
        plans.keySet().stream()
            .filter(ofEditors)
            .flatMap(node -> node.holds().missing().stream())
            .collect(Collectors.toSet());
    var all = new HashSet<String>(before.lately());
    for (Map.Entry<NodeConversation, SyncPlan> entry : plans.entrySet()) {
      Manifest held = entry.getKey().holds().manifest();
      var gone = new HashSet<String>(entry.getValue().deletes());
      gone.removeAll(deletedThere);
      boolean isAny = !gone.isEmpty();
      int removed = (int) before.lately().stream().filter(path -> held.get(path).isEmpty()).count();
      int of = held.size() + removed;
      gone.addAll(before.lately());
      boolean isMany = ChangesThere.areMany(gone.size(), of) && !before.mayBeMany();
      if (isAny && (isMany || wanted == 0)) {
        String are = removed == 0 ? "" : " (" + removed + " are removed on the nodes already)";
        talk.confirm(
            gone.size()
                + " of "
                + of
                + " files are gone here"
                + are
                + ". Remove them on the nodes too?",
            "--yes");
        lately = Set.of();
        return;
      }
      all.addAll(gone);
    }
    lately = before.mayBeMany() ? Set.of() : all;
  }

  /** The same on the editors' node. */
  void askForDeletedThere(int gone, int of, int node) {
    talk.confirm(
        gone + " of " + of + " files are gone on node " + node + ". Delete them here, too?",
        "--yes");
  }

  /** Files of others that stayed on a node, and those that went to the trash. */
  void tell(int node, Committed answer) {
    String name = "node " + node;
    answer.trash().ifPresent(trash -> talk.say(name + ": overwritten files are in " + trash));
    if (!answer.emptied().isEmpty()) {
      talk.say(
          name + ": its trash was over the limit; removed the oldest: " + named(answer.emptied()));
    }
    if (!answer.kept().isEmpty()) {
      talk.say(name + " keeps files that were changed there: " + String.join(", ", answer.kept()));
    }
  }
}
