package dev.gpush.core.session;

import dev.gpush.core.failure.SyncFailure.HeldPath;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * Where the files of a session stand.
 *
 * @param mode whether saves are sent by themselves
 * @param isSynced every node has the last save, nothing of the editors' node is on its way here,
 *     and this is certain
 * @param generation the newest that a node is known to hold; empty while it is not known here
 * @param nodes in their order
 * @param editNode the node where people edit
 * @param pending paths that are not on all nodes yet, in order
 * @param incoming whether the editors' node has something that is not here yet
 * @param held what is not sent until something else happens, and why
 * @param staying new files and folders of the editors' node that do not come home, and why
 * @param watching empty when changes are noticed at once, or the user wants them sent on demand;
 *     else how they are found, and how late, or why they are not looked for
 * @param versions of which none is newer, or that were replaced
 * @param history where the git repository of the editors' node stands, as a sentence without its
 *     end; empty when there is none to have
 */
public record SyncView(
    Mode mode,
    boolean isSynced,
    Optional<Long> generation,
    List<Node> nodes,
    int editNode,
    List<String> pending,
    Incoming incoming,
    List<Held> held,
    List<Held> staying,
    String watching,
    Versions versions,
    String history) {
  public SyncView {
    nodes = List.copyOf(nodes);
    pending = List.copyOf(pending);
    held = List.copyOf(held);
    staying = List.copyOf(staying);
  }

  /** The same with this history. */
  public SyncView with(String said) {
    return new SyncView(
        mode,
        isSynced,
        generation,
        nodes,
        editNode,
        pending,
        incoming,
        held,
        staying,
        watching,
        versions,
        said);
  }

  /** Why what is on its way waits, as a clause; empty when it goes on by itself. */
  public Optional<String> waitsFor() {
    return held.stream().filter(each -> each.what().isEmpty()).map(Held::why).findFirst();
  }

  /** Why a save does not go at once, as a sentence without its end; empty when it does. */
  public Optional<String> limitation() {
    if (watching.isEmpty()) {
      return Optional.empty();
    }
    return Optional.of(
        mode == Mode.OFF
            ? "saves are not sent by themselves, because " + watching
            : "changes are noticed late: " + watching);
  }

  /** Whether saves are sent by themselves. */
  public enum Mode implements Worded {
    LIVE,
    PAUSED,
    /** Only up, run and sync send. */
    OFF
  }

  /** What was changed on the editors' node and is not here. */
  public enum Incoming implements Worded {
    /** Nothing, as far as the node has said. */
    NONE,
    /** It comes by itself. */
    COMING,
    /** It comes later, or only a command can bring it. */
    WAITING
  }

  /**
   * One node.
   *
   * @param generation that it holds; empty while it is not known
   * @param behind why it was left out of the last push; empty when it was not
   */
  public record Node(int index, Optional<Long> generation, String behind) {}

  /**
   * Something that is not sent.
   *
   * @param what a path, or empty for everything that is pending
   * @param why a clause
   */
  public record Held(String what, String why) {}

  /**
   * A folder with versions that were replaced or deleted. It is never empty.
   *
   * @param node where it is; empty: on this machine
   */
  public record Trash(Optional<Integer> node, String folder, long bytes, int files) {}

  /**
   * Versions of files that are not in all trees.
   *
   * @param held paths with versions of which none is newer
   */
  public record Versions(List<HeldPath> held, List<Trash> trashes) {
    public Versions {
      held = List.copyOf(held);
      trashes = List.copyOf(trashes);
    }

    public static Versions none() {
      return new Versions(List.of(), List.of());
    }
  }

  /**
   * What a sync would do now, as far as it can be known without doing it: files that are in its way
   * on other nodes, and are not gpush's, are found by the sync alone.
   *
   * @param sends what would be written on nodes that have it otherwise
   * @param bytes of the contents that would be sent for it, before they are compressed
   * @param deletes what would be deleted there
   * @param comes what would come home from the editors' node, and then go to the others
   * @param removes what would go to the trash here, because it was deleted there
   * @param held what would stay as it is on all sides
   * @param asks what it would ask about first, or fail for
   */
  public record Preview(
      List<Sent> sends,
      long bytes,
      List<String> deletes,
      List<String> comes,
      List<String> removes,
      List<HeldPath> held,
      List<String> asks) {
    /** A path and the bytes that it has here. */
    public record Sent(String path, long bytes) {}

    public Preview {
      sends = List.copyOf(sends);
      deletes = List.copyOf(deletes);
      comes = List.copyOf(comes);
      removes = List.copyOf(removes);
      held = List.copyOf(held);
      asks = List.copyOf(asks);
    }

    public static Preview nothing() {
      return new Preview(List.of(), 0, List.of(), List.of(), List.of(), List.of(), List.of());
    }

    public boolean isNothing() {
      return equals(nothing());
    }
  }

  /** Nothing is known, as before a session has nodes. */
  public static SyncView none() {
    return new SyncView(
        Mode.OFF,
        false,
        Optional.empty(),
        List.of(),
        0,
        List.of(),
        Incoming.NONE,
        List.of(),
        List.of(),
        "",
        Versions.none(),
        "");
  }
}
