package dev.gpush.launch.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.task.Tasks;
import dev.gpush.launch.journal.JournalReader;
import dev.gpush.launch.journal.RunEvent;
import dev.gpush.launch.journal.RunJournal;
import dev.gpush.launch.journal.RunTalk;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.node.NodeCalls;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;

/** Brings what a run printed home: a file for each rank, with the bytes that it wrote. */
public final class RunFetch {
  /** So that git does not show the files, nor this one, in a workspace that is a repository. */
  private static final String IGNORES_ALL = "*\n";

  private final LaunchSite site;
  private final Tasks tasks;

  public RunFetch(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /**
   * Writes {@code rank-3.log} and the like into the folder, which is made; those of earlier
   * attempts into {@code attempt-1} below it.
   *
   * @return how many bytes there are
   * @throws GpushException the failure of the first node that has one; by then all of them are
   *     named, and the output of all others is there
   */
  public long fetch(RunRecord record, Attempts attempts, Path folder, Talk talk)
      throws InterruptedException {
    long bytes = 0;
    var failures = new ConcurrentSkipListMap<Integer, GpushException>();
    prepare(folder);
    for (int before = attempts.kept(); before >= 0; before--) {
      Path to = before == 0 ? folder : folder.resolve("attempt-" + (attempts.number() - before));
      Json.Obj selection = before == 0 ? Json.object() : Json.object("before", before);
      List<Long> fetched =
          tasks.each(
              "fetch-" + record.number(),
              record.parts(),
              part -> {
                NodeCalls calls = site.nodes().get(part.node()).calls();
                var journal = new JournalReader(calls, part.node(), record.number(), selection);
                try {
                  return fetch(calls, journal, part.node(), to, talk);
                } catch (GpushException failed) {
                  failures.putIfAbsent(part.node(), failed);
                  return 0L;
                }
              });
      bytes += fetched.stream().mapToLong(n -> n).sum();
    }
    if (!failures.isEmpty()) {
      failures.keySet().forEach(node -> talk.say(RunTalk.unfetched(node)));
      throw failures.firstEntry().getValue();
    }
    return bytes;
  }

  private static void prepare(Path folder) {
    try {
      Files.createDirectories(folder);
      Files.writeString(folder.resolve(".gitignore"), IGNORES_ALL);
    } catch (IOException failed) {
      throw notWritten(folder, failed);
    }
  }

  private static long fetch(
      NodeCalls calls, JournalReader journal, int node, Path folder, Talk talk)
      throws InterruptedException {
    try (var files = new RankFiles(node, folder, talk)) {
      try {
        journal.show(files::take);
        files.keep(true);
      } catch (GpushException failed) {
        files.keep(false);
        if (JournalReader.isUnknown(failed)) {
          talk.say(RunTalk.swept(node));
        } else if (calls.isLost()) {
          talk.say(RunTalk.lost(node));
        } else {
          throw failed;
        }
      }
      return files.bytes;
    } catch (IOException failed) {
      throw notWritten(folder, failed);
    }
  }

  private static GpushException notWritten(Path folder, IOException failed) {
    return new GpushException(
        new SyncFailure.NotWritten(folder.toString(), FileReason.of(failed)), failed);
  }

  /**
   * The files of one node; they stay open, because ranks print by turns. Until all has come they
   * are beside those of an earlier fetch.
   */
  private static final class RankFiles implements AutoCloseable {
    private final int node;
    private final Path folder;
    private final Talk talk;
    private final Map<Integer, OutputStream> files = new HashMap<>();
    private final List<Path> places = new ArrayList<>();
    private long bytes;

    RankFiles(int node, Path folder, Talk talk) throws IOException {
      this.node = node;
      this.folder = folder;
      this.talk = talk;
      Files.createDirectories(folder);
    }

    void take(int rank, int channel, byte[] payload) {
      try {
        if (channel == RunJournal.EVENT) {
          RunTalk.missing(node, RunEvent.parse(payload)).ifPresent(talk::say);
          return;
        }
        if (!files.containsKey(rank)) {
          String name = rank == RunJournal.LAUNCHER ? "launcher-" + node : "rank-" + rank;
          Path file = folder.resolve(name + ".log");
          files.put(rank, new BufferedOutputStream(Files.newOutputStream(part(file))));
          places.add(file);
        }
        files.get(rank).write(payload);
        bytes += payload.length;
      } catch (IOException failed) {
        throw notWritten(folder, failed);
      }
    }

    private static Path part(Path file) {
      return file.resolveSibling(file.getFileName() + ".part");
    }

    /**
     * @param isWhole all has come; else a file that is longer, of an earlier fetch, stays
     */
    void keep(boolean isWhole) throws IOException {
      closeAll();
      for (Path file : places) {
        if (isWhole || !Files.exists(file) || Files.size(part(file)) > Files.size(file)) {
          Files.move(part(file), file, StandardCopyOption.ATOMIC_MOVE);
        }
      }
    }

    private void closeAll() throws IOException {
      for (OutputStream file : files.values()) {
        file.close();
      }
    }

    @Override
    public void close() throws IOException {
      try {
        closeAll();
      } finally {
        for (Path file : places) {
          Files.deleteIfExists(part(file));
        }
      }
    }
  }
}
