package dev.gpush.core.session;

import dev.gpush.core.backend.JobsAhead;
import dev.gpush.core.talk.Talk;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Makes, finds and gives back sessions, for the shell. Every method may block and throws {@link
 * dev.gpush.core.failure.GpushException}; two commands on one session run one after the other, or
 * fail with {@code Busy}.
 */
public interface Sessions {
  /**
   * Attaches when the folder (or name) has a session that matches the request, else reserves, links
   * and syncs. The session is ready on return. A request belongs to the gateway: it continues when
   * the caller is interrupted, unless {@link Talk#isCancelled} says that the user cancels it.
   */
  SessionView up(UpRequest request, Talk talk) throws InterruptedException;

  /** As {@link #up}, and returns as soon as the request waits in a queue; it keeps waiting. */
  SessionView upDetached(UpRequest request, Talk talk) throws InterruptedException;

  /**
   * Cancels the request for a session that has no nodes yet; on return nothing is requested any
   * longer. False: it has its nodes, or is gone.
   */
  boolean giveUp(SessionName name, Talk talk);

  /** Requests that failed while no command waited for them, until an {@code up} has reported it. */
  List<EndedRequest> ended();

  /** What {@code up --dry-run} prints; nothing is reserved. */
  Outlook plan(UpRequest request) throws InterruptedException;

  /** What comes before a request in the queues that it waits in, by backend, where it is known. */
  Map<String, JobsAhead> ahead(SessionName name) throws InterruptedException;

  /** All that have not ended. */
  List<SessionView> list();

  /**
   * -s NAME &gt; $GPUSH_SESSION (both given as {@code name}) &gt; the session of this folder &gt;
   * the only one; else {@code WhichSession}.
   */
  SessionView choose(Optional<String> name, Path folder);

  /**
   * Gives the gang back and confirms it. Asks before it ends runs in progress, and before it loses
   * files that exist only on the nodes.
   *
   * @param discard asks neither question
   */
  GivenBack down(SessionName name, boolean discard, Talk talk) throws InterruptedException;

  /** What {@link #down} would end and lose; nothing is ended. */
  Ending ending(SessionName name, Talk talk) throws InterruptedException;

  /**
   * Moves the hard end to {@code fromNow}, and restarts the idle time; empty fromNow only does the
   * latter.
   */
  SessionView extend(SessionName name, Optional<Duration> fromNow);

  /** What {@link #extend} would set; nothing is set, and no backend is asked. */
  Extension previewExtend(SessionName name, Optional<Duration> fromNow);

  /** Sends the workspace to all nodes; returns the generation they then hold. */
  long sync(SessionName name, boolean overwrite, Talk talk) throws InterruptedException;

  /** What {@link #sync} would do now; nothing is sent, and nothing comes. */
  SyncView.Preview previewSync(SessionName name, boolean overwrite, Talk talk)
      throws InterruptedException;

  /**
   * Decides about paths that are held, and sends the workspace to all nodes; the other versions go
   * to the trash of their side. Returns the generation that the nodes then hold.
   */
  long keep(SessionName name, KeepRequest request, Talk talk) throws InterruptedException;

  /** Where its files stand. */
  SyncView syncState(SessionName name);

  /** Saves are not sent by themselves until {@link #resumeSync}; also not by a later gateway. */
  SyncView pauseSync(SessionName name);

  SyncView resumeSync(SessionName name);

  /** Fetches a file of the workspace from a node and replaces the local one. */
  void pull(SessionName name, int node, String path, Talk talk) throws InterruptedException;

  /** The ports of this machine that lead to ports of its nodes. */
  List<PortForward> forwards(SessionName name);

  /**
   * Forwards a port until the session ends or {@link #unforward}; a later gateway listens on the
   * same port again.
   *
   * @param local the port here; empty: a free one, the same number if possible
   */
  List<PortForward> forward(SessionName name, PortTarget target, Optional<Integer> local)
      throws InterruptedException;

  /** Ends the forward of this port of this machine; empty when there is none. */
  Optional<PortForward> unforward(SessionName name, int local);

  /** The node where people edit: node 0, or that of {@code sync.edit}. */
  int editNode(SessionName name) throws InterruptedException;

  /**
   * The folder of the workspace on a node for editors, which remember windows by host and folder:
   * the same in every session of this name, where the node's home allows that.
   */
  String place(SessionName name, int node) throws InterruptedException;

  /** Everything that was ever reserved, and whether it is proved to be gone; problems first. */
  List<Finding> doctor();

  /**
   * Ends gangs of this owner that were made here and are in no ledger, so that no gateway renews
   * their lease; asks about each. Returns the result of each.
   */
  List<Finding> endForgotten(Talk talk) throws InterruptedException;

  /**
   * Makes a session of a gang of this owner that is in no ledger here; nothing is synced, and the
   * first sync asks before it replaces what the nodes have.
   *
   * @param which the session's name or the gang's id; empty: the only one
   * @param take it also from another home, which may still be using it
   */
  SessionView adopt(Optional<String> which, boolean take, Path folder, Talk talk)
      throws InterruptedException;

  /**
   * What a user decides about paths that are held.
   *
   * @param paths relative to the workspace; a folder stands for all that is in it, and the empty
   *     path for everything
   */
  record KeepRequest(Side side, List<String> paths) {
    /** Whose version goes everywhere. */
    public enum Side {
      LAPTOP,
      /** Of the node on which editors work. */
      NODE
    }

    public KeepRequest {
      paths = List.copyOf(paths);
      if (paths.isEmpty()) {
        throw new IllegalArgumentException("no paths to decide about");
      }
    }
  }

  /** A request that failed, and why. */
  record EndedRequest(SessionName session, Instant asked, String why) {}

  /**
   * The result of giving a session back.
   *
   * @param stopped the numbers of the runs that were in progress
   * @param kept files that gpush did not write and left in place, each with its node
   */
  record GivenBack(List<Integer> stopped, List<String> kept) {
    public GivenBack {
      stopped = List.copyOf(stopped);
      kept = List.copyOf(kept);
    }
  }

  /**
   * What the end of a session would mean.
   *
   * @param running the runs in progress, the oldest first
   * @param lost in words, what exists only on the nodes, or which of them could not be asked
   */
  record Ending(List<Going> running, Optional<String> lost) {
    /**
     * A run in progress.
     *
     * @param words what it is, and for how long
     */
    public record Going(int number, String words) {}

    public Ending {
      running = List.copyOf(running);
    }
  }

  /**
   * What a lease would be.
   *
   * @param hardEnd from now; empty: none, or it stays where it is
   * @param idle without activity
   * @param mayBeRefused the end would be later, and only the backend can say whether it allows that
   */
  record Extension(Optional<Duration> hardEnd, Duration idle, boolean mayBeRefused) {}

  /**
   * Files that came home.
   *
   * @param count since the gateway has linked the session
   * @param said of these, how many a command has named to its user
   * @param last the newest of them, the newest first
   */
  record Came(long count, long said, List<String> last) {
    /** This many are named. */
    private static final int MOST = 8;

    public Came {
      last = List.copyOf(last);
    }

    public static Came nothing() {
      return new Came(0, 0, List.of());
    }

    /** With these as well, in the order in which they came. */
    public Came and(List<String> paths, boolean areSaid) {
      List<String> newest =
          Stream.concat(paths.reversed().stream(), last.stream()).limit(MOST).toList();
      return new Came(count + paths.size(), said + (areSaid ? paths.size() : 0), newest);
    }
  }

  /**
   * A session that is over.
   *
   * @param why empty: a user gave it back
   */
  record Ended(String id, String why) {}

  /** One line of {@code doctor}: status ok, warn or bad. */
  record Finding(String status, String what, String detail, Optional<String> remedy) {
    public static Finding ok(String what, String detail) {
      return new Finding("ok", what, detail, Optional.empty());
    }

    public static Finding warn(String what, String detail) {
      return new Finding("warn", what, detail, Optional.empty());
    }

    public static Finding bad(String what, String detail) {
      return new Finding("bad", what, detail, Optional.empty());
    }

    /** With the next step for the user. */
    public Finding trying(String next) {
      return new Finding(status, what, detail, Optional.of(next));
    }
  }
}
