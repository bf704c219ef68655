package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.talk.StepCount;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import dev.gpush.sync.git.GitFolder;
import dev.gpush.sync.git.GitPlaces;
import dev.gpush.sync.git.IgnoreStack;
import dev.gpush.sync.git.IgnoreTrace;
import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Scan;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
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
 *
 * <p>After a scan it can look again at single folders, for a watcher: what has changed costs work,
 * the rest of the tree does not. Such a look asks nothing; it leaves out what a scan would ask
 * about, and says so. Not thread-safe.
 */
public final class TreeScan {
  /** Reading more than this many files at a time gains nothing on any disk that was measured. */
  private static final int MAX_READERS = 4;

  /** Fewer than this are read faster than threads are started. */
  private static final int READ_ALONE = 32;

  /** The last walk takes the tree as it was seen, though something in it comes and goes. */
  private static final int MOST_WALKS = 5;

  /** A look at single folders leaves the cache file for later: it is as large as the tree. */
  private static final Duration SAVE_PAUSE = Duration.ofMinutes(1);

  private static final String BUSY = "it changes all the time";
  private static final String CHANGED = "it changed while it was sent";

  private final Path root;
  private final GitPlaces places;
  private final Clock clock;
  private final Tasks tasks;
  private final FolderListener listener;
  private final ScanLimits limits;
  private final HashCache cache;
  private final ScanQuestions questions;
  private final GitFiles git;
  private final Set<String> told = new HashSet<>();

  private Optional<TreeWalk> walk = Optional.empty();
  private Manifest manifest = Manifest.empty();
  private final Map<String, String> left = new TreeMap<>();
  private final ClosedFolders closed = new ClosedFolders();
  private long bytes;
  private long savedAt;

  /**
   * Reads nothing but the cache.
   *
   * @param cacheFile one per root; made when first saved
   * @param listener told which folders matter
   */
  public TreeScan(
      Path root,
      GitPlaces places,
      ScanLimits limits,
      Path cacheFile,
      FolderListener listener,
      Clock clock,
      Tasks tasks) {
    this(root, places, limits, HashCache.load(cacheFile), listener, clock, tasks);
  }

  private TreeScan(
      Path root,
      GitPlaces places,
      ScanLimits limits,
      HashCache cache,
      FolderListener listener,
      Clock clock,
      Tasks tasks) {
    this.root = root.toAbsolutePath().normalize();
    this.places = places;
    this.limits = limits;
    this.listener = listener;
    this.clock = clock;
    this.tasks = tasks;
    this.cache = cache;
    this.questions = new ScanQuestions(this.root, places, limits, cache);
    this.git = new GitFiles(listener, clock);
    this.savedAt = clock.nanos();
  }

  /** Why hardly anybody means this folder to be a workspace, as a clause about it. */
  public static Optional<String> whyUnusual(Path root, GitPlaces places) {
    return ScanQuestions.whyUnusual(root.toAbsolutePath().normalize(), places);
  }

  public Path root() {
    return root;
  }

  /** Another of this tree. What it reads, and the answers to its questions, are kept nowhere. */
  public TreeScan apart() {
    var apart =
        new TreeScan(root, places, limits, cache.apart(), new FolderListener() {}, clock, tasks);
    apart.manifest = manifest;
    return apart;
  }

  /**
   * The tree as it is now.
   *
   * @throws GpushException {@link SyncFailure.TooMuch}, {@link SyncFailure.Unreadable}, or that the
   *     user declined
   */
  public Scan scan(Talk talk) throws InterruptedException {
    questions.askForPlace(talk);
    Optional<TreeWalk> before = walk;
    walk = Optional.empty();
    try (Talk.Step step = talk.step("looking at " + root.getFileName())) {
      TreeWalk next = walked(before);
      List<ScannedFile> found = next.files();
      next.warnings().stream().filter(told::add).forEach(talk::say);
      bytes = bytes(found);
      questions.askForSize(found.size(), bytes, talk);
      questions.askForLarge(found, talk);
      left.clear();
      Scan scan = read(next, found, Set.of(), (_, why) -> throwing(why), step, draft(next));
      cache.endScan();
      cache.save();
      savedAt = clock.nanos();
      walk = Optional.of(next);
      return scan;
    } catch (IOException broken) {
      throw unreadable(broken);
    }
  }

  /**
   * The tree as it is now, without a question: what a question would be about is left as it was.
   *
   * @param folders those that may have changed since the last look; empty: all
   * @param waiting paths that are left as they were
   * @throws GpushException as {@link #scan}, also where that would ask about the whole workspace
   */
  public Scan look(Optional<? extends Collection<Path>> folders, Set<String> waiting)
      throws InterruptedException {
    Optional<TreeWalk> last = walk;
    walk = Optional.empty();
    try {
      if (folders.isPresent() && last.isPresent() && git.areUnchanged()) {
        try {
          Scan scan = lookAt(last.get(), folders.get(), waiting);
          walk = last;
          return scan;
        } catch (TreeWalk.TopRulesChanged | TreeWalk.Torn _) {
          // Then everything is looked at.
        }
      }
      return lookAtAll(last, waiting);
    } catch (IOException broken) {
      throw unreadable(broken);
    }
  }

  private Scan lookAtAll(Optional<TreeWalk> before, Set<String> waiting)
      throws IOException, InterruptedException {
    questions.askForPlace(Talk.silent());
    TreeWalk next = walked(before);
    List<ScannedFile> found = next.files();
    bytes = bytes(found);
    questions.askForSize(found.size(), bytes, Talk.silent());
    left.clear();
    Scan scan = read(next, found, waiting, this::leave, Talk.silent().step(""), draft(next));
    cache.endScan();
    cache.save();
    savedAt = clock.nanos();
    walk = Optional.of(next);
    return scan;
  }

  private Manifest.Draft draft(TreeWalk seen) {
    Manifest.Draft next = Manifest.empty().draft();
    closed.are(seen.closed());
    closed.keep(manifest, cache, next);
    return next;
  }

  private Scan lookAt(TreeWalk seen, Collection<Path> folders, Set<String> waiting)
      throws IOException, InterruptedException {
    TreeWalk.Changes changes = seen.again(folders);
    closed.are(seen.closed());
    var gone = new ArrayList<String>(closed.reopened());
    gone.removeIf(path -> seen.find(path).isPresent());
    for (Map.Entry<String, ScannedFile> was : changes.before().entrySet()) {
      bytes -= was.getValue().look().stamp().size();
      if (!changes.now().containsKey(was.getKey()) && !closed.keeps(was.getKey())) {
        gone.add(was.getKey());
      }
    }
    bytes += bytes(changes.now().values());
    var found = new ArrayList<ScannedFile>();
    for (ScannedFile file : changes.now().values()) {
      boolean isSame = file.equals(changes.before().get(file.path())) && !mayHaveChanged(file);
      if (!isSame && !left.containsKey(file.path())) {
        found.add(file);
      }
    }
    for (String path : List.copyOf(left.keySet())) {
      left.remove(path);
      seen.find(path).ifPresent(found::add);
    }
    if (found.isEmpty() && gone.isEmpty()) {
      return scan(manifest, Map.of(), seen);
    }
    Manifest.Draft next = manifest.draft();
    gone.forEach(next::remove);
    questions.askForSize(next.size() + found.size(), bytes, Talk.silent());
    Scan scan = read(seen, found, waiting, this::leave, Talk.silent().step(""), next);
    cache.endLook(gone);
    if (cache.isWorthSaving() && clock.nanos() - savedAt > SAVE_PAUSE.toNanos()) {
      save();
    }
    return scan;
  }

  private boolean mayHaveChanged(ScannedFile file) {
    return file.target().isEmpty() && cache.mayHaveChanged(file.path(), file.look().stamp());
  }

  /** Writes what was read into the cache file, so that the next gateway need not read it again. */
  public void save() {
    cache.save();
    savedAt = clock.nanos();
  }

  private TreeWalk walked(Optional<TreeWalk> before) throws IOException {
    if (Files.notExists(root) || Files.isRegularFile(root)) {
      throw new GpushException(
          new SyncFailure.Unreadable(root.toString(), "the folder is not there"));
    }
    for (int attempt = 1; ; attempt++) {
      var next = new TreeWalk(root, git::index, listener, clock);
      try {
        walk(next, before, attempt == MOST_WALKS);
        return next;
      } catch (TreeWalk.Torn _) {
        next.seenFolders().forEach(listener::left);
      }
    }
  }

  private void walk(TreeWalk next, Optional<TreeWalk> before, boolean mayBeTorn)
      throws IOException {
    git.readRules(IgnoreStack.outsideRules(root, places));
    next.walk(IgnoreStack.at(root, places, git::index), mayBeTorn);
    before.ifPresent(
        last ->
            last.seenFolders().stream()
                .filter(folder -> !next.hasWalked(folder))
                .forEach(listener::left));
  }

  private static long bytes(Collection<ScannedFile> found) {
    return found.stream().mapToLong(file -> file.look().stamp().size()).sum();
  }

  private GpushException unreadable(IOException broken) {
    return new GpushException(
        new SyncFailure.Unreadable(root.toString(), FileReason.of(broken)), broken);
  }

  // ---- reading

  private static void throwing(GpushException why) {
    throw why;
  }

  private void leave(ScannedFile file, GpushException why) {
    String reason =
        why.failure() instanceof SyncFailure.Unreadable(_, var text)
            ? text
            : String.valueOf(why.getMessage());
    synchronized (left) {
      left.put(file.path(), reason);
    }
  }

  /**
   * @param found what may be other than before
   * @param next has the entries that are not in {@code found}
   */
  private Scan read(
      TreeWalk seen,
      List<ScannedFile> found,
      Set<String> waiting,
      FileReading.Unreadable unreadable,
      Talk.Step step,
      Manifest.Draft next)
      throws IOException, InterruptedException {
    var unread = new ArrayList<ScannedFile>();
    var recent = new HashMap<String, String>();
    for (ScannedFile file : found) {
      Optional<String> hash = cache.hash(file.path(), file.look().stamp());
      if (file.target().isPresent()) {
        next.put(file.path(), new Entry.Link(file.target().orElseThrow()));
      } else if (hash.isPresent()) {
        next.put(file.path(), entry(file.look(), hash.orElseThrow()));
      } else if (waiting.contains(file.path())) {
        left.put(file.path(), BUSY);
      } else if (questions.isLargeAndNew(file)) {
        left.put(file.path(), questions.largeText());
      } else {
        unread.add(file);
      }
    }
    for (FileReading.Content content : read(unread, unreadable, step)) {
      ScannedFile file = content.file();
      cache.put(file.path(), content.look().stamp(), content.readAt(), content.hash());
      next.put(file.path(), entry(content.look(), content.hash()));
      recent.put(content.hash(), file.path());
    }
    keepWhatIsLeft(next);
    Manifest now = next.done();
    if (!now.equals(manifest)) {
      manifest = now; // Else the nodes' conversations keep the old one alive, too.
    }
    return scan(manifest, recent, seen);
  }

  private Scan scan(Manifest found, Map<String, String> recent, TreeWalk seen) throws IOException {
    Map<String, String> leftOut = seen.odd();
    leftOut.putAll(left);
    // What was just read is found at once.
    Contents contents =
        hash ->
            Optional.ofNullable(recent.get(hash))
                .or(() -> found.pathsOf(hash).stream().findFirst())
                .map(root::resolve);
    return new Scan(found, contents, GitFolder.around(root).map(GitFolder::head), leftOut);
  }

  /** What is left is as it was before. */
  private void keepWhatIsLeft(Manifest.Draft next) {
    for (String path : left.keySet()) {
      manifest.get(path).ifPresent(before -> next.put(path, before));
    }
  }

  private static Entry entry(FileStamp.Look look, String hash) {
    return new Entry.File(look.stamp().size(), look.isExecutable(), hash);
  }

  private List<FileReading.Content> read(
      List<ScannedFile> unread, FileReading.Unreadable unreadable, Talk.Step step)
      throws IOException, InterruptedException {
    var count = new StepCount(step, unread.size(), "files read");
    int readers = unread.size() <= READ_ALONE ? 1 : MAX_READERS;
    if (readers == 1) {
      return new FileReading(root, clock).read(unread, unreadable, count::add);
    }
    var works = new ArrayList<Work<List<FileReading.Content>, IOException>>();
    for (int reader = 0; reader < readers; reader++) {
      int from = reader * unread.size() / readers;
      int to = (reader + 1) * unread.size() / readers;
      works.add(
          () ->
              new FileReading(root, clock).read(unread.subList(from, to), unreadable, count::add));
    }
    return tasks.all("read", works).stream().flatMap(List::stream).toList();
  }

  /**
   * The rules of a folder, whether it is here or not; empty when nothing in it is sent, or before
   * the first scan.
   *
   * @param folder from the root, empty for the root
   */
  public Optional<IgnoreStack> rules(String folder) throws IOException {
    return walk.isEmpty() ? Optional.empty() : walk.get().rules(folder);
  }

  // ---- why

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
    IgnoreTrace trace = IgnoreTrace.of(root, path, false, places, git::index);
    return switch (trace.verdict()) {
      case IGNORED -> trace.rule().map(SendReason.Rule::text);
      case NEVER -> trace.rule().map(name -> name.pattern() + " (never sent)");
      case SENT, TRACKED, LARGE, TRACKED_ONLY -> Optional.empty();
      case LEADS_OUT, NO_REGULAR_FILE, BEHIND_LINK, BELOW_FILE, OUTSIDE -> Optional.empty();
    };
  }

  /**
   * Fails if a scan does not find this path because of what is here, which nothing may replace
   * then.
   */
  public void requireFree(String path) throws IOException {
    Optional<String> what = leftOut(root.resolve(path), path);
    if (what.isPresent()) {
      throw new GpushException(new SyncFailure.InTheWay(path, what.get()));
    }
  }

  /** Empty also for what was made since the last scan: the next one finds it. */
  private Optional<String> leftOut(Path file, String path) throws IOException {
    for (int end = path.indexOf('/'); end > 0; end = path.indexOf('/', end + 1)) {
      String above = path.substring(0, end);
      Path folder = root.resolve(above);
      if (Files.isSymbolicLink(folder)) {
        return Optional.of(above + " is a link here");
      }
      if (Files.exists(folder) && !Files.isDirectory(folder)) {
        return Optional.of(above + " is no folder here");
      }
      boolean isRead = Files.isReadable(folder) && Files.isExecutable(folder);
      if (Files.exists(folder) && !isRead) {
        return Optional.of(above + " cannot be read here");
      }
    }
    if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.empty();
    }
    Optional<String> rule = whyIgnored(path);
    if (rule.isPresent()) {
      return Optional.of("what is here is not sent: " + rule.get() + " ignores it");
    }
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      return Optional.of("a folder of this name is here");
    }
    if (Files.isSymbolicLink(file)) {
      boolean isSent = linkTarget(path.substring(0, path.lastIndexOf('/') + 1), file).isPresent();
      return isSent
          ? Optional.empty()
          : Optional.of("the link that is here points out of the workspace");
    }
    return Files.isRegularFile(file)
        ? Optional.empty()
        : Optional.of("what is here is no file, link or folder");
  }

  /**
   * The target with which a link is sent; empty when it leads out of the workspace.
   *
   * @param base the link's folder from the root on, empty or ending in a slash
   */
  public static Optional<String> linkTarget(String base, Path link) {
    return TreeWalk.target(base, link);
  }

  /** The file's content had changed when it was sent: the next scan reads it again. */
  public void forget(String path) {
    cache.forget(path);
    left.put(path, CHANGED);
  }
}
