package dev.gpush.launch.run;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.session.SessionName;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;

/**
 * The runs of a session: one JSON file each, written beside and moved into place, so that a reader
 * or a crash never meets half of one. Thread-safe.
 */
public final class RunHistory {
  private static final System.Logger LOG = System.getLogger("gpush.run");

  /** How many ended runs are kept; an evening of experiments makes a hundred. */
  private static final int KEPT = 500;

  private static final String LEFT = "left";
  private static final String REPLACED = "replaced";

  private final Path folder;
  private volatile Runnable listener = () -> {};

  // guarded by this
  private final TreeMap<Integer, RunRecord> records = new TreeMap<>();
  private final Set<Integer> left = new HashSet<>();

  // Those left whose number another run has here, until they are killed.
  private final TreeMap<Integer, RunRecord> replaced = new TreeMap<>();

  public RunHistory(Path folder) {
    this.folder = folder;
    try (var files = Files.newDirectoryStream(folder, "*.json")) {
      for (Path file : files) {
        read(file);
      }
    } catch (NoSuchFileException | NotDirectoryException notYet) {
      // Made with the first run.
    } catch (IOException unreadable) {
      throw unusable(folder, unreadable);
    }
  }

  /** A damaged file is left in place: the run is not listed, and its number is not used again. */
  private void read(Path file) throws IOException {
    try {
      Json known = Json.parse(Files.readString(file));
      RunRecord.from(known).ifPresent(record -> records.put(record.number(), record));
      if (known.flag(LEFT)) {
        known.integer("run").ifPresent(left::add);
      }
      RunRecord.from(known.object(REPLACED)).ifPresent(old -> replaced.put(old.number(), old));
    } catch (JsonSyntaxException | java.nio.charset.CharacterCodingException damaged) {
      // The others are read.
    }
  }

  /** Calls this after each change, on the thread that made it. */
  public void onChange(Runnable after) {
    listener = after;
  }

  public void put(RunRecord record) {
    try {
      write(record);
    } finally {
      listener.run();
    }
  }

  private synchronized void write(RunRecord record) {
    records.put(record.number(), record);
    try {
      Files.createDirectories(folder);
      Json.Obj json = record.json();
      if (isLeft(record.number())) {
        json = json.with(LEFT, true);
      }
      if (replaced.containsKey(record.number())) {
        json = json.with(REPLACED, replaced.get(record.number()).json());
      }
      WholeFile.write(file(record.number()), json.pretty() + "\n", WholeFile.PRIVATE);
    } catch (IOException failed) {
      throw unusable(folder, failed);
    }
    forgetOldest();
  }

  /**
   * As {@link #put}, of a run that has started: it must be known here even if the disk refuses. The
   * file then tells too little, and a new gateway finds the rest on the nodes.
   */
  public void keep(RunRecord record) {
    try {
      put(record);
    } catch (GpushException unwritten) {
      LOG.log(System.Logger.Level.WARNING, "not recorded, run=" + record.number(), unwritten);
    }
  }

  /**
   * As {@link #keep}, of a run that a node reports, unless its number is known. It replaces what a
   * failed start of another run has left with its number, unless that may go on and this one is
   * over; if both may go on, the other one is among the {@link #replaced}.
   */
  public void adopt(RunRecord run, boolean isAlive) {
    synchronized (this) {
      Optional<RunRecord> known = find(run.number());
      if (known.isPresent() && (!isLeft(run.number()) || known.get().isThat(run.about()))) {
        return;
      }
      Optional<RunRecord> going = known.filter(old -> !old.state().isOver());
      if (!isAlive && going.isPresent()) {
        return;
      }
      left.remove(run.number());
      going.ifPresent(old -> replaced.put(old.number(), old));
    }
    keep(run);
  }

  /** What failed starts have left, and may go on, with numbers that other runs have here. */
  public synchronized List<RunRecord> replaced() {
    return List.copyOf(replaced.values());
  }

  /** One of the {@link #replaced} is on no node any more. */
  public void killed(RunRecord old) {
    Optional<RunRecord> known;
    synchronized (this) {
      replaced.remove(old.number());
      known = find(old.number());
    }
    known.ifPresent(this::keep);
  }

  /** As {@link #keep}, of a start that has failed and could not end all ranks. */
  public void leave(RunRecord record) {
    synchronized (this) {
      left.add(record.number());
    }
    keep(record);
  }

  /** Whether its start has failed and could not end all ranks; also of an earlier gateway. */
  public synchronized boolean isLeft(int number) {
    return left.contains(number);
  }

  private void forgetOldest() throws GpushException {
    List<RunRecord> over =
        records.values().stream()
            .filter(record -> record.state().isOver() && !replaced.containsKey(record.number()))
            .toList();
    for (RunRecord record : over.subList(0, Math.max(0, over.size() - KEPT))) {
      records.remove(record.number());
      try {
        Files.deleteIfExists(file(record.number()));
      } catch (IOException failed) {
        throw unusable(folder, failed);
      }
    }
  }

  /** It never came to be; {@link #leave} may have kept it all the same. */
  public void remove(int number) {
    synchronized (this) {
      if (left.contains(number)) {
        return;
      }
      records.remove(number);
    }
    listener.run();
    try {
      Files.deleteIfExists(file(number));
    } catch (IOException failed) {
      throw unusable(folder, failed);
    }
  }

  /** The newest first. */
  public synchronized List<RunRecord> list() {
    var found = new ArrayList<>(records.values());
    found.sort(Comparator.comparingInt(RunRecord::number).reversed());
    return found;
  }

  public synchronized Optional<RunRecord> find(int number) {
    return Optional.ofNullable(records.get(number));
  }

  /** By number, or the newest when empty. */
  public synchronized RunRecord require(Optional<Integer> run, SessionName session) {
    return (run.isPresent() ? find(run.get()) : newest())
        .orElseThrow(
            () ->
                new GpushException(
                    new LaunchFailure.UnknownRun(
                        session.text(),
                        run.map(String::valueOf).orElse("newest"),
                        list().stream().map(known -> Integer.toString(known.number())).toList())));
  }

  /** That of a program if there was one: people who name no run mean the last that they started. */
  public synchronized Optional<RunRecord> newest() {
    return newest(RunKind.PROGRAM).or(() -> newest(RunKind.NOTEBOOK));
  }

  public synchronized Optional<RunRecord> newest(RunKind kind) {
    return records.descendingMap().values().stream()
        .filter(record -> record.asked().kind() == kind)
        .findFirst();
  }

  /** The run that a command without words repeats; empty for one with words. */
  public Optional<RunRecord> repeated(RunRequest.Command command, SessionName session) {
    if (!command.words().isEmpty()) {
      return Optional.empty();
    }
    Optional<Long> at = command.at();
    return Optional.of(
        at.isPresent()
            ? newestOn(at.get(), session)
            : newest(RunKind.PROGRAM)
                .orElseThrow(
                    () -> new GpushException(new LaunchFailure.NothingToRepeat(session.text()))));
  }

  /** The newest run of a program that began with the files of this generation. */
  private synchronized RunRecord newestOn(long generation, SessionName session) {
    List<RunRecord> programs =
        list().stream().filter(record -> record.asked().kind() == RunKind.PROGRAM).toList();
    return programs.stream()
        .filter(record -> record.launched().generation() == generation)
        .findFirst()
        .orElseThrow(
            () ->
                new GpushException(
                    new LaunchFailure.NoGeneration(
                        session.text(),
                        generation,
                        programs.stream()
                            .map(record -> record.launched().generation())
                            .distinct()
                            .toList())));
  }

  /** A number that no file here has. */
  public synchronized int next() {
    int number = records.isEmpty() ? 1 : records.lastKey() + 1;
    while (Files.exists(file(number))) {
      number++;
    }
    return number;
  }

  private Path file(int number) {
    return folder.resolve(number + ".json");
  }

  private static GpushException unusable(Path folder, IOException cause) {
    return new GpushException(
        new GatewayFailure.HomeUnusable(folder.toString(), FileReason.of(cause)), cause);
  }
}
