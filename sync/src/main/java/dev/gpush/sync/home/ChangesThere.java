package dev.gpush.sync.home;

import dev.gpush.core.task.Clock;
import dev.gpush.core.text.Phrase;
import dev.gpush.sync.git.IgnoreStack;
import dev.gpush.sync.node.FoundNames;
import dev.gpush.sync.node.NodeConversation;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Merge;
import dev.gpush.sync.tree.Version;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Finds new files, deletions and renames on the editors' node, and decides which of them come home.
 *
 * <p>The node lists what it does not know, folder by folder, and only in those that the rules of
 * the workspace do not ignore. What is not ignored may still be output: its name, its size, a run
 * that was on, and a limit for each day decide; of what git tracks there, only its size and a
 * larger limit. Nothing comes before it is unchanged for a second.
 */
public final class ChangesThere {
  /** What a program wrote is larger than what a person typed; {@code gpush pull} has no limit. */
  public static final long LARGEST_EDIT = 50L << 20;

  /** New folders that are looked into in one look; more hold data. */
  private static final int MOST_FOLDERS = 500;

  private static final int MAX_DEPTH = 32;

  /** Fewer deleted files than this, or than a fifth, are normal. */
  private static final int MANY_DELETED = 50;

  private static final int FIFTH = 5;

  /** Of what stays, for its users. */
  private static final int MOST_NAMED = 1_000;

  private static final Set<String> RULE_FILES =
      Set.of(IgnoreStack.GIT_IGNORE, IgnoreStack.GPUSH_IGNORE);

  private static final Map<String, String> MARKS =
      Map.of(
          IgnoreStack.GIT,
          "a repository of its own",
          "pyvenv.cfg",
          "a virtual environment",
          "CACHEDIR.TAG",
          "a cache");

  /** The rules of a folder of the workspace, whether it is here or not. */
  @FunctionalInterface
  public interface Rules {
    /** Empty when nothing in it is sent. */
    Optional<IgnoreStack> of(String folder) throws IOException;
  }

  /**
   * A file that came home already, and was changed there before it was sent.
   *
   * @param here what has come
   * @param isDoubted what is here was renamed as it was there, and goes to the trash: perhaps
   *     nobody else has it
   */
  public record Newer(String path, Entry here, String stamp, boolean isDoubted) {}

  /**
   * What has come home and is not in a generation yet.
   *
   * @param stamp when it was pulled
   */
  private record Brought(Entry entry, String stamp) {}

  /**
   * What may come home now.
   *
   * @param news in the order of their paths; those that were renamed have a {@code from}
   * @param deleted without those that were renamed
   * @param isMany so much is deleted that it may be an accident, so the user is asked
   * @param replaced what has come home, is in no generation yet, and was changed here only
   * @param both the same, changed on both sides
   * @param isUnsettled something else has changed there so lately that it may not be complete
   */
  public record Found(
      List<NewFile> news,
      List<NewFile.Deleted> deleted,
      List<Newer> newer,
      boolean isMany,
      Set<String> replaced,
      Set<String> both,
      boolean isUnsettled) {
    public Found {
      news = List.copyOf(news);
      deleted = List.copyOf(deleted);
      newer = List.copyOf(newer);
      replaced = Set.copyOf(replaced);
      both = Set.copyOf(both);
    }

    public static Found nothing() {
      return new Found(List.of(), List.of(), List.of(), false, Set.of(), Set.of(), false);
    }

    public boolean isEmpty() {
      return news.isEmpty() && deleted.isEmpty() && newer.isEmpty();
    }

    /** Of all that may come. */
    public Stream<String> paths() {
      return Stream.of(
              news.stream().map(NewFile::path),
              deleted.stream().map(NewFile.Deleted::path),
              newer.stream().map(Newer::path))
          .flatMap(each -> each);
    }
  }

  private final Clock clock;
  private final long largestNew;
  private final Sightings sightings;
  private final DayLimit limit = DayLimit.made();
  private final DayLimit trackedLimit = DayLimit.tracked();
  private final Map<String, Brought> brought = new HashMap<>();
  private final Map<String, Entry> edited = new HashMap<>();
  private final RefusedFiles refused = new RefusedFiles();
  private volatile Map<String, String> staying = Map.of();

  /**
   * @param settled for so long nothing of what comes has changed
   * @param largestNew in bytes: larger new files stay, until {@code gpush pull}, which has no limit
   */
  public ChangesThere(Duration settled, long largestNew, Clock clock) {
    this.clock = clock;
    this.largestNew = largestNew;
    this.sightings = new Sightings(settled);
  }

  /** Paths of new files and folders that stay on the node, and why. On any thread. */
  public Map<String, String> staying() {
    return staying;
  }

  /** Whether files that say what is ignored differ, so that other names there may be wanted. */
  public static boolean areOtherRules(Manifest before, Manifest now) {
    return now.differences(before).stream()
        .anyMatch(path -> RULE_FILES.contains(path.substring(path.lastIndexOf('/') + 1)));
  }

  /** Whether this number of deletions is so large that it may be an accident. */
  public static boolean areMany(int deleted, int of) {
    return deleted > MANY_DELETED && deleted > of / FIFTH;
  }

  /**
   * Looks at a node that has just been checked.
   *
   * @param wanted what is here
   */
  public Found look(NodeConversation node, Manifest wanted, Rules rules) throws IOException {
    sightings.begin();
    var look = new Look(node, wanted, rules);
    look.names();
    node.ignore(look.ignored);
    Found found = look.found();
    staying = look.stays;
    return found;
  }

  /** It is here now. */
  public void brought(NewFile file, Entry entry) {
    brought.put(file.path(), new Brought(entry, file.stamp()));
    if (file.from().isEmpty()) {
      limit(file.isTracked()).came(file.size(), clock.nanos());
    }
  }

  /** In bytes; more of a file that git tracks, or that came home before, does not come. */
  public long largest() {
    return Math.max(largestNew, LARGEST_EDIT);
  }

  private DayLimit limit(boolean isTracked) {
    return isTracked ? trackedLimit : limit;
  }

  /** It is here as it is there now. */
  public void broughtAgain(Newer newer, Entry entry) {
    brought.put(newer.path(), new Brought(entry, newer.stamp()));
  }

  /** The node has something else there than what is here, which its stamp did not tell. */
  public void doubt(String path) {
    brought.computeIfPresent(path, (_, came) -> new Brought(came.entry(), ""));
  }

  /** What gpush has written here and is in no generation yet, as it came. */
  public Map<String, Entry> brought() {
    var entries = new HashMap<String, Entry>();
    brought.forEach((path, came) -> entries.put(path, came.entry()));
    return entries;
  }

  /** An edit is here, as it came. */
  public void edited(String path, Entry entry) {
    edited.put(path, entry);
  }

  /** Edits that are here and in no generation yet, as they came. */
  public Map<String, Entry> edited() {
    return Map.copyOf(edited);
  }

  /** All nodes have what is here, but for what is held. */
  public void pushed(Set<String> held) {
    edited.keySet().retainAll(held);
    refused.forgetGone();
  }

  /** The node started again empty, so nothing that came home is there any more. */
  public void emptied() {
    brought.clear();
    edited.clear();
    staying = Map.of();
  }

  /** Looks as a push begins, which tries again what could not come, until this runs. */
  public Runnable tryAll() {
    Map<String, String> stayed = staying;
    Runnable back = refused.aside();
    return () -> {
      back.run();
      staying = stayed;
    };
  }

  public RefusedFiles refused() {
    return refused;
  }

  /** Whether gpush has written it here, and it is in no generation yet. */
  public boolean isBrought(String path) {
    return brought.containsKey(path);
  }

  /** One look. */
  private final class Look {
    private final NodeConversation node;
    private final Manifest wanted;
    private final Rules rules;
    private final long nanos = clock.nanos();
    private final DeletionsThere gone;
    private final Map<String, String> stays = new TreeMap<>(Manifest.ORDER);
    private final List<String> ignored = new ArrayList<>();
    private int ignoredChars;
    private final List<NewFile> renamed = new ArrayList<>();
    private final List<NewFile> made = new ArrayList<>();
    private final List<Newer> newer = new ArrayList<>();
    private final Set<String> replaced = new HashSet<>();
    private final Set<String> both = new HashSet<>();
    private List<String> folders = new ArrayList<>();
    private boolean isUnsettled;

    Look(NodeConversation node, Manifest wanted, Rules rules) {
      this.node = node;
      this.wanted = wanted;
      this.rules = rules;
      this.gone = new DeletionsThere(node.holds(), wanted, edited, node.isOfAnotherFolder());
    }

    // ---- names

    void names() throws IOException {
      brought.keySet().removeIf(path -> node.holds().manifest().get(path).isPresent());
      both.addAll(brought.keySet()); // A link or a folder may be where the file was.
      FoundNames found = node.newNames();
      for (Map.Entry<String, FoundNames.Folder> each : found.folders().entrySet()) {
        folder(each.getKey(), each.getValue(), true);
      }
      for (int depth = 0; !folders.isEmpty(); depth++) {
        if (folders.size() > MOST_FOLDERS || depth == MAX_DEPTH) {
          folders.forEach(folder -> stay(folder + "/", "it is one of too many new folders"));
          gone.unseen(folders, depth == 0);
          return;
        }
        found = node.find(folders);
        folders = new ArrayList<>();
        for (Map.Entry<String, FoundNames.Folder> each : found.folders().entrySet()) {
          folder(each.getKey(), each.getValue(), false);
        }
      }
    }

    /** Decides about each name in it; of one that is known, something is sent already. */
    private void folder(String path, FoundNames.Folder folder, boolean isKnown) throws IOException {
      Optional<IgnoreStack> stack = rules.of(path);
      if (stack.isEmpty()) {
        return;
      }
      String base = path.isEmpty() ? "" : path + "/";
      if (folder.whyNotAll().isPresent()) {
        stay(base, folder.whyNotAll().get());
        gone.cut();
      }
      List<FoundNames.Name> names = folder.names();
      if (!isKnown) {
        Optional<String> mark = mark(names);
        if (mark.isPresent()) {
          stay(base, "it is " + mark.orElseThrow());
          return;
        }
        names = withRulesFirst(names, base);
      }
      boolean isAmongOutput = Stream.of(path.split("/", -1)).anyMatch(OutputNames::isOutputFolder);
      for (FoundNames.Name name : names) {
        boolean isFolder = name.kind() == FoundNames.Kind.FOLDER;
        IgnoreStack.Fate fate = stack.orElseThrow().decide(name.name(), isFolder).fate();
        if (fate == IgnoreStack.Fate.IGNORED) {
          ignore(base + name.name() + (isFolder ? "/" : ""));
        } else if (isFolder) {
          subfolder(base + name.name(), name);
        } else {
          file(base + name.name(), name, isAmongOutput);
        }
      }
    }

    private void ignore(String path) {
      ignoredChars += path.length();
      if (ignoredChars < NodeConversation.MOST_CHARS) {
        ignored.add(path);
      }
    }

    private static Optional<String> mark(List<FoundNames.Name> names) {
      return names.stream()
          .flatMap(name -> Optional.ofNullable(MARKS.get(name.name())).stream())
          .findFirst();
    }

    /** What a new folder has for rules comes first, and decides about the rest of it. */
    private List<FoundNames.Name> withRulesFirst(List<FoundNames.Name> names, String base) {
      List<FoundNames.Name> first =
          names.stream()
              .filter(name -> RULE_FILES.contains(name.name()))
              .filter(name -> wanted.get(base + name.name()).isEmpty())
              .filter(name -> !refused.contains(base + name.name()))
              .toList();
      isUnsettled |= !first.isEmpty() && first.size() < names.size();
      return first.isEmpty() ? names : first;
    }

    private void subfolder(String path, FoundNames.Name name) {
      boolean isTracked = name.maker() == FoundNames.Maker.GIT;
      if (!isTracked && OutputNames.isOutputFolder(name.name())) {
        stay(path + "/", "programs call their output so");
      } else if (!isTracked && OutputNames.isHiddenFolder(name.name())) {
        stay(path + "/", "it is hidden");
      } else {
        folders.add(path);
      }
    }

    private void file(String path, FoundNames.Name name, boolean isAmongOutput) {
      Optional<Entry> here = wanted.get(path);
      Optional<String> before = refused.why(path, name.stamp());
      Optional<NewFile.Deleted> from = name.from().flatMap(gone::renamed);
      if (name.kind() == FoundNames.Kind.OTHER) {
        stay(path, name.whyNot());
        return;
      }
      if (here.isPresent()) {
        Brought came = brought.get(path);
        if (came != null && name.kind() != FoundNames.Kind.FOLDER && before.isEmpty()) {
          again(path, here.orElseThrow(), came, name.stamp());
        }
      } else if (before.isPresent()) {
        stay(path, before.orElseThrow());
      } else if (isAsItCame(path, name.stamp())) {
        stay(path, "it came home, and was deleted or renamed here");
      } else if (from.isPresent()) {
        renamed.add(new NewFile(path, name.size(), name.stamp(), from, false));
      } else {
        boolean isTracked = name.maker() == FoundNames.Maker.GIT;
        Optional<String> why = isTracked ? whyLarge(name) : whyOutput(name, isAmongOutput);
        why.ifPresent(text -> stay(path, text));
        if (why.isEmpty()) {
          made.add(new NewFile(path, name.size(), name.stamp(), Optional.empty(), isTracked));
        }
      }
    }

    private boolean isAsItCame(String path, String stamp) {
      return Optional.ofNullable(brought.get(path))
          .filter(came -> came.stamp().equals(stamp))
          .isPresent();
    }

    private void again(String path, Entry here, Brought came, String stamp) {
      both.remove(path);
      Version ancestor = Version.of(Optional.of(came.entry()));
      Version there = came.stamp().equals(stamp) ? ancestor : new Version.Unread("");
      switch (Merge.of(ancestor, Version.of(Optional.of(here)), there, Merge.Editing.COMES_HOME)) {
        case Merge.ComeHome _ -> {
          if (isSettled(path, stamp)) {
            newer.add(new Newer(path, here, stamp, came.stamp().isEmpty()));
          }
        }
        case Merge.Send _ -> replaced.add(path);
        case Merge.Hold _ -> both.add(path);
        case Merge.Adopt _, Merge.LeaveAlone _, Merge.DeleteHere _, Merge.DeleteThere _ -> {}
      }
    }

    private Optional<String> whyOutput(FoundNames.Name name, boolean isAmongOutput) {
      boolean isCode = OutputNames.isCode(name.name());
      if (OutputNames.isOutputFile(name.name()) || (isAmongOutput && !isCode)) {
        return Optional.of("programs call their output so");
      }
      if (name.size() > largestNew) {
        return Optional.of("it has more than " + Phrase.size(largestNew) + " (sync.new-from-node)");
      }
      if (name.maker() == FoundNames.Maker.RUN && !isCode) {
        return Optional.of("a run was on when it was written");
      }
      return Optional.empty();
    }

    /** A checkout brings no larger ones than an edit does. */
    private Optional<String> whyLarge(FoundNames.Name name) {
      return Optional.of("it has more than " + Phrase.size(largest()))
          .filter(_ -> name.size() > largest());
    }

    private void stay(String path, String why) {
      if (stays.size() < MOST_NAMED) {
        stays.put(path, why);
      }
    }

    // ---- what may come

    Found found() {
      keepLimit(false);
      keepLimit(true);
      var news = new ArrayList<NewFile>();
      for (NewFile file : made) {
        if (isSettled(file.path(), file.stamp())) {
          news.add(file);
        }
      }
      for (NewFile file : renamed) {
        NewFile.Deleted from = file.from().orElseThrow();
        if (!gone.take(from)) {
          continue;
        }
        boolean isSettled = isSettled(file.path(), file.stamp());
        if (isSettled(from.path(), RefusedFiles.GONE) && isSettled) {
          news.add(file);
        }
      }
      DeletionsThere.Coming deleted =
          gone.coming(
              path -> refused.why(path, RefusedFiles.GONE).isPresent(),
              path -> isSettled(path, RefusedFiles.GONE));
      news.sort(Comparator.comparing(NewFile::path, Manifest.ORDER));
      return new Found(
          news, deleted.deleted(), newer, deleted.isMany(), replaced, both, isUnsettled);
    }

    /** All of what is too much stays. It is looked at again: git writes its index last. */
    private void keepLimit(boolean isTracked) {
      List<NewFile> all = made.stream().filter(file -> file.isTracked() == isTracked).toList();
      long bytes = all.stream().mapToLong(NewFile::size).sum();
      Optional<String> whyNot = limit(isTracked).whyNot(all.size(), bytes, nanos);
      whyNot.ifPresent(
          why -> {
            all.forEach(file -> stay(file.path(), why));
            all.forEach(file -> isSettled(file.path(), file.stamp()));
            made.removeAll(Set.copyOf(all));
          });
    }

    private boolean isSettled(String path, String stamp) {
      boolean isSettled = sightings.isSettled(path, stamp, nanos);
      isUnsettled |= !isSettled;
      return isSettled;
    }
  }
}
