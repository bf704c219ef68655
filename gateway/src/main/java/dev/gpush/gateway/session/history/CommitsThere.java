package dev.gpush.gateway.session.history;

import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Brings commits that were made on a node home, as {@code refs/gpush/NAME/BRANCH}. No branch of
 * this machine is touched. A ref that led to commits which are nowhere else stays under another
 * name, and one whose commits are on a branch here goes.
 */
final class CommitsThere {
  private static final String HEADS = "refs/heads/";
  private static final String STASH = "refs/stash";

  /** Of refs that kept their commits. */
  private static final int MOST_KEPT = 1000;

  private final String prefix;
  private final int number;
  private final LaptopRepository here;
  private final NodeRepository node;

  /**
   * @param name of the session
   * @param number of the node
   */
  CommitsThere(String name, int number, LaptopRepository here, NodeRepository node) {
    this.prefix = "refs/gpush/" + name + "/";
    this.number = number;
    this.here = here;
    this.node = node;
  }

  /**
   * Commits that are here now and on no branch.
   *
   * @param words for people
   * @param isNew whether some came just now
   */
  record Came(String words, boolean isNew) {}

  /** One for each branch, stash and tag of the node with such commits. */
  List<Came> bringHome(NodeRepository.State there) throws HistoryStopped, InterruptedException {
    Map<String, String> branches = branches(there);
    Set<String> wanted = new HashSet<>(branches.values());
    wanted.removeAll(here.present(wanted));
    if (!wanted.isEmpty()) {
      Set<String> had = here.present(there.refs().values());
      node.give(wanted, had, here::unpack);
    }
    var all = new ArrayList<Came>();
    for (var branch : branches.entrySet()) {
      String ref = prefix + branch.getKey();
      if (there.apart().containsKey(branch.getKey()) && isKept(ref, branch.getValue())) {
        continue;
      }
      if (here.isOnABranch(branch.getValue())) {
        Optional<String> old = here.value(ref);
        if (old.isPresent() && here.isOnABranch(old.get())) {
          here.delete(ref);
        }
      } else {
        boolean isNew = move(ref, branch.getValue());
        long count = here.countNew(branch.getValue());
        String words =
            Phrase.counted(count, "commit")
                + " of node "
                + number
                + " "
                + (count == 1 ? "is" : "are")
                + " here as "
                + ref;
        all.add(new Came(words, isNew));
      }
    }
    return all;
  }

  /** Whether another ref keeps it: it was the newest stash, or a tag of a branch there. */
  private boolean isKept(String ref, String commit) throws HistoryStopped, InterruptedException {
    return here.value(ref).isEmpty() && here.leadsTo(prefix, commit);
  }

  /** The tips that are to be home, by the names of their refs here. */
  static Map<String, String> branches(NodeRepository.State there) {
    var branches = new TreeMap<String, String>();
    there
        .head()
        .filter(head -> !head.startsWith("refs/"))
        .ifPresent(at -> branches.put("HEAD", at));
    there
        .refs()
        .forEach(
            (name, value) -> {
              if (name.startsWith(HEADS)) {
                branches.put(name.substring(HEADS.length()), value);
              } else if (name.equals(STASH)) {
                branches.put("stash", value);
              }
            });
    there.apart().forEach(branches::putIfAbsent);
    return branches;
  }

  /** Whether it was elsewhere. */
  private boolean move(String ref, String commit) throws HistoryStopped, InterruptedException {
    Optional<String> old = here.value(ref);
    if (old.equals(Optional.of(commit))) {
      return false;
    }
    if (old.isPresent() && !here.isAncestor(old.get(), commit) && !here.isOnABranch(old.get())) {
      here.set(free(ref), old.get());
    }
    here.set(ref, commit);
    return true;
  }

  private String free(String ref) throws HistoryStopped, InterruptedException {
    for (int number = 2; number < MOST_KEPT; number++) {
      String other = ref + "-" + number;
      if (here.value(other).isEmpty()) {
        return other;
      }
    }
    throw new HistoryStopped("too many refs begin with " + ref);
  }
}
