package dev.gpush.gateway.session.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a gateway keeps of a session beside the ledger: hashes of its files, records of its runs.
 */
public record SessionFiles(Path home) {
  public Path of(LedgerEntry entry) {
    return home.resolve("sessions").resolve(entry.id());
  }

  /** For a session that is over: nobody can ask for any of it. What cannot be deleted stays. */
  public void forget(LedgerEntry entry) {
    Path folder = of(entry);
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (Stream<Path> all = Files.walk(folder)) {
      List<Path> deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
      for (Path file : deepestFirst) {
        Files.deleteIfExists(file);
      }
    } catch (IOException | UncheckedIOException kept) {
      // Another command forgets it at the same time, or the next gateway tries again when it reads
      // the ledger.
    }
  }
}
