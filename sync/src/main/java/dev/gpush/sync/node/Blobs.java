package dev.gpush.sync.node;

import dev.gpush.core.file.Sha256;
import dev.gpush.sync.delta.Patch;
import dev.gpush.sync.delta.Signature;
import dev.gpush.sync.delta.Signatures;
import dev.gpush.sync.tree.Contents;
import dev.gpush.sync.tree.Hashes;
import dev.gpush.sync.tree.TreeChanged;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.zip.Deflater;

/**
 * Contents as BLOB messages. Thread-safe: with several nodes a small file is read and compressed
 * once and kept until the last node has it.
 */
public final class Blobs implements AutoCloseable {
  /** Larger files are read again for every node. */
  private static final int SHARED_BYTES = 1 << 20;

  /** What one push keeps in memory for slower nodes. */
  private static final long KEPT_BYTES = 64L << 20;

  /** What more than expected is read, until a piece is the last one. */
  private static final long MOST_SURPLUS = 64L << 20;

  private static final int HASH_BYTES = 32;
  private static final byte PACKED = 1;
  private static final byte LAST = 2;
  private static final byte PATCH = 4;

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

    /**
     * A full disk on this machine is not a failure of the conversation. The content is on the disk
     * before it has its name: after a loss of power an empty file would count as an edit.
     */
    private void write(FileChannel out, Path file) throws FileSystemException {
      try {
        while (data.hasRemaining()) {
          out.write(data);
        }
        if (isLast) {
          out.force(false);
        }
      } catch (IOException full) {
        throw new FileSystemException(file.toString(), "", String.valueOf(full.getMessage()));
      }
    }
  }

  /**
   * Nodes have most of a content already.
   *
   * @param path of the file there that has it
   * @param hash of that file
   */
  public record Base(String path, String hash) {}

  private final Contents contents;
  private final Map<String, Integer> needs;
  private final boolean packs;
  private final Map<String, Base> bases;
  private final Signatures signatures;
  private final Map<String, Shared> shared = new ConcurrentHashMap<>();
  private final AtomicLong kept = new AtomicLong();

  /** Those that no thread uses now. */
  private final Queue<Encoder> encoders = new ConcurrentLinkedQueue<>();

  /**
   * @param contents where the content of each hash is
   * @param needs how many nodes need a content; one, unless it says otherwise
   * @param packs compresses and sends changes only, which costs more than it saves for nodes that
   *     are this machine
   * @param bases of contents that may go as patches
   * @param signatures of what was sent before, and what is sent now
   */
  public Blobs(
      Contents contents,
      Map<String, Integer> needs,
      boolean packs,
      Map<String, Base> bases,
      Signatures signatures) {
    this.contents = contents;
    this.needs = Map.copyOf(needs);
    this.packs = packs;
    this.bases = Map.copyOf(bases);
    this.signatures = signatures;
  }

  /** A file that the node sends, into a new one here: its hash; empty when it has more bytes. */
  public static Optional<String> receive(NodeConversation node, Path file, long most)
      throws IOException {
    MessageDigest digest = Sha256.digest();
    String hash = "";
    long bytes = 0;
    boolean isLast = false;
    try (FileChannel out =
        FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
      while (!isLast) {
        Piece piece = node.readPiece();
        isLast = piece.isLast();
        hash = piece.hash();
        digest.update(piece.data().duplicate());
        bytes += piece.data().remaining();
        if (bytes <= most) {
          piece.write(out, file);
        } else if (bytes - most > MOST_SURPLUS) {
          throw new IOException("the node does not end what it sends");
        }
      }
    } catch (FileSystemException here) {
      while (!isLast) {
        isLast = node.readPiece().isLast(); // The next answer comes after it.
      }
      throw here;
    }
    if (bytes > most) {
      return Optional.empty();
    }
    if (!hash.equals(Hashes.hex(digest.digest()))) {
      throw new IOException("what came has not its hash");
    }
    return Optional.of(hash);
  }

  /** A file that the node sends and that is not wanted any more. */
  public static void skip(NodeConversation node) throws IOException {
    long bytes = 0;
    boolean isLast = false;
    while (!isLast) {
      Piece piece = node.readPiece();
      isLast = piece.isLast();
      bytes += piece.data().remaining();
      if (bytes > MOST_SURPLUS) {
        throw new IOException("the node does not end what it sends");
      }
    }
  }

  private static long size(Path file) {
    try {
      return Files.size(file);
    } catch (IOException gone) {
      return 0;
    }
  }

  /**
   * @param isWhole the node cannot use a patch of it
   */
  void send(String hash, boolean isWhole, SyncMessages wire) throws IOException, TreeChanged {
    Path file =
        contents
            .of(hash)
            .orElseThrow(() -> new IllegalStateException("no file has the content " + hash));
    int nodes = needs.getOrDefault(hash, 1);
    if (nodes == 1 || isWhole || size(file) > SHARED_BYTES) {
      encode(hash, file, isWhole, wire::sendBlob);
      return;
    }
    for (byte[] piece : pieces(hash, file, nodes)) {
      wire.send(SyncMessages.Kind.BLOB, piece);
    }
  }

  private List<byte[]> pieces(String hash, Path file, int nodes) throws IOException, TreeChanged {
    Shared one = shared.computeIfAbsent(hash, _ -> new Shared(nodes));
    one.lock.lock();
    try {
      one.waiting--;
      List<byte[]> found;
      if (one.pieces.isPresent()) {
        found = one.pieces.orElseThrow();
      } else {
        found = new ArrayList<>();
        encode(hash, file, false, (piece, length) -> found.add(Arrays.copyOf(piece, length)));
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
    /** The array is used again. */
    void take(byte[] piece, int length) throws IOException;
  }

  private void encode(String hash, Path file, boolean isWhole, Sink sink)
      throws IOException, TreeChanged {
    Encoder free = encoders.poll();
    Encoder encoder = free == null ? new Encoder(packs) : free;
    try {
      encode(hash, file, isWhole, encoder, sink);
    } finally {
      encoders.add(encoder);
    }
  }

  /** The node drops content without the right hash, so a file that changed does no harm. */
  private void encode(String hash, Path file, boolean isWhole, Encoder encoder, Sink sink)
      throws IOException, TreeChanged {
    MessageDigest digest = Sha256.digest();
    long size = size(file);
    var maker = new Signature.Maker(size);
    boolean isKept = packs && Signature.isWorthIt(size);
    Patch.Reader sees =
        (bytes, offset, length) -> {
          digest.update(bytes, offset, length);
          if (isKept) {
            maker.add(bytes, offset, length);
          }
        };
    Optional<Base> base =
        isWhole || !packs ? Optional.empty() : Optional.ofNullable(bases.get(hash));
    Optional<Signature> old = base.map(Base::hash).flatMap(signatures::of);
    var pieces = new Pieces(Hashes.bytes(hash), old.isPresent() ? PATCH : 0, encoder, sink);
    try (InputStream in = new FileReading(file)) {
      if (old.isPresent()) {
        var out = new DataOutputStream(pieces);
        out.writeUTF(base.orElseThrow().path());
        Patch.write(old.get(), in, sees, out);
      } else {
        copy(in, sees, encoder.buffer, pieces);
      }
      pieces.finish();
    } catch (Unreadable gone) {
      throw new TreeChanged(file);
    }
    if (!Hashes.hex(digest.digest()).equals(hash)) {
      throw new TreeChanged(file);
    }
    if (isKept) {
      signatures.put(hash, maker.made());
    }
  }

  private static void copy(InputStream in, Patch.Reader sees, byte[] buffer, Pieces pieces)
      throws IOException {
    while (true) {
      int length = in.readNBytes(buffer, 0, buffer.length);
      sees.read(buffer, 0, length);
      pieces.write(buffer, 0, length);
      if (length < buffer.length) {
        return;
      }
    }
  }

  /** The file, not the node, is at fault. */
  private static final class Unreadable extends IOException {
    private static final long serialVersionUID = 1;

    Unreadable(IOException cause) {
      super(cause);
    }
  }

  /** A file whose failures are told from those of the node. */
  private static final class FileReading extends InputStream {
    private final InputStream in;

    FileReading(Path file) throws Unreadable {
      try {
        this.in = Files.newInputStream(file, LinkOption.NOFOLLOW_LINKS);
      } catch (IOException gone) {
        throw new Unreadable(gone);
      }
    }

    @Override
    public int read() throws Unreadable {
      var one = new byte[1];
      return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws Unreadable {
      try {
        return in.read(bytes, offset, length);
      } catch (IOException broken) {
        throw new Unreadable(broken);
      }
    }

    @Override
    public void close() throws IOException {
      in.close();
    }
  }

  /**
   * What the making of messages needs: large, so that a push of many small files does not make it
   * for each. For one thread at a time.
   */
  private static final class Encoder {
    private final byte[] buffer = new byte[SyncMessages.MAX_PIECE];
    private final byte[] piece = new byte[SyncMessages.MAX_PIECE];
    private final byte[] message = new byte[HASH_BYTES + 1 + SyncMessages.MAX_PIECE];
    private final Optional<Deflater> deflater;

    Encoder(boolean packs) {
      this.deflater = packs ? Optional.of(new Deflater(Deflater.BEST_SPEED)) : Optional.empty();
    }

    /** Puts a piece into the message; its length. */
    int encode(byte[] head, int length, byte flags) {
      int packed = deflater.map(packing -> pack(packing, length)).orElse(0);
      if (packed == 0) {
        System.arraycopy(piece, 0, message, HASH_BYTES + 1, length);
      }
      System.arraycopy(head, 0, message, 0, HASH_BYTES);
      message[HASH_BYTES] = packed == 0 ? flags : (byte) (flags | PACKED);
      return HASH_BYTES + 1 + (packed == 0 ? length : packed);
    }

    private int pack(Deflater packing, int length) {
      int limit = (int) ((long) length * PAYS_NUMERATOR / PAYS_DENOMINATOR);
      if (limit == 0) {
        return 0;
      }
      packing.reset();
      packing.setInput(piece, 0, length);
      packing.finish();
      int packed = packing.deflate(message, HASH_BYTES + 1, limit);
      return packing.finished() ? packed : 0;
    }
  }

  /** Cuts what is written into messages. */
  private static final class Pieces extends OutputStream {
    private final byte[] head;
    private final byte flags;
    private final Encoder encoder;
    private final Sink sink;
    private int filled;

    Pieces(byte[] head, byte flags, Encoder encoder, Sink sink) {
      this.head = head;
      this.flags = flags;
      this.encoder = encoder;
      this.sink = sink;
    }

    @Override
    public void write(int one) throws IOException {
      write(new byte[] {(byte) one}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
      int done = 0;
      while (done < length) {
        if (filled == encoder.piece.length) {
          take((byte) 0);
        }
        int part = Math.min(length - done, encoder.piece.length - filled);
        System.arraycopy(bytes, offset + done, encoder.piece, filled, part);
        filled += part;
        done += part;
      }
    }

    /** Nothing follows. Also an empty file is one piece. */
    void finish() throws IOException {
      take(LAST);
    }

    private void take(byte last) throws IOException {
      sink.take(encoder.message, encoder.encode(head, filled, (byte) (flags | last)));
      filled = 0;
    }
  }

  /** No thread uses it any more. */
  @Override
  public void close() {
    encoders.forEach(encoder -> encoder.deflater.ifPresent(Deflater::end));
    encoders.clear();
  }
}
