package dev.gpush.sync.node;

import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Hashes;
import dev.gpush.sync.tree.TreeChanged;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.Deflater;

/**
 * Contents as BLOB messages. Thread-safe: with several nodes a small file is read and compressed
 * once and kept until the last node has it.
 */
public final class Blobs {
  /** Larger files are read again for every node. */
  private static final int SHARED_BYTES = 1 << 20;

  /** What one push keeps in memory for slower nodes. */
  private static final long KEPT_BYTES = 64L << 20;

  private static final int HASH_BYTES = 32;
  private static final byte PACKED = 1;
  private static final byte LAST = 2;

  /** Compression is worth it when it saves at least a tenth, because the node has to unpack. */
  private static final int PAYS_NUMERATOR = 9;

  private static final int PAYS_DENOMINATOR = 10;

  /** A file that is needed by several nodes. */
  private static final class Shared {
    private final ReentrantLock lock = new ReentrantLock();

    // guarded by lock
    private int waiting;
    private Optional<List<byte[]>> pieces = Optional.empty();

    Shared(int waiting) {
      this.waiting = waiting;
    }
  }

  /**
   * One BLOB message.
   *
   * @param hash of the whole content; zeros in all but the last piece of a pulled file
   */
  public record Piece(String hash, ByteBuffer data, boolean isLast) {
    static Piece parse(ByteBuffer payload) throws IOException {
      if (payload.remaining() <= HASH_BYTES) {
        throw new IOException("a blob of " + payload.remaining() + " bytes");
      }
      var hash = new byte[HASH_BYTES];
      payload.get(hash);
      byte flags = payload.get();
      ByteBuffer data =
          (flags & PACKED) != 0
              ? SyncMessages.inflate(payload, SyncMessages.MAX_PIECE)
              : payload.slice();
      return new Piece(Hashes.hex(hash), data, (flags & LAST) != 0);
    }
  }

  private final Contents contents;
  private final int nodes;
  private final Map<String, Shared> shared = new ConcurrentHashMap<>();
  private final AtomicLong kept = new AtomicLong();

  /**
   * @param contents where the content of each hash is
   * @param nodes how many need about the same contents
   */
  public Blobs(Contents contents, int nodes) {
    this.contents = contents;
    this.nodes = nodes;
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException gone) {
      return 0;
    }
  }

  void send(String hash, SyncMessages wire) throws IOException, TreeChanged {
    Path file =
        contents
            .of(hash)
            .orElseThrow(() -> new IllegalStateException("no file has the content " + hash));
    if (nodes == 1 || size(file) > SHARED_BYTES) {
      encode(hash, file, piece -> wire.send(SyncMessages.Kind.BLOB, piece));
      return;
    }
    for (byte[] piece : pieces(hash, file)) {
      wire.send(SyncMessages.Kind.BLOB, piece);
    }
  }

  private List<byte[]> pieces(String hash, Path file) throws IOException, TreeChanged {
    Shared one = shared.computeIfAbsent(hash, _ -> new Shared(nodes));
    one.lock.lock();
    try {
      one.waiting--;
      List<byte[]> found;
      if (one.pieces.isPresent()) {
        found = one.pieces.orElseThrow();
      } else {
        found = new ArrayList<>();
        encode(hash, file, found::add);
        if (one.waiting > 0 && kept.get() < KEPT_BYTES) {
          one.pieces = Optional.of(found);
          kept.addAndGet(bytes(found));
        }
      }
      if (one.waiting <= 0 && one.pieces.isPresent()) {
        one.pieces = Optional.empty();
        kept.addAndGet(-bytes(found));
      }
      return found;
    } finally {
      one.lock.unlock();
    }
  }

  private static long bytes(List<byte[]> pieces) {
    return pieces.stream().mapToLong(piece -> piece.length).sum();
  }

  /** Takes one piece after the other. */
  @FunctionalInterface
  private interface Sink {
    void take(byte[] piece) throws IOException;
  }

  /** The node drops content without the right hash, so a file that changed does no harm. */
  private static void encode(String hash, Path file, Sink sink) throws IOException, TreeChanged {
    MessageDigest digest = Hashes.digest();
    byte[] head = Hashes.bytes(hash);
    try (InputStream in = open(file);
        var deflater = new Deflater(Deflater.BEST_SPEED)) {
      byte[] piece = read(in, file);
      while (true) {
        byte[] after = piece.length < SyncMessages.MAX_PIECE ? new byte[0] : read(in, file);
        digest.update(piece);
        sink.take(encode(head, piece, after.length == 0, deflater));
        if (after.length == 0) {
          break;
        }
        piece = after;
      }
    }
    if (!Hashes.hex(digest.digest()).equals(hash)) {
      throw new TreeChanged(file);
    }
  }

  private static InputStream open(Path file) throws TreeChanged {
    try {
      return Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS);
    } catch (IOException gone) {
      throw new TreeChanged(file);
    }
  }

  private static byte[] read(InputStream in, Path file) throws TreeChanged {
    try {
      return in.readNBytes(SyncMessages.MAX_PIECE);
    } catch (IOException broken) {
      throw new TreeChanged(file);
    }
  }

  private static byte[] encode(byte[] head, byte[] piece, boolean isLast, Deflater deflater) {
    deflater.reset();
    deflater.setInput(piece);
    deflater.finish();
    int limit = (int) ((long) piece.length * PAYS_NUMERATOR / PAYS_DENOMINATOR);
    var packed = new byte[limit];
    int length = limit == 0 ? 0 : deflater.deflate(packed);
    boolean isPacked = length > 0 && deflater.finished();
    var message = new ByteArrayOutputStream(HASH_BYTES + 1 + piece.length);
    message.writeBytes(head);
    message.write((isPacked ? PACKED : 0) | (isLast ? LAST : 0));
    message.write(isPacked ? packed : piece, 0, isPacked ? length : piece.length);
    return message.toByteArray();
  }
}
