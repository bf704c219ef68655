package dev.gpush.gateway.session.ledger;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.HomePart;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * One small file per session, written whole, fsynced and renamed, before any remote call: whatever
 * kills this process, the next one finds either the old entry or the new one. A file that cannot be
 * read is put aside under another name, never deleted.
 *
 * <p>Thread-safe: entries of one session are only written under that session's lock.
 */
public final class Ledger {
  /** Ended sessions are kept for {@code doctor}; more are not needed. */
  private static final int MAX_ENDED = 200;

  /** An entry is about a page; a larger file is not an entry. */
  private static final long MAX_BYTES = 1 << 20;

  private final Path folder;

  public Ledger(Path folder) {
    this.folder = folder;
  }

  /**
   * An entry of a higher term stays as it is: another gateway of this home has taken the gang over
   * since, and agents refuse the lower term.
   */
  public void put(LedgerEntry entry) {
    Path file = file(entry);
    try {
      HomePart.make(folder);
      if (term(file) > entry.keeper().term()) {
        return;
      }
      WholeFile.writeDurably(file, entry.json().pretty() + "\n");
    } catch (IOException failed) {
      throw new GpushException(
          new GatewayFailure.HomeUnusable(file.toString(), reason(failed)), failed);
    }
  }

  /** Of the entry that is there; that of none, and of one that is damaged, is 0. */
  private static long term(Path file) throws IOException {
    try {
      return LedgerEntry.from(Json.parse(read(file))).keeper().term();
    } catch (NoSuchFileException | CharacterCodingException | RuntimeException none) {
      return 0;
    }
  }

  /** Removes the entry of a request that failed. */
  public void forget(LedgerEntry entry) {
    try {
      if (Files.deleteIfExists(file(entry))) {
        WholeFile.sync(folder);
      }
    } catch (IOException failed) {
      throw new GpushException(
          new GatewayFailure.HomeUnusable(file(entry).toString(), reason(failed)), failed);
    }
  }

  /**
   * All entries, oldest first; what is no entry is put aside and returned by {@link #damaged}. A
   * file that cannot be read now may be an entry all the same, of a session that would be forgotten
   * with it: then this fails.
   */
  public List<LedgerEntry> load() {
    var entries = new ArrayList<LedgerEntry>();
    for (Path file : files(".json")) {
      try {
        if (Files.size(file) > MAX_BYTES) {
          throw new IllegalArgumentException("larger than a ledger entry can be");
        }
        LedgerEntry entry = LedgerEntry.from(Json.parse(read(file)));
        if (!file.equals(file(entry))) {
          // A copied file would be a second session with the same gang.
          throw new IllegalArgumentException("the entry of " + entry.id());
        }
        entries.add(entry);
      } catch (NoSuchFileException forgotten) {
        // A request that failed in the meantime.
      } catch (CharacterCodingException | RuntimeException damaged) {
        putAside(file);
      } catch (IOException failed) {
        throw new GpushException(
            new GatewayFailure.HomeUnusable(file.toString(), reason(failed)), failed);
      }
    }
    entries.sort(Comparator.comparing(LedgerEntry::created));
    prune(entries);
    return entries;
  }

  /** On NFS, reading may fail once while another machine replaces the file. */
  private static String read(Path file) throws IOException {
    try {
      return Files.readString(file);
    } catch (CharacterCodingException | NoSuchFileException known) {
      throw known;
    } catch (IOException replaced) {
      return Files.readString(file);
    }
  }

  /** Files that were put aside. */
  public List<Path> damaged() {
    return files(".damaged");
  }

  private void prune(List<LedgerEntry> entries) {
    List<LedgerEntry> ended = entries.stream().filter(entry -> entry.state().isOver()).toList();
    for (LedgerEntry old : ended.subList(0, Math.max(0, ended.size() - MAX_ENDED))) {
      forget(old);
      entries.remove(old);
    }
  }

  private void putAside(Path file) {
    Path aside = file.resolveSibling(file.getFileName() + ".damaged");
    for (int again = 2; Files.exists(aside); again++) {
      aside = file.resolveSibling(file.getFileName() + "." + again + ".damaged");
    }
    try {
      Files.move(file, aside);
    } catch (IOException failed) {
      throw new GpushException(
          new GatewayFailure.LedgerDamaged(file.toString(), reason(failed)), failed);
    }
  }

  private List<Path> files(String ending) {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    try (Stream<Path> all = Files.list(folder)) {
      return all.filter(file -> file.getFileName().toString().endsWith(ending)).sorted().toList();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The rename itself must survive a power failure too. */
  private Path file(LedgerEntry entry) {
    return folder.resolve(entry.id() + ".json");
  }

  private static String reason(IOException failed) {
    return FileReason.of(failed);
  }
}
