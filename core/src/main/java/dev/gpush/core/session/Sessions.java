package dev.gpush.core.session;

import dev.gpush.core.talk.Talk;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * Sessions, for the shell: made, found, given back. Every method may block and throws {@link
 * dev.gpush.core.failure.GpushException}; two commands at once on one session are one after the
 * other, or {@code Busy}.
 */
public interface Sessions {
  /**
   * Attaches when the folder (or name) has a session that is what was asked, else reserves, links,
   * syncs. Ready on return. What is being made belongs to the gateway: a caller that is interrupted
   * leaves it, unless {@link Talk#isCancelled} says that the user gives it up.
   */
  SessionView up(UpRequest request, Talk talk) throws InterruptedException;

  /** As {@link #up}, and returns as soon as the request waits in a queue; it goes on waiting. */
  SessionView upDetached(UpRequest request, Talk talk) throws InterruptedException;

  /**
   * Gives up the request for a session that is not there yet; on return nothing is asked for any
   * more. False: it is there, or gone.
   */
  boolean giveUp(SessionName name, Talk talk);

  /** Requests that failed while no command waited for them, until an {@code up} has told of it. */
  List<EndedRequest> ended();

  /** What {@code up --dry-run} prints; nothing is asked for. */
  Outlook plan(UpRequest request) throws InterruptedException;

  /** All that are not over. */
  List<SessionView> list();

  /**
   * -s NAME &gt; $GPUSH_SESSION (both given as {@code name}) &gt; the session of this folder &gt;
   * the only one; else {@code WhichSession}.
   */
  SessionView choose(Optional<String> name, Path folder);

  /**
   * Gives the gang back and confirms it. Runs in progress are named and asked about, and so is what
   * exists only on the nodes.
   *
   * @param discard no question about either
   */
  GivenBack down(SessionName name, boolean discard, Talk talk) throws InterruptedException;

  /**
   * Moves the hard end to {@code fromNow}, and starts the idle time afresh; empty fromNow only does
   * the latter.
   */
  SessionView extend(SessionName name, Optional<Duration> fromNow);

  /** Brings the workspace to all nodes; the generation they then hold. */
  long sync(SessionName name, boolean overwrite, Talk talk) throws InterruptedException;

  /** Fetches a file of the workspace from a node over the local one. */
  void pull(SessionName name, int node, String path, Talk talk) throws InterruptedException;

  /** Everything that ever was reserved, each proved gone or not; problems first. */
  List<Finding> doctor();

  /**
   * Ends what is this owner's, was held from here and is in no ledger, so that nobody renews it;
   * each is asked about. What became of each.
   */
  List<Finding> endForgotten(Talk talk) throws InterruptedException;

  /**
   * Makes a session of this home of a gang of this owner that is in no ledger here; nothing is
   * synced, and the first sync asks before it replaces what the nodes have.
   *
   * @param which the session's name or the gang's id; empty: the only one that there is
   * @param take also from another home, which may be at work with it
   */
  SessionView adopt(Optional<String> which, boolean take, Path folder, Talk talk)
      throws InterruptedException;

  /** A request that came to nothing, and why. */
  record EndedRequest(SessionName session, Instant asked, String why) {}

  /**
   * What became of a session that was given back.
   *
   * @param stopped the numbers of the runs that were in progress
   * @param kept what is not gpush's and was left where it is, each with its node
   */
  record GivenBack(List<Integer> stopped, List<String> kept) {
    public GivenBack {
      stopped = List.copyOf(stopped);
      kept = List.copyOf(kept);
    }
  }

  /** One line of {@code doctor}: status ok, warn or bad. */
  record Finding(String status, String what, String detail, Optional<String> remedy) {}
}
