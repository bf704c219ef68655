package dev.gpush.sync.delta;

import dev.gpush.core.file.WholeFile;
import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The signatures of contents that were sent, on the disk, by SHA-256. A cache: what is lost or
 * wrong costs that a file is sent whole. Thread-safe.
 *
 * <p>A folder of up to 256 files, by the first byte of the hash, so that a save reads and appends
 * to one small file. A file that is too large keeps its newer half.
 */
public final class Signatures {
  /** Of one of the files. */
  private static final int MOST_BYTES = 512 << 10;

  /** In memory. */
  private static final int MOST_FRESH = 4096;

  private static final int HASH_BYTES = 32;
  private static final int HEAD_BYTES = HASH_BYTES + 8;
  private static final int NAME = 2;

  private final Path folder;

  // guarded by this
  private final Map<String, Signature> fresh = new TreeMap<>();

  /**
   * @param folder made when something is first kept there
   */
  public Signatures(Path folder) {
    this.folder = folder;
  }

  public synchronized Optional<Signature> of(String hash) {
    return Optional.ofNullable(fresh.get(hash)).or(() -> read(hash));
  }

  /** It is on the disk after {@link #save}. */
  public synchronized void put(String hash, Signature signature) {
    if (signature.count() > 0 && signature.count() <= Signature.MOST_BLOCKS) {
      fresh.put(hash, signature);
    }
    if (fresh.size() >= MOST_FRESH) {
      save();
    }
  }

  public synchronized void save() {
    var files = new TreeMap<String, List<String>>();
    fresh
        .keySet()
        .forEach(
            hash ->
                files.computeIfAbsent(hash.substring(0, NAME), _ -> new ArrayList<>()).add(hash));
    files.forEach(
        (name, hashes) -> {
          try {
            Files.createDirectories(folder);
            append(folder.resolve(name), hashes);
          } catch (IOException full) {
            // The next change of these files is sent whole.
          }
        });
    fresh.clear();
  }

  // holds lock
  private void append(Path file, List<String> hashes) throws IOException {
    byte[] before = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
    var more = new ByteArrayOutputStream();
    for (String hash : hashes) {
      Signature signature = fresh.get(hash);
      if (signature != null && find(before, hash).isEmpty()) {
        more.writeBytes(record(hash, signature));
      }
    }
    if (more.size() == 0) {
      return;
    }
    int good = whole(before);
    int from = good + more.size() > MOST_BYTES ? middle(before, good) : 0;
    ByteBuffer all = ByteBuffer.allocate(good - from + more.size());
    all.put(before, from, good - from).put(more.toByteArray());
    WholeFile.write(file, all.array(), WholeFile.PRIVATE);
  }

  /** How many bytes are whole records. */
  private static int whole(byte[] bytes) {
    int at = 0;
    while (true) {
      int next = next(bytes, at);
      if (next < 0) {
        return at;
      }
      at = next;
    }
  }

  /** The first record of the newer half. */
  private static int middle(byte[] bytes, int end) {
    int at = 0;
    while (at < end / 2) {
      at = next(bytes, at);
    }
    return at;
  }

  /** Where the record after this one begins, or -1. */
  private static int next(byte[] bytes, int at) {
    if (bytes.length - at < HEAD_BYTES) {
      return -1;
    }
    int count = ByteBuffer.wrap(bytes).getInt(at + HASH_BYTES + Integer.BYTES);
    long next = at + HEAD_BYTES + (long) count * Long.BYTES;
    return count < 0 || next > bytes.length ? -1 : (int) next;
  }

  private Optional<Signature> read(String hash) {
    try {
      return find(Files.readAllBytes(folder.resolve(hash.substring(0, NAME))), hash);
    } catch (IOException none) {
      return Optional.empty();
    }
  }

  private static Optional<Signature> find(byte[] bytes, String hash) {
    byte[] wanted = HexFormat.of().parseHex(hash);
    int at = 0;
    for (int next = next(bytes, 0); next >= 0; next = next(bytes, at)) {
      if (Arrays.equals(bytes, at, at + HASH_BYTES, wanted, 0, HASH_BYTES)) {
        return parse(ByteBuffer.wrap(bytes, at + HASH_BYTES, next - at - HASH_BYTES));
      }
      at = next;
    }
    return Optional.empty();
  }

  private static Optional<Signature> parse(ByteBuffer record) {
    try {
      int block = record.getInt();
      var hashes = new long[record.getInt()];
      for (int i = 0; i < hashes.length; i++) {
        hashes[i] = record.getLong();
      }
      return block < 1 || block > Signature.MOST_BLOCK
          ? Optional.empty()
          : Optional.of(new Signature(block, hashes));
    } catch (BufferUnderflowException broken) {
      return Optional.empty();
    }
  }

  private static byte[] record(String hash, Signature signature) {
    var bytes = new ByteArrayOutputStream();
    try (var out = new DataOutputStream(bytes)) {
      out.write(HexFormat.of().parseHex(hash));
      out.writeInt(signature.block());
      out.writeInt(signature.count());
      for (int i = 0; i < signature.count(); i++) {
        out.writeLong(signature.hash(i));
      }
    } catch (IOException impossible) {
      throw new IllegalStateException(impossible);
    }
    return bytes.toByteArray();
  }
}
