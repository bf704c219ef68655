package dev.gpush.sync.node;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SyncFailure;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SyncView;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.sync.node.SyncMessages.Kind;
import dev.gpush.sync.pace.NodeWaiting;
import dev.gpush.sync.tree.Entry;
import dev.gpush.sync.tree.Generation;
import dev.gpush.sync.tree.Manifest;
import dev.gpush.sync.tree.TreeChanged;
import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The connection to one node's {@code files} program, and what that node is known to hold. For one
 * thread at a time.
 *
 * <p>Every method asks and reads the whole answer. When one throws an {@link IOException}, or is
 * interrupted, the conversation is over and must be closed; after a {@link GpushException} it
 * continues.
 */
public final class NodeConversation implements Closeable {
  /** A push does not have a node look at every path twice within this time. */
  private static final Duration JUST_NOW = Duration.ofSeconds(2);

  /** Of the paths that one request names: they fit into a message, also in UTF-8. */
  public static final int MOST_CHARS = 128 << 10;

  /** Of a workspace; more would fill the memory here. */
  private static final int MOST_FILES = 1_000_000;

  private final SyncNode node;
  private final NodeWaiting waiting;
  private final SyncMessages wire;
  private NodeHolds holds = NodeHolds.nothing();
  private Optional<FoundNames> found = Optional.empty();
  private Optional<SyncView.Trash> trash = Optional.empty();

  private boolean isOfAnotherFolder;
  private boolean wasOfAnotherFolder;

  /** Of the question whose answer is on its way: whether it is for names, too. */
  private Optional<Boolean> asked = Optional.empty();

  /** When it was last told to look at every path. */
  private long lookedAt = Clock.system().nanos();

  private NodeConversation(SyncNode node, NodeWaiting waiting, SyncMessages wire) {
    this.node = node;
    this.waiting = waiting;
    this.wire = wire;
  }

  /**
   * Starts a conversation: the node reports what it holds.
   *
   * @param known what it probably still holds: then it reports only differences
   * @param waiting for this node, from now on
   */
  public static NodeConversation open(SyncNode node, Manifest known, NodeWaiting waiting)
      throws IOException, InterruptedException {
    NodeInfo info = node.info();
    var conversation =
        new NodeConversation(node, waiting, new SyncMessages(waiting.during(node::open), waiting));
    try {
      conversation.wire.send(
          Kind.TREE,
          Json.object(
              "root", info.workspace(),
              "state", info.state(),
              "node", info.index(),
              "known", known.root()));
      conversation.wire.flush();
      conversation.readHolds(known);
      return conversation;
    } catch (IOException | RuntimeException failed) {
      conversation.close();
      throw failed;
    }
  }

  public SyncNode node() {
    return node;
  }

  public NodeWaiting waiting() {
    return waiting;
  }

  /** Has the node say when something changes there, until the end of this. */
  public void watch(Tasks tasks, SyncMessages.Watching watching) throws IOException {
    wire.listen(tasks, watching);
    wire.send(Kind.WATCH, Json.object());
    wire.flush();
  }

  public int index() {
    return node.info().index();
  }

  public NodeHolds holds() {
    return holds;
  }

  /** Whether the root is another folder than before the last commit, as after a clone. */
  public boolean isOfAnotherFolder() {
    return isOfAnotherFolder;
  }

  /** Whether any answer since this was asked last has said so; the node says it no longer soon. */
  public boolean takeAnother() {
    boolean was = wasOfAnotherFolder;
    wasOfAnotherFolder = false;
    return was;
  }

  /** Has the node check every path again. */
  public void check(Manifest known) throws IOException {
    lookedAt = Clock.system().nanos();
    wire.send(Kind.CHECK, Json.object("known", known.root()));
    wire.flush();
    readHolds(known);
  }

  /** Has the node check these paths again, or all if they are many. */
  public void check(Collection<String> paths) throws IOException {
    NodeHolds before = holds;
    Manifest known = before.manifest();
    if (paths.stream().mapToInt(String::length).sum() > MOST_CHARS) {
      check(known);
      return;
    }
    wire.send(Kind.CHECK, Json.object("known", known.root(), "paths", List.copyOf(paths)));
    wire.flush();
    readHolds(known);
    holds = holds.manifest().equals(known) ? holds.since(before, paths) : holds;
  }

  /** Takes these files if the node has sent all by itself, until {@link #endPull}. */
  public boolean takeTold(Set<String> paths) {
    Optional<Map<String, NodeHolds.Deviation>> told = wire.take(holds.manifest(), paths);
    told.ifPresent(now -> holds = holds.with(now).since(holds, paths));
    return told.isPresent();
  }

  /**
   * Asks what has become of what it held, so that {@link #look} need only wait for the answer.
   *
   * @param forNames for {@link #newNames}, too
   */
  public void ask(boolean forNames) throws IOException {
    if (asked.isPresent()) {
      return;
    }
    wire.send(Kind.CHECK, Json.object("known", holds.manifest().root()));
    lookedAt = Clock.system().nanos();
    if (forNames) {
      wire.send(Kind.FIND, Json.object("folders", List.of()));
    }
    wire.flush();
    asked = Optional.of(forNames);
  }

  /** Whether an answer is on its way. Anything else that is asked now would read it. */
  public boolean isAsked() {
    return asked.isPresent();
  }

  /** Has the node check every path again; and names, as {@link #ask} does. */
  public void look(boolean forNames) throws IOException {
    ask(forNames);
    boolean alsoFinds = asked.orElseThrow();
    asked = Optional.empty();
    try {
      readHolds(holds.manifest());
    } catch (GpushException failed) {
      if (alsoFinds) {
        try {
          readFound();
        } catch (GpushException alsoFailed) {
          failed.addSuppressed(alsoFailed);
        }
      }
      throw failed;
    }
    if (alsoFinds) {
      found = Optional.of(readFound());
    }
  }

  /** What its trash has; empty when there is nothing. */
  public Optional<SyncView.Trash> trash() {
    return trash;
  }

  private void readTrash(Json.Obj said) {
    var kept =
        new SyncView.Trash(
            Optional.of(index()),
            said.text("folder").orElse(""),
            said.number("bytes").orElse(0L),
            said.integer("files").orElse(0));
    trash = Optional.of(kept).filter(each -> each.files() > 0);
  }

  private void readHolds(Manifest known) throws IOException {
    Json answer = expect(Kind.HOLDS).json();
    readTrash(answer.object("trash"));
    isOfAnotherFolder = answer.flag("another");
    wasOfAnotherFolder |= isOfAnotherFolder;
    var entries = new HashMap<String, Entry>();
    var deviations = new HashMap<String, NodeHolds.Deviation>();
    boolean isAll = answer.flag("all");
    boolean isLast = false;
    while (!isLast) {
      Json part = expect(Kind.INDEX).unpacked();
      for (Json item : part.items("entries")) {
        index(item.items(), entries, deviations);
      }
      if (entries.size() > MOST_FILES) {
        throw wrong("more than " + MOST_FILES + " files");
      }
      isLast = part.flag("last");
    }
    Manifest manifest = isAll ? Manifest.of(entries) : known;
    if (!answer.text("root").equals(Optional.of(manifest.root()))) {
      throw wrong("a manifest that does not have its root");
    }
    holds =
        new NodeHolds(
            new Generation(answer.number("generation").orElse(0L), manifest.root()),
            manifest,
            deviations,
            new HashSet<>(answer.texts("staged")),
            answer.object("token").text("mine").orElse(""),
            new HashSet<>(answer.object("token").texts("seen")),
            answer.flag("folds"));
  }

  /** path, kind, x, size, hash or target as in the manifest; state; hash now. */
  private void index(
      List<Json> item, Map<String, Entry> entries, Map<String, NodeHolds.Deviation> deviations) {
    Optional<Entry> wrote = Entry.parse(item);
    if (wrote.isEmpty() || item.size() < 7) {
      throw wrong("an index item of " + item.size() + " parts");
    }
    String path = item.getFirst().asText().orElseThrow(() -> wrong("a path that is no text"));
    String state = item.get(5).asText().orElse("");
    entries.put(path, wrote.orElseThrow());
    NodeHolds.Deviation.parse(path, state, item.get(6))
        .ifPresent(found -> deviations.put(path, found));
  }

  /**
   * Sends contents; {@link #prepare} reports whether they arrived whole.
   *
   * @param isAgain a patch did not lead to them
   */
  public void stage(Collection<String> hashes, Blobs blobs, boolean isAgain, Runnable sent)
      throws IOException, TreeChanged {
    for (String hash : hashes) {
      blobs.send(hash, isAgain, wire);
      sent.run();
    }
    wire.flush();
  }

  /** As {@link #stage}, long before a push: it waits until the node has them. */
  public void stageAhead(Collection<String> hashes, Blobs blobs, boolean isAgain)
      throws IOException, TreeChanged {
    stage(hashes, blobs, isAgain, () -> {});
    look(false);
    holds = holds.withStaged(hashes);
  }

  /** The fields of PREPARE beside the plan. */
  public record Move(Manifest wanted, Generation to, boolean overwrite, boolean verify) {
    /** The same, by what the node has just seen of the paths that are not named. */
    public Move trusting() {
      return new Move(wanted, to, overwrite, false);
    }
  }

  public Prepared prepare(SyncPlan plan, Move move) throws IOException {
    sendPrepare(plan, move);
    wire.flush();
    return readPrepared();
  }

  /** Sends both together, for a node that waits for no other: this saves a round trip. */
  public Prepared prepareAndCommit(SyncPlan plan, Move move, List<Committed> committed)
      throws IOException {
    sendPrepare(plan, move);
    wire.send(Kind.COMMIT, Json.object("generation", move.to().counter()));
    wire.flush();
    Prepared prepared = readPrepared();
    if (prepared instanceof Prepared.Ready) {
      committed.add(readCommitted(plan, move));
    } else {
      SyncMessages.Message refused = wire.read(); // the node says that there is nothing to commit
      if (refused.kind() != Kind.FAILED) {
        throw wrong(refused.kind() + " of what was not prepared");
      }
    }
    return prepared;
  }

  public Committed commit(SyncPlan plan, Move move) throws IOException {
    wire.send(Kind.COMMIT, Json.object("generation", move.to().counter()));
    wire.flush();
    return readCommitted(plan, move);
  }

  public void abort() throws IOException {
    wire.send(Kind.ABORT, Json.object());
    wire.flush();
    expect(Kind.ABORTED);
  }

  private void sendPrepare(SyncPlan plan, Move move) throws IOException {
    Json.Obj head =
        Json.object(
            "generation", move.to().counter(),
            "from", holds.manifest().root(),
            "root", move.wanted().root(),
            "overwrite", move.overwrite(),
            "verify", move.verify());
    var parts = new PrepareParts(head);
    plan.writes().forEach((path, entry) -> parts.add("write", path, item(path, entry)));
    plan.deletes().forEach(path -> parts.add("delete", path, path));
    plan.trash().forEach(path -> parts.add("trash", path, path));
    plan.entries().forEach((path, entry) -> parts.add("hold", path, item(path, entry)));
    for (Json part : parts.all()) {
      wire.sendPacked(Kind.PREPARE, part);
    }
  }

  private static List<Object> item(String path, Entry entry) {
    return Stream.<Object>concat(Stream.of(path), entry.wire().stream()).toList();
  }

  /** Whether what it said of every path is new enough to rely on. */
  public boolean hasJustLooked() {
    return Clock.system().nanos() - lookedAt < JUST_NOW.toNanos();
  }

  private Prepared readPrepared() throws IOException {
    SyncMessages.Message message = wire.read();
    Json answer = message.json();
    if (message.kind() == Kind.FAILED && answer.text("code").equals(Optional.of("moved"))) {
      return new Prepared.Moved(answer.object("facts").text("path").orElse(""));
    }
    if (message.kind() != Kind.PREPARED) {
      throw failure(message);
    }
    return Prepared.parse(index(), answer, this::where);
  }

  private Committed readCommitted(SyncPlan plan, Move move) throws IOException {
    Json answer = expect(Kind.COMMITTED).json();
    readTrash(answer.object("kept_in"));
    Committed committed = Committed.parse(answer);
    var expected = new Generation(move.to().counter(), move.wanted().root());
    if (!committed.generation().equals(expected)) {
      throw wrong("it committed " + committed.generation() + " of another root");
    }
    holds = holds.moved(move.to(), move.wanted(), plan.stays());
    return committed;
  }

  // ---- FIND

  /** Names that gpush did not write, in folders that have something of it; of the last check. */
  public FoundNames newNames() throws IOException {
    FoundNames names = found.isPresent() ? found.get() : find(List.of());
    found = Optional.empty();
    return names;
  }

  /** It does not say what happens at these paths of others; those of folders end with a slash. */
  public void ignore(List<String> paths) throws IOException {
    if (wire.isListening()) {
      wire.send(Kind.IGNORE, Json.object("paths", paths));
      wire.flush();
    }
  }

  /** Names in these folders that gpush did not write. */
  public FoundNames find(List<String> folders) throws IOException {
    wire.send(Kind.FIND, Json.object("folders", folders));
    wire.flush();
    return readFound();
  }

  private FoundNames readFound() throws IOException {
    var names = new FoundNames.Builder();
    boolean isLast = false;
    while (!isLast) {
      Json part = expect(Kind.FOUND).unpacked();
      if (!names.add(part)) {
        throw wrong("a name that cannot be read");
      }
      isLast = part.flag("last");
    }
    return names.build();
  }

  // ---- PULL

  /** Asks what these paths on the node are. */
  public void pull(List<String> paths) throws IOException {
    if (!wire.answerPull(paths)) {
      for (String path : paths) {
        wire.send(Kind.PULL, Json.object("path", path));
      }
      wire.flush();
    }
  }

  /** What is pulled from now on is asked of the node. */
  public void endPull() {
    wire.forgetTaken();
  }

  /** The next answer to {@link #pull}. */
  public Json pulled() throws IOException {
    return expect(Kind.PULLED).json();
  }

  /** The next piece of the file that {@link #pulled} announced; the last one is marked. */
  public Blobs.Piece readPiece() throws IOException {
    return Blobs.Piece.parse(expect(Kind.BLOB).payload());
  }

  private SyncMessages.Message expect(Kind kind) throws IOException {
    SyncMessages.Message message = wire.read();
    if (message.kind() != kind) {
      throw failure(message);
    }
    return message;
  }

  /** The failure that FAILED means; any other unexpected message breaks the protocol. */
  private GpushException failure(SyncMessages.Message message) throws IOException {
    if (message.kind() != Kind.FAILED) {
      return wrong("an unexpected " + message.kind());
    }
    Json answer = message.json();
    Json.Obj facts = answer.object("facts");
    String code = answer.text("code").orElse("");
    String path = facts.text("path").orElse("");
    return new GpushException(
        switch (code) {
          case "held" -> new AgentFailure.Held(path, "another gpush");
          case "not-found", "bad-path" -> new SyncFailure.NoSuchPath(index(), path);
          case "protocol", "" ->
              new AgentFailure.NotUnderstood(facts.text("detail").orElse("files"), "");
          default ->
              new SyncFailure.NodeCannotWrite(
                  index(), code, where(path), facts.text("detail").orElse(""));
        });
  }

  /** A path of the workspace, or the workspace itself where none is at fault more than others. */
  public String where(String path) {
    return Path.of(node.info().workspace()).resolve(path).toString();
  }

  private GpushException wrong(String detail) {
    return new GpushException(
        new AgentFailure.NotUnderstood("files on node " + index() + ": " + detail, ""));
  }

  @Override
  public void close() {
    try {
      wire.close();
    } catch (IOException gone) {
      // it is closed either way
    }
  }
}
