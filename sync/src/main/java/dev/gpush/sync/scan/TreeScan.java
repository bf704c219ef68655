package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.core.time.Clock;
import dev.gpush.sync.git.GitFolder;
import dev.gpush.sync.git.GitIndex;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.git.IgnoreRule;
import dev.gpush.sync.git.IgnoreStack;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * Looks at the working tree: every file's stamp on every scan, its content only when the stamp does
 * not prove that it is unchanged. Asks first when there is more than users usually mean to send.
 * Not thread-safe.
 */
public final class TreeScan {
  /** Reading more than this many files at a time gains nothing on any disk that was measured. */
  private static final int MAX_READERS = 4;

  /** Fewer than this are read faster than threads are started. */
  private static final int READ_ALONE = 32;

  private static final String YES = "--yes";
  private static final String PLACE = "place";

  private final Path root;
  private final GitPlaces places;
  private final ScanLimits limits;
  private final Clock clock;
  private final Tasks tasks;
  private final HashCache cache;
  private final Set<String> told = new HashSet<>();
  private final Map<Path, RememberedIndex> indexes = new HashMap<>();

  private record RememberedIndex(FileStamp stamp, GitIndex index) {}

  /**
   * Reads nothing but the cache.
   *
   * @param cacheFile one per root; made when first saved
   */
  public TreeScan(
      Path root, GitPlaces places, ScanLimits limits, Path cacheFile, Clock clock, Tasks tasks) {
    this.root = root.toAbsolutePath().normalize();
    this.places = places;
    this.limits = limits;
    this.clock = clock;
    this.tasks = tasks;
    this.cache = HashCache.load(cacheFile);
  }

  public Path root() {
    return root;
  }

  /**
   * The tree as it is now.
   *
   * @throws GpushException {@link SyncFailure.TooMuch}, {@link SyncFailure.Unreadable}, {@link
   *     SyncFailure.BadNames}, or that the user declined
   */
  public Scan scan(Talk talk) throws InterruptedException {
    askForPlace(talk);
    try (Talk.Step step = talk.step("looking at " + root.getFileName())) {
      var walk = new TreeWalk(root, this::index);
      List<TreeWalk.Found> found = walk.walk(IgnoreStack.at(root, places, this::index));
      walk.warnings().stream().filter(told::add).forEach(talk::say);
      askForSize(found, talk);
      return read(found, step);
    } catch (IOException broken) {
      throw new GpushException(
          new SyncFailure.Unreadable(root.toString(), FileReason.of(broken)), broken);
    }
  }

  /**
   * Why this path is not sent: the pattern and where it stands, as in {@code data/ (.gitignore:3)}.
   * Empty when it is sent, or would be if it were there.
   *
   * @param path relative to the root
   */
  public Optional<String> whyIgnored(String path) {
    try {
      return whyIgnored(Path.of(path).normalize());
    } catch (IOException | InvalidPathException broken) {
      return Optional.empty();
    }
  }

  private Optional<String> whyIgnored(Path path) throws IOException {
    IgnoreStack stack = IgnoreStack.at(root, places, this::index);
    Optional<IgnoreRule> rule = Optional.empty();
    Path at = root;
    for (Path part : path) {
      at = at.resolve(part);
      String name = part.toString();
      boolean isFolder = Files.isDirectory(at, LinkOption.NOFOLLOW_LINKS);
      boolean isLast = at.getNameCount() == root.getNameCount() + path.getNameCount();
      IgnoreStack.Decision decision = stack.decide(name, isFolder || !isLast);
      rule = decision.rule().isPresent() ? decision.rule() : rule;
      if (decision.fate() == IgnoreStack.Fate.IGNORED) {
        return rule.map(IgnoreRule::text);
      }
      if (!isFolder) {
        return Optional.empty();
      }
      stack = stack.enter(name, at, names(at), decision.fate(), this::index);
    }
    return Optional.empty();
  }

  /** The file's content had changed when it was sent: the next scan reads it again. */
  public void forget(String path) {
    cache.forget(path);
  }

  private static Set<String> names(Path folder) throws IOException {
    var names = new HashSet<String>();
    for (String name : List.of(IgnoreStack.GIT, IgnoreStack.GIT_IGNORE, IgnoreStack.GPUSH_IGNORE)) {
      if (Files.exists(folder.resolve(name))) {
        names.add(name);
      }
    }
    return names;
  }

  private GitIndex index(GitFolder repository) throws IOException {
    Path file = repository.own().resolve("index");
    if (!Files.exists(file)) {
      return GitIndex.empty();
    }
    FileStamp stamp = FileStamp.look(file).stamp();
    RememberedIndex known = indexes.get(file);
    if (known != null
        && known.stamp().equals(stamp)
        && stamp.isSettled(FileStamp.nanos(clock.now()))) {
      return known.index();
    }
    GitIndex index = GitIndex.read(repository.own());
    indexes.put(file, new RememberedIndex(stamp, index));
    return index;
  }

  // ---- asking

  private void askForPlace(Talk talk) {
    boolean isHome = root.equals(places.home().toAbsolutePath().normalize());
    if ((isHome || root.getParent() == null) && !cache.hasAgreed(PLACE)) {
      ask(talk, isHome ? "it is your home folder" : "it is the whole file system", 0, 0);
      cache.agree(PLACE);
    }
  }

  private void askForSize(List<TreeWalk.Found> found, Talk talk) {
    long bytes = found.stream().mapToLong(file -> file.look().stamp().size()).sum();
    if ((found.size() > limits.files() || bytes > limits.bytes())
        && !cache.hasAgreedTo(found.size(), bytes)) {
      String why =
          found.size() > limits.files()
              ? "more than " + limits.files() + " files"
              : "more than " + Sizes.text(limits.bytes());
      ask(talk, why, found.size(), bytes);
      cache.agreeTo(found.size(), bytes);
    }
    List<TreeWalk.Found> large = found.stream().filter(this::isLargeAndNew).toList();
    if (!large.isEmpty()) {
      TreeWalk.Found first = large.getFirst();
      String others = large.size() == 1 ? "" : " and " + (large.size() - 1) + " more";
      ask(
          talk,
          first.path() + others + ": over " + Sizes.text(limits.askOver()) + " and not in git",
          large.size(),
          large.stream().mapToLong(file -> file.look().stamp().size()).sum());
      large.forEach(file -> cache.agree("file " + file.path()));
    }
  }

  private boolean isLargeAndNew(TreeWalk.Found file) {
    return !file.tracked()
        && file.look().isFile()
        && file.look().stamp().size() > limits.askOver()
        && !cache.hasAgreed("file " + file.path());
  }

  private void ask(Talk talk, String why, long files, long bytes) {
    String size = files == 0 ? "" : " (" + files + " files, " + Sizes.text(bytes) + ")";
    try {
      talk.confirm(root + ": " + why + size + ". Send it?", YES);
    } catch (GpushException failed) {
      if (failed.failure() instanceof UsageFailure.NobodyToAsk) {
        throw new GpushException(
            new SyncFailure.TooMuch(root.toString(), why, files, bytes), failed);
      }
      throw failed;
    }
  }

  // ---- reading

  private Scan read(List<TreeWalk.Found> found, Talk.Step step)
      throws IOException, InterruptedException {
    var entries = new TreeMap<String, Entry>(Manifest.ORDER);
    var files = new HashMap<String, Path>();
    var unread = new ArrayList<TreeWalk.Found>();
    for (TreeWalk.Found file : found) {
      if (file.target().isPresent()) {
        entries.put(file.path(), new Entry.Link(file.target().orElseThrow()));
        continue;
      }
      Optional<String> hash = cache.hash(file.path(), file.look().stamp());
      if (hash.isPresent()) {
        add(file, file.look(), hash.orElseThrow(), entries, files);
      } else {
        unread.add(file);
      }
    }
    if (!unread.isEmpty()) {
      step.detail("reading " + unread.size() + " of " + found.size() + " files");
    }
    for (FileReading.Content content : read(unread)) {
      TreeWalk.Found file = content.file();
      cache.put(file.path(), content.look().stamp(), content.readAt(), content.hash());
      add(file, content.look(), content.hash(), entries, files);
    }
    cache.turn();
    cache.save();
    return new Scan(Manifest.of(entries), files, GitFolder.around(root).map(GitFolder::head));
  }

  private static void add(
      TreeWalk.Found file,
      FileStamp.Look look,
      String hash,
      Map<String, Entry> entries,
      Map<String, Path> files) {
    entries.put(file.path(), new Entry.File(look.stamp().size(), look.isExecutable(), hash));
    files.put(hash, file.file());
  }

  private List<FileReading.Content> read(List<TreeWalk.Found> unread)
      throws IOException, InterruptedException {
    int readers = unread.size() <= READ_ALONE ? 1 : MAX_READERS;
    if (readers == 1) {
      return new FileReading(clock).read(unread);
    }
    var works = new ArrayList<Work<List<FileReading.Content>, IOException>>();
    for (int reader = 0; reader < readers; reader++) {
      int from = reader * unread.size() / readers;
      int to = (reader + 1) * unread.size() / readers;
      works.add(() -> new FileReading(clock).read(unread.subList(from, to)));
    }
    return tasks.all("read", works).stream().flatMap(List::stream).toList();
  }
}
