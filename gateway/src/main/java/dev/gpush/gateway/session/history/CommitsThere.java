package dev.gpush.gateway.session.history;

import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Brings commits that were made on a node home, as {@code refs/gpush/NAME/BRANCH}. No branch of
 * this machine is touched. A ref that led to commits which are nowhere else stays under another
 * name, and one whose commits are on a branch here goes. One that cannot be set stops no other.
 */
final class CommitsThere {
  private static final String HEADS = "refs/heads/";
  private static final String STASH = "refs/stash";

  /** Of refs that kept their commits. */
  private static final int MOST_KEPT = 1000;

  private final String prefix;
  private final int number;
  private final LaptopRepository here;
  private final Pack pack;

  /**
   * @param name of the session
   * @param number of the node
   */
  CommitsThere(String name, int number, LaptopRepository here, Pack pack) {
    this.prefix = "refs/gpush/" + name + "/";
    this.number = number;
    this.here = here;
    this.pack = pack;
  }

  /** As {@link NodeRepository#give}. */
  @FunctionalInterface
  interface Pack {
    void give(Collection<String> wanted, Collection<String> had, NodeRepository.Unpack unpack)
        throws HistoryStopped, InterruptedException;
  }

  /**
   * Commits that are here now and on no branch.
   *
   * @param words for people
   * @param isNew whether some came just now
   */
  record Came(String words, boolean isNew) {}

  /**
   * What is here now.
   *
   * @param came one for each branch, stash and tag of the node with such commits
   * @param tips the commits that a ref here leads to
   * @param whyNot by the names of the refs that cannot be set here, of commits that no ref has
   */
  record Home(List<Came> came, Set<String> tips, Map<String, String> whyNot) {
    static final Home NOTHING = new Home(List.of(), Set.of(), Map.of());

    Home {
      came = List.copyOf(came);
      tips = Set.copyOf(tips);
      whyNot = Map.copyOf(whyNot);
    }
  }

  Home bringHome(NodeRepository.State there) throws HistoryStopped, InterruptedException {
    Map<String, String> branches = branches(there);
    Set<String> wanted = new HashSet<>(branches.values());
    wanted.removeAll(here.present(wanted));
    if (!wanted.isEmpty()) {
      Set<String> had = here.present(there.refs().values());
      pack.give(wanted, had, here::unpack);
    }
    var came = new ArrayList<Came>();
    var tips = new HashSet<String>();
    var whyNot = new TreeMap<String, String>();
    for (var branch : branches.entrySet()) {
      String ref = prefix + branch.getKey();
      boolean isApart = there.apart().containsKey(branch.getKey());
      try {
        if (!isApart || !isKept(ref, branch.getValue())) {
          bringHome(ref, branch.getValue(), branches.keySet()).ifPresent(came::add);
        }
        tips.add(branch.getValue());
      } catch (HistoryStopped stopped) {
        whyNot.put(ref, stopped.why());
      }
    }
    // What another ref leads to is here.
    whyNot.keySet().removeIf(ref -> tips.contains(branches.get(ref.substring(prefix.length()))));
    return new Home(came, tips, whyNot);
  }

  private Optional<Came> bringHome(String ref, String commit, Set<String> names)
      throws HistoryStopped, InterruptedException {
    if (here.isOnABranch(commit)) {
      Optional<String> old = here.value(ref);
      if (old.isPresent() && here.isOnABranch(old.get())) {
        deleteIfPossible(ref);
      }
      return Optional.empty();
    }
    boolean isNew = move(ref, commit, names);
    long count = here.countNew(commit);
    String words =
        Phrase.counted(count, "commit")
            + " of node "
            + number
            + " "
            + (count == 1 ? "is" : "are")
            + " here as "
            + ref;
    return Optional.of(new Came(words, isNew));
  }

  /** Its commits are on a branch here, so a ref that stays is only untidy. */
  private void deleteIfPossible(String ref) throws InterruptedException {
    try {
      here.delete(ref);
    } catch (HistoryStopped _) {
      // A later look tries it again.
    }
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
  private boolean move(String ref, String commit, Set<String> names)
      throws HistoryStopped, InterruptedException {
    Optional<String> old = here.value(ref);
    if (old.equals(Optional.of(commit))) {
      return false;
    }
    if (old.isEmpty()) {
      for (String other : here.inTheWay(prefix, ref)) {
        makeRoom(other, names);
      }
    } else if (!here.isAncestor(old.get(), commit)) {
      keep(ref, old.get(), ref);
    }
    here.set(ref, commit);
    return true;
  }

  /**
   * @param other of a branch that the node no longer has
   */
  private void makeRoom(String other, Set<String> names)
      throws HistoryStopped, InterruptedException {
    String name = other.substring(prefix.length());
    if (names.contains(name)) { // A stash beside a branch stash/x.
      throw new HistoryStopped("git has no ref of this name beside " + other);
    }
    Optional<String> old = here.value(other);
    if (old.isPresent()) {
      keep(other, old.get(), prefix + name.replace('/', '-'));
    }
    here.delete(other);
  }

  /** Before its ref moves or goes. Where that failed, the ref of the last time is enough. */
  private void keep(String ref, String commit, String name)
      throws HistoryStopped, InterruptedException {
    if (!here.isOnABranch(commit) && !here.isAtAnother(prefix, ref, commit)) {
      here.set(free(name), commit);
    }
  }

  private String free(String ref) throws HistoryStopped, InterruptedException {
    for (int number = 2; number < MOST_KEPT; number++) {
      String other = ref + "-" + number;
      if (here.value(other).isEmpty() && here.inTheWay(prefix, other).isEmpty()) {
        return other;
      }
    }
    throw new HistoryStopped("too many refs begin with " + ref);
  }
}
