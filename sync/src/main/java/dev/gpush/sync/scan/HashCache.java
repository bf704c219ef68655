package dev.gpush.sync.scan;

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
 * What was read before, so that an unchanged file is not read again, and what the user agreed to
 * send. A cache: a lost or broken file only costs time and a question.
 *
 * <p>An entry counts when size, both times and inode are the same, and when the file was read late
 * enough after its last change that a further change would show (git calls the opposite "racily
 * clean").
 */
final class HashCache {
  private static final int MAGIC = 0x67707331; // "gps" and the format
  private static final int HASH_BYTES = 32;

  /** What a gateway that is killed may have read for nothing: a part of the tree. */
  private static final int PART = 8;

  /** How far a tree that was confirmed may grow before the user is asked again. */
  private static final int GROWTH = 2;

  private record Cached(FileStamp stamp, long readAt, String hash) {}

  private final Path file;
  private Map<String, Cached> entries = new HashMap<>();
  private Map<String, Cached> next = new HashMap<>();
  private final Set<String> agreed = new HashSet<>();
  private long agreedFiles;
  private long agreedBytes;
  private boolean isChanged;
  private int read;

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

  Optional<String> hash(String path, FileStamp stamp) {
    Cached cached = entries.get(path);
    if (cached == null || !cached.stamp().equals(stamp) || !stamp.isSettled(cached.readAt())) {
      return Optional.empty();
    }
    // One stamp in memory, not two that are equal.
    next.put(path, new Cached(stamp, cached.readAt(), cached.hash()));
    return Optional.of(cached.hash());
  }

  void put(String path, FileStamp stamp, long readAt, String hash) {
    next.put(path, new Cached(stamp, readAt, hash));
    isChanged = true;
    read++;
  }

  void forget(String path) {
    entries.remove(path);
    isChanged = true;
  }

  /** The look at some folders is over; these paths are gone. */
  void add(Iterable<String> gone) {
    gone.forEach(entries::remove);
    entries.putAll(next);
    next = new HashMap<>();
    isChanged = true;
  }

  /** The scan is over: forgets the paths that it did not find. */
  void turn() {
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

  /** Whether so much was read since it was written that writing all of it is little work. */
  boolean hasMuch() {
    return read > entries.size() / PART;
  }

  /** Written whole and renamed, when something changed. */
  void save() throws IOException {
    if (!isChanged) {
      return;
    }
    Files.createDirectories(Objects.requireNonNull(file.toAbsolutePath().getParent()));
    WholeFile.write(
        file,
        out -> {
          var data = new DataOutputStream(new BufferedOutputStream(out, 1 << 16));
          write(data);
          data.flush();
        });
    isChanged = false;
    read = 0;
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
