package dev.gpush.sync.node;

import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.pace.NodeWaiting;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.Version;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Base64;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.zip.DataFormatException;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;
import java.util.zip.Inflater;

/**
 * The messages of docs/technical/sync.md on a {@link Duplex}. For one thread at a time, but for
 * {@link #close}.
 */
public final class SyncMessages implements Closeable {
  private static final System.Logger LOG = System.getLogger("gpush.sync");

  /** Fixed by the specification. */
  static final int MAX_MESSAGE = 1 << 20;

  /** Of a content, before compression. */
  public static final int MAX_PIECE = 256 << 10;

  /** An INDEX is closed by the node at half a megabyte; a larger one breaks the protocol. */
  private static final int MAX_TEXT = 16 << 20;

  private static final int BUFFER_BYTES = 128 << 10;

  /** The types of message and their numbers. */
  enum Kind {
    TREE(1),
    HOLDS(2),
    INDEX(3),
    BLOB(4),
    PREPARE(5),
    PREPARED(6),
    COMMIT(7),
    COMMITTED(8),
    ABORT(9),
    ABORTED(10),
    CHECK(11),
    PULL(12),
    PULLED(13),
    FAILED(14),
    FIND(15),
    FOUND(16),
    WATCH(17),
    WATCHING(18),
    CHANGED(19),
    IGNORE(20);

    private final int number;

    Kind(int number) {
      this.number = number;
    }

    static Kind of(int number) throws IOException {
      for (Kind kind : values()) {
        if (kind.number == number) {
          return kind;
        }
      }
      throw new IOException("message " + number);
    }
  }

  /** What a node says by itself. On a thread of its own, but for the end. */
  public interface Watching {
    /**
     * It notices changes from now on.
     *
     * @param by "events", or "scan" where it has to look
     * @param why it has to
     */
    void watched(String by, String why);

    /**
     * Something is not as gpush has written it.
     *
     * @param paths files that were edited; empty: something else has happened, anywhere
     */
    void changed(List<String> paths);

    /** Nothing more is said: the conversation is over. On any thread, once. */
    void ended();
  }

  record Message(Kind kind, ByteBuffer payload) {
    Json json() throws IOException {
      return parse(StandardCharsets.UTF_8.decode(payload.duplicate()).toString());
    }

    Json unpacked() throws IOException {
      ByteBuffer text = inflate(payload.duplicate(), MAX_TEXT);
      return parse(StandardCharsets.UTF_8.decode(text).toString());
    }

    private static Json parse(String text) throws IOException {
      try {
        return Json.parse(text);
      } catch (JsonSyntaxException wrong) {
        throw new IOException("not JSON", wrong);
      }
    }
  }

  private final Duplex duplex;
  private final NodeWaiting waiting;
  private final DataInputStream in;
  private final DataOutputStream out;

  /** Answers that a thread of {@link #listen} has read; so few that the node's credit is felt. */
  private static final int MOST_AHEAD = 4;

  /** What {@link #listen} hands over. */
  private sealed interface Heard {
    record Answer(Message message) implements Heard {}

    record Broken(IOException cause) implements Heard {}
  }

  /** With more files, those that were told before are forgotten. */
  private static final int MOST_TOLD = 200;

  /**
   * A file that has come with CHANGED.
   *
   * @param manifestRoot of what the node held
   * @param now as in INDEX
   * @param blob its only BLOB
   */
  private record Told(String manifestRoot, List<Json> now, byte[] blob) {}

  /** The newest of each file, as long as no answer is newer. */
  private final Map<String, Told> told = new ConcurrentHashMap<>();

  // confined to the user's thread
  private Map<String, Told> taken = Map.of();
  private final Deque<Message> fromTaken = new ArrayDeque<>();

  private final BlockingQueue<Heard> answers = new ArrayBlockingQueue<>(MOST_AHEAD);

  // confined to the user's thread, but for the end
  private volatile Optional<Task<Boolean, RuntimeException>> listening = Optional.empty();

  /** The listener, until its {@code ended} is called. */
  private final AtomicReference<Optional<Watching>> listener =
      new AtomicReference<>(Optional.empty());

  SyncMessages(Duplex duplex, NodeWaiting waiting) {
    this.duplex = duplex;
    this.waiting = waiting;
    InputStream from = waiting.in(duplex.in());
    OutputStream to = waiting.out(duplex.out());
    this.in = new DataInputStream(new BufferedInputStream(from, BUFFER_BYTES));
    this.out = new DataOutputStream(new BufferedOutputStream(to, BUFFER_BYTES));
  }

  void send(Kind kind, Json json) throws IOException {
    send(kind, json.write().getBytes(StandardCharsets.UTF_8));
  }

  void sendPacked(Kind kind, Json json) throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var deflater = new Deflater(Deflater.BEST_SPEED);
        var stream = new DeflaterOutputStream(packed, deflater)) {
      stream.write(json.write().getBytes(StandardCharsets.UTF_8));
    }
    send(kind, packed.toByteArray());
  }

  void send(Kind kind, byte[] payload) throws IOException {
    send(kind, payload, payload.length);
  }

  /** Sends a BLOB; the array may be used again. */
  void sendBlob(byte[] payload, int length) throws IOException {
    send(Kind.BLOB, payload, length);
  }

  private void send(Kind kind, byte[] payload, int length) throws IOException {
    if (length > MAX_MESSAGE) {
      throw new IllegalStateException(kind + " of " + length + " bytes");
    }
    forgetTaken();
    out.writeInt(length);
    out.writeByte(kind.number);
    out.write(payload, 0, length);
  }

  void flush() throws IOException {
    out.flush();
  }

  Message read() throws IOException {
    if (!fromTaken.isEmpty()) {
      return fromTaken.remove();
    }
    try {
      if (listening.isEmpty()) {
        return waiting.during(this::receive);
      }
      Heard heard = waiting.during(answers::take);
      return switch (heard) {
        case Heard.Answer(var message) -> message;
        case Heard.Broken(var cause) -> {
          answers.offer(heard); // For the next one who asks.
          throw new IOException(cause.getMessage(), cause);
        }
      };
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted");
    }
  }

  /**
   * From now on a thread reads, so that what the node says by itself is heard while nothing is
   * asked.
   */
  void listen(Tasks tasks, Watching watching) {
    listener.set(Optional.of(watching));
    listening =
        Optional.of(
            tasks.fork(
                "listen",
                () -> {
                  try {
                    hear(watching);
                  } finally {
                    tellEnd();
                  }
                  return true;
                }));
  }

  boolean isListening() {
    return listening.isPresent();
  }

  private void hear(Watching watching) {
    try {
      try {
        while (true) {
          Message message = receive();
          if (message.kind() == Kind.CHANGED) {
            Json what = message.json();
            remember(what);
            watching.changed(what.texts("paths"));
          } else if (message.kind() == Kind.WATCHING) {
            Json how = message.json();
            watching.watched(how.text("by").orElse(""), how.text("why").orElse(""));
          } else {
            told.clear();
            answers.put(new Heard.Answer(message));
          }
        }
      } catch (IOException broken) {
        answers.put(new Heard.Broken(broken));
      }
    } catch (InterruptedException stop) {
      fail(new IOException("closed"));
    } catch (RuntimeException | Error bug) {
      LOG.log(System.Logger.Level.ERROR, "what a node said could not be handled", bug);
      fail(new IOException("what the node said could not be handled", bug));
    }
  }

  private void remember(Json changed) throws IOException {
    List<String> paths = changed.texts("paths");
    if (paths.isEmpty() || told.size() + paths.size() > MOST_TOLD) {
      told.clear();
    }
    paths.forEach(told::remove);
    try {
      for (Json file : changed.items("files")) {
        byte[] blob = Base64.getDecoder().decode(file.text("blob").orElse(""));
        told.put(
            file.text("path").orElse(""),
            new Told(changed.text("root").orElse(""), file.items("now"), blob));
      }
    } catch (IllegalArgumentException wrong) {
      throw new IOException("a file that is not base64", wrong);
    }
  }

  /**
   * What is at these paths where it is not as in the manifest, if the node has sent all of them.
   * Until {@link #forgetTaken}, {@link #answerPull} has the files.
   */
  Optional<Map<String, NodeHolds.Deviation>> take(Manifest manifest, Set<String> paths) {
    taken = new HashMap<>(told);
    var deviations = new HashMap<String, NodeHolds.Deviation>();
    for (String path : paths) {
      Told file = taken.get(path);
      if (file == null || !file.manifestRoot().equals(manifest.root())) {
        taken = Map.of();
        return Optional.empty();
      }
      NodeHolds.Deviation now = NodeHolds.Deviation.parse(path, file.now());
      if (!now.now().is(Version.of(manifest.get(path)))) {
        deviations.put(path, now);
      }
    }
    return Optional.of(deviations);
  }

  /** They are pulled, or something else was asked. */
  void forgetTaken() {
    taken = Map.of();
  }

  /** Answers PULL of these paths by what was taken; false when that has not all of them. */
  boolean answerPull(List<String> paths) {
    if (!taken.keySet().containsAll(paths)) {
      return false;
    }
    for (String path : paths) {
      Told file = Objects.requireNonNull(taken.get(path));
      Json pulled = Json.object("kind", file.now().get(0), "x", file.now().get(1));
      byte[] text = pulled.write().getBytes(StandardCharsets.UTF_8);
      fromTaken.add(new Message(Kind.PULLED, ByteBuffer.wrap(text)));
      fromTaken.add(new Message(Kind.BLOB, ByteBuffer.wrap(file.blob())));
    }
    return true;
  }

  private void tellEnd() {
    listener.getAndSet(Optional.empty()).ifPresent(Watching::ended);
  }

  /** A thread that waits for an answer gets the failure. */
  private void fail(IOException cause) {
    answers.clear();
    answers.offer(new Heard.Broken(cause));
  }

  private Message receive() throws IOException {
    int length = in.readInt();
    Kind kind = Kind.of(in.readUnsignedByte());
    if (length < 0 || length > MAX_MESSAGE) {
      throw new IOException(kind + " of " + length + " bytes");
    }
    var payload = new byte[length];
    in.readFully(payload);
    return new Message(kind, ByteBuffer.wrap(payload));
  }

  /** zlib, but never more than the limit. */
  static ByteBuffer inflate(ByteBuffer packed, int limit) throws IOException {
    var out = new ByteArrayOutputStream();
    var buffer = new byte[1 << 16];
    try (var inflater = new Inflater()) {
      inflater.setInput(packed);
      while (!inflater.finished()) {
        int count = inflater.inflate(buffer);
        if ((count == 0 && !inflater.finished()) || out.size() + count > limit) {
          throw new IOException("a compressed message that is cut or too long");
        }
        out.write(buffer, 0, count);
      }
    } catch (DataFormatException wrong) {
      throw new IOException("not zlib", wrong);
    }
    return ByteBuffer.wrap(out.toByteArray());
  }

  @Override
  public void close() throws IOException {
    try {
      duplex.close();
    } finally {
      listening.ifPresent(Task::cancel);
      // A listener that never began does neither.
      answers.offer(new Heard.Broken(new IOException("closed")));
      tellEnd();
    }
  }
}
