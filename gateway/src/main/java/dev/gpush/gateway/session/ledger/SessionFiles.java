package dev.gpush.gateway.session.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/** A session's files beside the ledger: hashes of the workspace, records of its runs. */
public record SessionFiles(Path home) {
  public Path of(LedgerEntry entry) {
    return home.resolve("sessions").resolve(entry.id());
  }

  /** For files of the workspace that were deleted on a node; it outlives the session. */
  public Path trash(LedgerEntry entry) {
    Path root = entry.root();
    String name = root.getFileName() == null ? "root" : root.getFileName().toString();
    String mark = Integer.toHexString(root.toString().hashCode());
    return home.resolve("trash").resolve(name + "-" + mark);
  }

  /** Deletes the files of a session that has ended. Files that cannot be deleted stay. */
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
      // Another command deletes it at the same time, or the next gateway tries again when it reads
      // the ledger.
    }
  }
}
