package dev.gpush.gateway.session.history;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.git.GitFolder;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The repository of the workspace on this machine. */
final class LaptopRepository {
  private static final String HEADS = "refs/heads/";

  /** The branches of this machine as the node has them. */
  private static final String REMOTE = "refs/remotes/laptop/";

  /** With a third word where it is another name of a branch. */
  private static final String LINE = "--format=%(objectname) %(refname) %(symref) %(*objectname)";

  /** From a node, which is not trusted. */
  private static final String MOST_BYTES = "--max-input-size=2147483648";

  /** Of a larger history, the newest commits are sent. */
  private static final long MOST_PACKED = 1L << 30;

  private static final int NEWEST = 1000;

  /** Of a larger history, the newest commit goes first. */
  private static final long SLOW_PACKED = 16 << 20;

  /** Rules of git for one repository that are longer are no rules. */
  private static final int MOST_LINES = 1000;

  private final GitFolder folder;
  private final Optional<Integer> most;
  private final Git git;

  /**
   * @param most the number of commits that are sent at first, the newest; empty: all, up to 1 GiB
   */
  LaptopRepository(GitFolder folder, Optional<Integer> most, Tasks tasks) {
    this.folder = folder;
    this.most = most;
    this.git = new Git(folder.top(), tasks);
  }

  /**
   * What the node gets.
   *
   * @param head the branch, or the commit where there is none
   * @param tip the commit of it
   * @param refs by their names on the node
   * @param shallow commits that are there without their parents
   * @param cut why the node does not get the whole history, as in "its history is cut, …"
   * @param isFirst the rest follows at once
   */
  record State(
      String head,
      String tip,
      Map<String, String> refs,
      List<String> shallow,
      List<String> exclude,
      Map<String, String> settings,
      Optional<String> cut,
      boolean isFirst) {
    State {
      refs = Map.copyOf(refs);
      shallow = List.copyOf(shallow);
      exclude = List.copyOf(exclude);
      settings = Map.copyOf(settings);
    }

    Json.Obj asked() {
      return Json.object(
          "head",
          head,
          "tip",
          tip,
          "refs",
          refs,
          "shallow",
          shallow,
          "exclude",
          exclude,
          "settings",
          settings,
          "first",
          isFirst);
    }

    Set<String> commits() {
      var all = new HashSet<>(refs.values());
      all.add(tip);
      return all;
    }
  }

  /** Changes with every commit and checkout; a few looks at files, and no process. */
  String stamp() {
    return folder.head() + " " + time(folder.common().resolve("packed-refs"));
  }

  private static String time(Path file) {
    try {
      return Files.getLastModifiedTime(file).toString();
    } catch (IOException absent) {
      return "-";
    }
  }

  /** Bytes of its objects that are in packs, as nearly all of a large repository are. */
  private long packedBytes() {
    try (Stream<Path> packs = Files.list(folder.common().resolve("objects/pack"))) {
      return packs.mapToLong(LaptopRepository::size).sum();
    } catch (IOException none) {
      return 0;
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException gone) {
      return 0;
    }
  }

  /**
   * Empty before the first commit.
   *
   * @param there what the node has, which decides where its history begins
   */
  Optional<State> read(NodeRepository.State there) throws HistoryStopped, InterruptedException {
    Optional<String> tip = git.run("rev-parse", "-q", "--verify", "HEAD^{commit}").text();
    if (tip.isEmpty()) {
      return Optional.empty();
    }
    Optional<String> branch = git.run("symbolic-ref", "-q", "HEAD").text();
    var refs = new TreeMap<String, String>();
    for (Ref each : refs("refs/heads")) {
      refs.put(REMOTE + each.name().substring(HEADS.length()), each.value());
    }
    var tips = new HashSet<>(refs.values());
    tips.add(tip.get());
    boolean isTooLarge = most.isEmpty() && packedBytes() > MOST_PACKED;
    Optional<Integer> limit = isTooLarge ? Optional.of(NEWEST) : most;
    List<String> own = lines("shallow", Integer.MAX_VALUE);
    Optional<HistoryCut> cut =
        limit.isPresent() ? cut(limit.get(), tips, own, there) : Optional.empty();
    // Only those that cost no more objects.
    for (Ref each : refs("--merged=HEAD", "refs/tags", "refs/remotes")) {
      boolean isIn = cut.isEmpty() || cut.get().commits().contains(each.commit());
      if (isIn && !each.name().startsWith(REMOTE)) {
        refs.put(each.name(), each.value());
      }
    }
    Set<String> come =
        cut.isPresent() ? cut.get().commits() : reached(refs.values(), there.shallow());
    var shallow = new LinkedHashSet<>(cut.map(HistoryCut::shallow).orElse(own));
    // What was made there may begin at a commit whose parents do not come.
    there.shallow().stream().filter(each -> !come.contains(each)).forEach(shallow::add);
    List<String> exclude = new ArrayList<>(lines("info/exclude", MOST_LINES));
    exclude.add("/.gpush/");
    return Optional.of(
        new State(
            branch.orElse(tip.get()),
            tip.get(),
            refs,
            List.copyOf(shallow),
            exclude,
            settings(branch),
            cut.map(
                _ -> isTooLarge ? "because all of it is more than 1 GiB" : "as git.history says"),
            false));
  }

  /**
   * What a node that has nothing gets first, where sending the rest may take long: the newest
   * commit, and its parents, so that it can be amended and taken back there.
   */
  Optional<State> first(State all) throws HistoryStopped, InterruptedException {
    if (!all.head().startsWith(HEADS) || packedBytes() < SLOW_PACKED) {
      return Optional.empty();
    }
    String line = git.run("rev-list", "--parents", "--max-count=1", all.tip()).text().orElse("");
    List<String> parents = List.of(line.split(" ")).subList(1, line.split(" ").length);
    if (parents.isEmpty()) {
      return Optional.empty();
    }
    Map<String, String> own = Map.of(REMOTE + all.head().substring(HEADS.length()), all.tip());
    return Optional.of(
        new State(
            all.head(),
            all.tip(),
            own,
            parents,
            all.exclude(),
            all.settings(),
            Optional.empty(),
            true));
  }

  private Optional<HistoryCut> cut(
      int count, Set<String> tips, List<String> own, NodeRepository.State there)
      throws HistoryStopped, InterruptedException {
    if (!there.commits().isEmpty() && !there.hasOnlyFirst()) {
      if (own.containsAll(there.shallow())) {
        return Optional.empty(); // It has all that is here.
      }
      Set<String> begins = present(there.shallow());
      if (!begins.isEmpty()) {
        return Optional.of(HistoryCut.kept(git, tips, there.shallow(), begins, own));
      }
    }
    return HistoryCut.first(git, count, tips, own);
  }

  private Map<String, String> settings(Optional<String> branch)
      throws HistoryStopped, InterruptedException {
    var settings = new TreeMap<String, String>();
    for (String name : List.of("user.name", "user.email")) {
      git.run("config", "--get", name).text().ifPresent(value -> settings.put(name, value));
    }
    git.run("config", "--get", "remote.origin.url")
        .text()
        .flatMap(RemoteAddress::withoutSecrets)
        .ifPresent(
            url -> {
              settings.put("remote.origin.url", url);
              settings.put("remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*");
            });
    settings.put("remote.laptop.url", "laptop");
    settings.put("remote.laptop.fetch", "+refs/heads/*:refs/remotes/laptop/*");
    branch.ifPresent(
        name -> {
          String own = "branch." + name.substring(HEADS.length());
          settings.put(own + ".remote", "laptop");
          settings.put(own + ".merge", name);
        });
    return settings;
  }

  /**
   * A ref that is not another's name.
   *
   * @param commit of a tag that is an object, too
   */
  private record Ref(String name, String value, String commit) {}

  private List<Ref> refs(String... which) throws HistoryStopped, InterruptedException {
    var words = new ArrayList<>(List.of("for-each-ref", LINE));
    words.addAll(List.of(which));
    var found = new ArrayList<Ref>();
    for (String line : git.lines("", words.toArray(String[]::new))) {
      String[] parts = line.split(" ", -1);
      if (parts.length == 4 && parts[2].isEmpty()) {
        found.add(new Ref(parts[1], parts[0], parts[3].isEmpty() ? parts[0] : parts[3]));
      }
    }
    return found;
  }

  private List<String> lines(String name, int most) throws HistoryStopped, InterruptedException {
    Path path = folder.top().resolve(git.run("rev-parse", "--git-path", name).text().orElse(name));
    try {
      return Files.isRegularFile(path)
          ? Files.readAllLines(path, StandardCharsets.UTF_8).stream().limit(most).toList()
          : List.of();
    } catch (IOException unreadable) {
      return List.of();
    }
  }

  // ---- objects

  /** Those of these objects that are here. */
  Set<String> present(Collection<String> objects) throws HistoryStopped, InterruptedException {
    var found = new HashSet<String>();
    String given = String.join("\n", objects) + "\n";
    for (String line : git.lines(objects.isEmpty() ? "" : given, "cat-file", "--batch-check")) {
      if (!line.endsWith(" missing")) {
        found.add(line.substring(0, line.indexOf(' ')));
      }
    }
    return found;
  }

  /** Those of these commits that are in the history of others. */
  private Set<String> reached(Collection<String> tips, Collection<String> commits)
      throws HistoryStopped, InterruptedException {
    Set<String> found = new HashSet<>(present(commits));
    var given = new StringBuilder();
    found.forEach(each -> given.append(each).append('\n'));
    tips.forEach(each -> given.append('^').append(each).append('\n'));
    if (!found.isEmpty()) {
      git.lines(given.toString(), "rev-list", "--stdin").forEach(found::remove);
    }
    return found;
  }

  /**
   * Of a node whose history is to begin elsewhere, so that its commits may lack their parents: the
   * trees of its branches, which are whole.
   */
  Set<String> files(Map<String, String> refs) throws HistoryStopped, InterruptedException {
    var branches = new HashSet<String>();
    refs.forEach(
        (name, commit) -> {
          if (name.startsWith(REMOTE)) {
            branches.add(commit);
          }
        });
    return present(branches).stream().map(each -> each + "^{tree}").collect(Collectors.toSet());
  }

  /**
   * Writes what someone who has some commits needs for others.
   *
   * @param had commits, or trees as {@code COMMIT^{tree}}
   * @param shallow commits whose parents are left out
   */
  void pack(
      Collection<String> wanted,
      Collection<String> had,
      Collection<String> shallow,
      OutputStream to)
      throws HistoryStopped, InterruptedException {
    var revisions = new StringBuilder();
    shallow.forEach(each -> revisions.append("--shallow ").append(each).append('\n'));
    wanted.forEach(each -> revisions.append(each).append('\n'));
    had.forEach(each -> revisions.append('^').append(each).append('\n'));
    byte[] input = revisions.toString().getBytes(StandardCharsets.US_ASCII);
    int status =
        git.stream(
            List.of("pack-objects", "--revs", "--thin", "--stdout", "-q", "--delta-base-offset"),
            in -> in.write(input),
            out -> Git.copy(out, to));
    if (status != 0) {
      throw new HistoryStopped("git cannot pack the commits here");
    }
  }

  /** Takes objects from a node, and checks them. */
  void unpack(InputStream pack) throws HistoryStopped, InterruptedException {
    int status =
        git.stream(
            List.of("unpack-objects", "-q", "--strict", MOST_BYTES),
            in -> Git.copy(pack, in),
            out -> out.transferTo(OutputStream.nullOutputStream()));
    if (status != 0) {
      throw new HistoryStopped("git refuses the commits of the node");
    }
  }

  // ---- commits that come home

  /** Whether a branch of this machine has this commit. */
  boolean isOnABranch(String commit) throws HistoryStopped, InterruptedException {
    return leadsTo("refs/heads", commit);
  }

  /** Whether one of the refs below this name does. */
  boolean leadsTo(String refs, String commit) throws HistoryStopped, InterruptedException {
    return git.run("for-each-ref", "--count=1", "--contains=" + commit, refs).text().isPresent();
  }

  /** Whether a ref below this name has exactly this commit, besides the one. */
  boolean isAtAnother(String below, String one, String commit)
      throws HistoryStopped, InterruptedException {
    return refs("--points-at=" + commit, below).stream().anyMatch(ref -> !ref.name().equals(one));
  }

  /** Refs below a name beside which git allows no such ref, as fix beside fix/loss. */
  List<String> inTheWay(String below, String ref) throws HistoryStopped, InterruptedException {
    return refs(below).stream()
        .map(Ref::name)
        .filter(other -> other.startsWith(ref + "/") || ref.startsWith(other + "/"))
        .toList();
  }

  boolean isAncestor(String old, String commit) throws HistoryStopped, InterruptedException {
    return git.run("merge-base", "--is-ancestor", old, commit).isGood();
  }

  /** Commits that no branch of this machine has. */
  long countNew(String commit) throws HistoryStopped, InterruptedException {
    return git.run("rev-list", "--count", commit, "--not", "--branches")
        .text()
        .map(Long::parseLong)
        .orElse(0L);
  }

  Optional<String> value(String ref) throws HistoryStopped, InterruptedException {
    return git.run("rev-parse", "-q", "--verify", ref + "^{commit}").text();
  }

  void set(String ref, String commit) throws HistoryStopped, InterruptedException {
    if (!git.run("check-ref-format", ref).isGood()) {
      throw new HistoryStopped("git refuses the name of a branch there");
    }
    git.lines("", "update-ref", "-m", "gpush: made on a node", ref, commit);
  }

  void delete(String ref) throws HistoryStopped, InterruptedException {
    git.lines("", "update-ref", "-d", ref);
  }
}
