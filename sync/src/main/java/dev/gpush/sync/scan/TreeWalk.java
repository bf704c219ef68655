package dev.gpush.sync.scan;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.task.Clock;
import dev.gpush.sync.git.IgnoreStack;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Lists folders: what is sent, without having read any of it. A tree that it has walked it can look
 * at again, folder by folder.
 */
final class TreeWalk {
  /** The limit of one workspace. No source tree is as large; the node refuses more, too. */
  static final int MAX_ENTRIES = 1_000_000;

  /** Linux takes no longer paths. */
  private static final int MAX_PATH_BYTES = 4_096;

  /** What is read in the place of bytes that are not UTF-8. */
  private static final char NO_UTF8 = '\uFFFD';

  /** This many of a kind are named one by one. */
  private static final int MAX_NAMED = 5;

  /** What a further look at some folders has found: entries before and now. */
  static final class Changes {
    private final Map<String, ScannedFile> before = new HashMap<>();
    private final Map<String, ScannedFile> now = new HashMap<>();
    private final Set<SeenFolder> entered = new HashSet<>();

    private void gone(List<ScannedFile> files) {
      files.forEach(file -> before.put(file.path(), file));
    }

    private void here(List<ScannedFile> files) {
      files.forEach(file -> now.put(file.path(), file));
    }

    Map<String, ScannedFile> before() {
      return before;
    }

    Map<String, ScannedFile> now() {
      return now;
    }
  }

  private final Path root;
  private final IgnoreStack.IndexReader indexes;
  private final FolderListener listener;
  private final Clock clock;
  private final Map<Path, SeenFolder> seen = new HashMap<>();

  /** Those in which something is left out, but not by a rule. */
  private final Set<SeenFolder> odd = new HashSet<>();

  private int found;
  private boolean mayBeTorn;

  TreeWalk(Path root, IgnoreStack.IndexReader indexes, FolderListener listener, Clock clock) {
    this.root = root;
    this.indexes = indexes;
    this.listener = listener;
    this.clock = clock;
  }

  /**
   * Looks at everything, from the top.
   *
   * @param mayBeTorn leaves out what vanishes under way, in place of {@link Torn}
   */
  void walk(IgnoreStack top, boolean mayBeTorn) throws IOException {
    this.mayBeTorn = mayBeTorn;
    listener.entering(root);
    var folder = new SeenFolder(root, 0, Optional.empty());
    seen.put(root, folder);
    list(folder, Child.allIn(root), Optional.of(top));
    this.mayBeTorn = false;
  }

  /** All files that it has seen. */
  List<ScannedFile> files() {
    var all = new ArrayList<ScannedFile>(found);
    Objects.requireNonNull(seen.get(root)).addAll(all);
    return all;
  }

  boolean hasWalked(Path folder) {
    return seen.containsKey(folder);
  }

  /** The folders that it has looked into. */
  Set<Path> seenFolders() {
    return seen.keySet();
  }

  /** Only these folders, and what is new below them; of others nothing is sent. */
  Changes again(Collection<Path> folders) throws IOException {
    var changes = new Changes();
    // From the top down: then each folder is listed once.
    for (Path path :
        folders.stream().distinct().sorted(Comparator.comparingInt(Path::getNameCount)).toList()) {
      SeenFolder folder = seen.get(path);
      if (folder != null && !changes.entered.contains(folder)) {
        again(folder, changes);
      }
    }
    return changes;
  }

  private void again(SeenFolder folder, Changes changes) throws IOException {
    changes.gone(folder.listing().files());
    found -= folder.listing().files().size();
    listener.entering(folder.path());
    Map<String, Child> children = childrenOrTorn(folder.path());
    requireThere(folder.path(), children);
    list(folder, children, Optional.empty(), changes);
    changes.here(folder.listing().files());
  }

  /**
   * The rules of a folder, whether it is here or not; empty when nothing in it is sent.
   *
   * @param path from the root, empty for the root
   */
  Optional<IgnoreStack> rules(String path) throws IOException {
    Path folder = path.isEmpty() ? root : root.resolve(path);
    Optional<SeenFolder> known = Optional.ofNullable(seen.get(folder));
    if (known.isPresent() || path.isEmpty()) {
      return known.flatMap(at -> at.listing().stack());
    }
    int end = path.lastIndexOf('/');
    String name = path.substring(end + 1);
    Optional<IgnoreStack> above = rules(path.substring(0, Math.max(end, 0)));
    Optional<IgnoreStack.Fate> fate = above.map(stack -> stack.decide(name, true).fate());
    if (fate.isEmpty() || fate.get() == IgnoreStack.Fate.IGNORED) {
      return Optional.empty();
    }
    return Optional.of(above.get().enter(name, folder, Set.of(), fate.get(), indexes));
  }

  /** One file that it has seen. */
  Optional<ScannedFile> find(String path) {
    int end = path.lastIndexOf('/');
    Optional<SeenFolder> folder = Optional.ofNullable(seen.get(root));
    for (String name : end < 0 ? new String[0] : path.substring(0, end).split("/", -1)) {
      folder = folder.map(at -> at.listing().folders().get(name));
    }
    return folder.flatMap(
        in -> in.listing().files().stream().filter(file -> file.path().equals(path)).findFirst());
  }

  // ---- what is left out

  private Map<String, SeenFolder.Oddity> oddities() {
    var all = new TreeMap<String, SeenFolder.Oddity>();
    odd.forEach(folder -> all.putAll(folder.listing().oddities()));
    return all;
  }

  /** What was left out, but not by an ignore rule, a line for each reason. */
  List<String> warnings() {
    var paths = new EnumMap<SeenFolder.Oddity, List<String>>(SeenFolder.Oddity.class);
    oddities().forEach((path, why) -> paths.computeIfAbsent(why, _ -> new ArrayList<>()).add(path));
    var lines = new ArrayList<String>();
    paths.forEach((why, of) -> lines.add("not sent, because " + why.ofMany() + ": " + named(of)));
    return lines;
  }

  /** Folders that cannot be read. */
  Set<String> closed() {
    return oddities().entrySet().stream()
        .filter(each -> each.getValue() == SeenFolder.Oddity.UNREADABLE)
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  /** Of that, the paths that could be sent if their owner changed them, with the reason of each. */
  Map<String, String> odd() {
    var reasons = new TreeMap<String, String>();
    oddities().forEach((path, why) -> why.ofOne().ifPresent(text -> reasons.put(path, text)));
    return reasons;
  }

  private static String named(List<String> paths) {
    int more = paths.size() - MAX_NAMED;
    String names = String.join(", ", paths.subList(0, Math.min(MAX_NAMED, paths.size())));
    return names + (more > 0 ? " and " + more + " more" : "");
  }

  // ---- one folder

  private void list(SeenFolder folder, Map<String, Child> children, Optional<IgnoreStack> stack)
      throws IOException {
    list(folder, children, stack, new Changes());
  }

  /**
   * @param given the rules of this folder; empty: those of the last look, unless they have changed
   */
  private void list(
      SeenFolder folder, Map<String, Child> children, Optional<IgnoreStack> given, Changes changes)
      throws IOException {
    SeenFolder.Listing before = folder.listing();
    var looks = new HashMap<String, FileStamp.Look>();
    children.values().stream()
        .filter(child -> child.unseen().isEmpty())
        .forEach(child -> looks.put(child.name(), child.look()));
    RuleStamps rules = RuleStamps.of(looks, FileStamp.nanos(clock.now()));
    boolean areRulesKept = given.isEmpty() && rules.areStill(before.rules());
    IgnoreStack stack =
        areRulesKept
            ? before.stack().orElseThrow()
            : given.isPresent() ? given.get() : stack(folder, children);
    var files = new ArrayList<ScannedFile>();
    var folders = new TreeMap<String, SeenFolder>();
    var oddities = new HashMap<String, SeenFolder.Oddity>();
    for (Child child : children.values()) {
      boolean isFolder = child.look().isFolder();
      IgnoreStack.Fate fate = stack.decide(child.name(), isFolder).fate();
      if (fate == IgnoreStack.Fate.IGNORED) {
        continue;
      }
      String path = stack.base() + child.name();
      if (!child.isUtf8()) {
        oddities.put(path, SeenFolder.Oddity.NAME);
      } else if (child.unseen().isPresent()) {
        oddities.put(path, SeenFolder.Oddity.UNREADABLE);
      } else if (!isFolder) {
        add(child, stack, files, oddities);
      } else {
        SeenFolder known = before.folders().get(child.name());
        Optional<SeenFolder> entered =
            areRulesKept && known != null && isSame(known, child, fate)
                ? Optional.of(known)
                : enter(folder, child, stack, fate, changes);
        entered.ifPresentOrElse(
            below -> folders.put(child.name(), below),
            () -> oddities.put(path, SeenFolder.Oddity.UNREADABLE));
      }
    }
    before
        .folders()
        .forEach(
            (name, was) -> {
              if (folders.get(name) != was) {
                leave(was, changes);
              }
            });
    folder.listed(
        new SeenFolder.Listing(
            Optional.of(stack), rules, files, folders.isEmpty() ? Map.of() : folders, oddities));
    if (oddities.isEmpty()) {
      odd.remove(folder);
    } else {
      odd.add(folder);
    }
    listener.listed(folder.path(), stack::isNeverSent);
  }

  private static boolean isSame(SeenFolder known, Child child, IgnoreStack.Fate fate) {
    return known.inode() == child.look().stamp().inode()
        && known.place().map(place -> place.fate() == fate).orElse(false);
  }

  /** The rules of a folder, one of whose rule files has changed. */
  private IgnoreStack stack(SeenFolder folder, Map<String, Child> children) throws IOException {
    SeenFolder.Place place = folder.place().orElseThrow(TopRulesChanged::new);
    IgnoreStack above = place.above().listing().stack().orElseThrow();
    return above.enter(place.name(), folder.path(), children.keySet(), place.fate(), indexes);
  }

  /** The rules at the top have changed: only a walk from there can tell what is sent. */
  static final class TopRulesChanged extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /**
   * A folder that was seen is no longer there when it is listed. What is above it may have been
   * moved away, and then a part of that was seen and a part was not: as if someone had deleted it.
   */
  static final class Torn extends RuntimeException {
    private static final long serialVersionUID = 1;
  }

  /** One that was read before and cannot be now is left out by a walk from the top. */
  private Map<String, Child> childrenOrTorn(Path folder) throws IOException {
    try {
      return Child.allIn(folder);
    } catch (FileSystemException closed) {
      throw new Torn();
    }
  }

  private void requireThere(Path folder, Map<String, Child> children) {
    if (children.isEmpty() && !mayBeTorn && !Files.exists(folder, LinkOption.NOFOLLOW_LINKS)) {
      listener.left(folder);
      throw new Torn();
    }
  }

  /** Empty when it cannot be read: then it is tried again whenever the one above it is listed. */
  private Optional<SeenFolder> enter(
      SeenFolder above, Child child, IgnoreStack stack, IgnoreStack.Fate fate, Changes changes)
      throws IOException {
    listener.entering(child.file());
    Map<String, Child> below;
    try {
      below = Child.allIn(child.file());
    } catch (FileSystemException closed) {
      listener.left(child.file());
      return Optional.empty();
    }
    requireThere(child.file(), below);
    IgnoreStack inner = stack.enter(child.name(), child.file(), below.keySet(), fate, indexes);
    var place = new SeenFolder.Place(above, child.name(), fate);
    var folder = new SeenFolder(child.file(), child.look().stamp().inode(), Optional.of(place));
    seen.put(folder.path(), folder);
    list(folder, below, Optional.of(inner), changes);
    changes.entered.add(folder);
    changes.here(folder.listing().files());
    return Optional.of(folder);
  }

  private void leave(SeenFolder folder, Changes changes) {
    changes.gone(folder.listing().files());
    found -= folder.listing().files().size();
    odd.remove(folder);
    if (seen.remove(folder.path(), folder)) {
      listener.left(folder.path());
    }
    folder.listing().folders().values().forEach(below -> leave(below, changes));
  }

  private void add(
      Child child,
      IgnoreStack stack,
      List<ScannedFile> files,
      Map<String, SeenFolder.Oddity> oddities)
      throws IOException {
    String path = stack.base() + child.name();
    if (path.getBytes(StandardCharsets.UTF_8).length > MAX_PATH_BYTES) {
      oddities.put(path, SeenFolder.Oddity.NAME);
      return;
    }
    Optional<String> target = Optional.empty();
    if (child.look().isLink()) {
      target = target(stack.base(), child.file());
      if (target.isEmpty()) {
        oddities.put(path, SeenFolder.Oddity.LINK);
        return;
      }
    } else if (!child.look().isFile()) {
      oddities.put(path, SeenFolder.Oddity.NO_FILE);
      return;
    }
    if (found == MAX_ENTRIES) {
      throw new GpushException(new SyncFailure.TooManyFiles(root.toString(), MAX_ENTRIES));
    }
    found++;
    files.add(new ScannedFile(path, child.look(), target, stack.isTrackedFile(child.name())));
  }

  /** The target of a link in this folder; empty when it leads out, or cannot be read. */
  static Optional<String> target(String base, Path link) {
    try {
      Path target = Files.readSymbolicLink(link);
      boolean isSent = isUtf8(target) && staysInside(base, target.toString());
      return isSent ? Optional.of(target.toString()) : Optional.empty();
    } catch (IOException gone) {
      return Optional.empty();
    }
  }

  /** Else the path as text is another path. */
  static boolean isUtf8(Path path) {
    String text = path.toString();
    try {
      return text.indexOf(NO_UTF8) < 0 || path.getFileSystem().getPath(text).equals(path);
    } catch (InvalidPathException notInThisLocale) {
      return false;
    }
  }

  /** Whether a relative target, from a link in this folder, does not lead above the root. */
  static boolean staysInside(String base, String target) {
    if (target.startsWith("/") || target.isEmpty()) {
      return false;
    }
    int depth = (int) base.chars().filter(c -> c == '/').count();
    for (String part : target.split("/", -1)) {
      if (part.equals("..")) {
        depth--;
      } else if (!part.isEmpty() && !part.equals(".")) {
        depth++;
      }
      if (depth < 0) {
        return false;
      }
    }
    return true;
  }
}
