package dev.gpush.sync.scan;

import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.sync.tree.Hashes;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;

/**
 * The hashes of files that {@link TreeScan} has read, so that it reads no unchanged file again, and
 * what the user agreed to send. In one file for each workspace; without it, a scan costs time and a
 * question.
 *
 * <p>An entry counts when size, both times and inode are the same, and when the file was read late
 * enough after its last change that a further change would show (git calls the opposite "racily
 * clean").
 */
final class HashCache {
  private static final System.Logger LOG = System.getLogger("gpush.sync");
  private static final int MAGIC = 0x67707331; // "gps" and the format
  private static final int HASH_BYTES = 32;

  /** A gateway that is killed has lost at most this part of what it read: one eighth. */
  private static final int PART = 8;

  /** How many times as large a confirmed tree may become before the user is asked again. */
  private static final int GROWTH = 2;

  private record Cached(FileStamp stamp, long readAt, String hash) {}

  private final Path file;
  private Map<String, Cached> entries = new HashMap<>();
  private Map<String, Cached> next = new HashMap<>();
  private final Set<String> agreed = new HashSet<>();
  private long agreedFiles;
  private long agreedBytes;
  private boolean isChanged;
  private int unsaved;

  private boolean isKept = true;

  private HashCache(Path file) {
    this.file = file;
  }

  static HashCache load(Path file) {
    var cache = new HashCache(file);
    try (var in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file), 1 << 16))) {
      cache.read(in);
    } catch (IOException | RuntimeException broken) {
      return new HashCache(file);
    }
    return cache;
  }

  /** What the file has; it is never written. */
  HashCache apart() {
    HashCache apart = load(file);
    apart.isKept = false;
    return apart;
  }

  Optional<String> hash(String path, FileStamp stamp) {
    Cached cached = entries.get(path);
    if (cached == null || !cached.stamp().equals(stamp) || !stamp.isSettled(cached.readAt())) {
      return Optional.empty();
    }
    // Keeps one of two equal stamps in memory.
    next.put(path, new Cached(stamp, cached.readAt(), cached.hash()));
    return Optional.of(cached.hash());
  }

  /**
   * Whether it was read so soon after its last change that another one may have the same stamp. Of
   * a modification time in the future only the looks at everything believe that, or each look would
   * read it.
   */
  boolean mayHaveChanged(String path, FileStamp stamp) {
    Cached cached = entries.get(path);
    return cached == null
        || !cached.stamp().equals(stamp)
        || (!stamp.isSettled(cached.readAt()) && !stamp.isAhead(cached.readAt()));
  }

  void put(String path, FileStamp stamp, long readAt, String hash) {
    next.put(path, new Cached(stamp, readAt, hash));
    isChanged = true;
    unsaved++;
  }

  /** It is as it was, though it was not found. */
  void keep(String path) {
    Optional.ofNullable(entries.get(path)).ifPresent(cached -> next.put(path, cached));
  }

  /** Whether it knows this file, or a file in this folder. */
  boolean has(String path) {
    return entries.keySet().stream()
        .anyMatch(known -> known.equals(path) || known.startsWith(path + "/"));
  }

  void forget(String path) {
    entries.remove(path);
    isChanged = true;
  }

  /**
   * Some folders were looked at: keeps what was found there, and forgets the paths that are gone.
   */
  void endLook(Iterable<String> gone) {
    gone.forEach(entries::remove);
    entries.putAll(next);
    next = new HashMap<>();
    isChanged = true;
  }

  /** Everything was looked at: forgets the paths that were not found. */
  void endScan() {
    isChanged |= next.size() != entries.size();
    entries = next;
    next = new HashMap<>();
  }

  boolean hasAgreed(String what) {
    return agreed.contains(what);
  }

  void agree(String what) {
    isChanged |= agreed.add(what);
  }

  boolean hasAgreedTo(long files, long bytes) {
    return files <= agreedFiles && bytes <= agreedBytes;
  }

  void agreeTo(long files, long bytes) {
    agreedFiles = Math.max(agreedFiles, files * GROWTH);
    agreedBytes = Math.max(agreedBytes, bytes * GROWTH);
    isChanged = true;
  }

  /** Whether enough was read since the last {@link #save} to be worth writing everything. */
  boolean isWorthSaving() {
    return unsaved > entries.size() / PART;
  }

  /**
   * Writes the file whole, if something changed. Where it cannot be written, as on a full disk, the
   * next gateway reads more.
   */
  void save() {
    if (!isChanged || !isKept) {
      return;
    }
    try {
      Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
      WholeFile.write(
          file,
          out -> {
            var data = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
            write(data);
            data.flush();
          });
      isChanged = false;
    } catch (IOException unwritten) {
      LOG.log(System.Logger.Level.WARNING, "hashes are not kept: " + FileReason.of(unwritten));
    }
    unsaved = 0;
  }

  private void write(DataOutputStream out) throws IOException {
    out.writeInt(MAGIC);
    out.writeLong(agreedFiles);
    out.writeLong(agreedBytes);
    out.writeInt(agreed.size());
    for (String what : agreed) {
      out.writeUTF(what);
    }
    out.writeInt(entries.size());
    for (Map.Entry<String, Cached> entry : entries.entrySet()) {
      Cached cached = entry.getValue();
      out.writeUTF(entry.getKey());
      out.writeLong(cached.stamp().size());
      out.writeLong(cached.stamp().modified());
      out.writeLong(cached.stamp().changed());
      out.writeLong(cached.stamp().inode());
      out.writeLong(cached.readAt());
      out.write(Hashes.bytes(cached.hash()));
    }
    out.writeInt(MAGIC);
  }

  private void read(DataInputStream in) throws IOException {
    require(in.readInt() == MAGIC);
    agreedFiles = in.readLong();
    agreedBytes = in.readLong();
    for (int count = in.readInt(); count > 0; count--) {
      agreed.add(in.readUTF());
    }
    int count = in.readInt();
    require(count >= 0 && count <= TreeWalk.MAX_ENTRIES);
    for (int i = 0; i < count; i++) {
      String path = in.readUTF();
      var stamp = new FileStamp(in.readLong(), in.readLong(), in.readLong(), in.readLong());
      long readAt = in.readLong();
      var hash = new byte[HASH_BYTES];
      in.readFully(hash);
      entries.put(path, new Cached(stamp, readAt, Hashes.hex(hash)));
    }
    require(in.readInt() == MAGIC);
  }

  private static void require(boolean holds) throws IOException {
    if (!holds) {
      throw new IOException("not a cache of ours");
    }
  }
}
