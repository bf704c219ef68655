package dev.gpush.launch.journal;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.launch.node.NodeCalls;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;

/**
 * Reads the journal of a run on one node over as many streams as needed, and returns each record
 * once. A stream may end anywhere, also in the middle of a record: the next one begins where the
 * last whole record ended. One thread.
 */
public final class JournalReader {
  private static final String ATTEMPT = "attempt";

  /** A stream that ended too early is opened again after this. */
  private static final Duration PAUSE = Duration.ofMillis(200);

  /** How often output that exists is asked for from the same place. */
  private static final int MOST_TRIES = 10;

  private final NodeCalls node;
  private final int index;
  private final int run;
  private final RunJournal journal;

  // With the attempt, once it is known.
  private Json.Obj selection;

  // The result in the journal's last record, once it was read.
  private Optional<NodeEnd> end = Optional.empty();

  // How often a stream broke since one gave a record, and where.
  private int tries;
  private long read;

  private boolean mayRestart;
  private boolean isCut;

  /**
   * @param index of the node, for failures
   * @param selection {@code ranks} or {@code events} of the builtin {@code follow}; empty: all
   */
  public JournalReader(NodeCalls node, int index, int run, Json.Obj selection) {
    this.node = node;
    this.index = index;
    this.run = run;
    this.selection = selection;
    this.journal = new RunJournal(index, 0);
  }

  /** The run may be started again: {@link #follow} then asks first which attempt it follows. */
  public void mayRestart() {
    mayRestart = true;
  }

  /**
   * Gives existing and new records, until this node's part of the run has ended. If the node cannot
   * read them all, its files say how that was, and the reader {@link #isCut}.
   */
  public NodeEnd follow(RunJournal.Entries entries) throws InterruptedException {
    Optional<NodeEnd> known = Optional.empty();
    var link = new NodeCalls.LinkFailures();
    while (true) {
      try {
        if (mayRestart && selection.get(ATTEMPT).isEmpty()) {
          known = ended();
        }
        boolean isWhole = stream(true, entries);
        if (end.isPresent()) {
          return end.get();
        }
        // A supervisor that was killed wrote no last record. A stream that was opened after its end
        // was known, and did not break, has delivered everything.
        // A reader of events needs no more than its files say, and the run waits for it.
        if (known.isPresent() && (isWhole || selection.flag("events") || isLastTry())) {
          isCut = !isWhole;
          return known.get();
        }
        if (known.isEmpty()) {
          known = ended();
        }
        link.answered();
        if (known.isPresent() && isWhole) {
          continue;
        }
      } catch (GpushException failed) {
        boolean isRefused = failed.failure() instanceof AgentFailure.Refused;
        if (node.isLost() || !link.mayPass(failed) || (isRefused && !NodeCalls.mayPass(failed))) {
          throw failed;
        }
      }
      Thread.sleep(PAUSE);
    }
  }

  /** Whether {@link #follow} has left out what the node cannot read. */
  public boolean isCut() {
    return isCut;
  }

  /**
   * Gives the records that exist now. Returns how the part ended, if that is among them.
   *
   * @throws GpushException when the node does not know the run ({@link #isUnknown}), or cannot read
   *     on ({@link LaunchFailure.CutOutput})
   */
  public Optional<NodeEnd> show(RunJournal.Entries entries) throws InterruptedException {
    while (!stream(false, entries) && end.isEmpty()) {
      if (isLastTry()) {
        throw new GpushException(new LaunchFailure.CutOutput(run, index));
      }
      Thread.sleep(PAUSE);
    }
    return end;
  }

  /** Counts a stream that broke: whether no other one will give more. */
  private boolean isLastTry() {
    tries = journal.offset() > read ? 1 : tries + 1;
    read = journal.offset();
    return tries == MOST_TRIES;
  }

  /** Whether the node has answered that it does not know the run. */
  public static boolean isUnknown(GpushException failed) {
    return failed.failure() instanceof AgentFailure.Refused(_, var code, var facts)
        && code.equals("not-found")
        && facts.get("run").isPresent();
  }

  /** False when the stream broke: the agent may have been replaced, but the journal is the same. */
  private boolean stream(boolean follow, RunJournal.Entries entries) throws InterruptedException {
    journal.reopen();
    // Counted from now: after the first stream it would leave out what was written meanwhile.
    Json.Obj from = journal.offset() > 0 ? selection.without("since_s") : selection;
    Json.Obj arguments =
        from.with("run", run).with("offset", journal.offset()).with("follow", follow);
    try (InputStream in = node.follow(arguments)) {
      RunJournal.Entries taken = (rank, channel, payload) -> take(rank, channel, payload, entries);
      while (journal.read(in, taken)) {}
      return true;
    } catch (IOException broken) {
      return false;
    }
  }

  private void take(int rank, int channel, byte[] payload, RunJournal.Entries entries) {
    if (channel == RunJournal.EVENT && RunEvent.parse(payload) instanceof RunEvent.Ended(var how)) {
      end = Optional.of(how);
    }
    entries.take(rank, channel, payload);
  }

  /** The result in the node's files; empty while the attempt continues there. */
  private Optional<NodeEnd> ended() throws InterruptedException {
    try {
      Json status = node.call("run.status", Json.object("run", run));
      Optional<Integer> present = status.integer(ATTEMPT);
      if (present.isPresent() && selection.get(ATTEMPT).isEmpty()) {
        selection = selection.with(ATTEMPT, present.get());
      }
      if (present.isPresent() && !selection.integer(ATTEMPT).equals(present)) {
        // The files say how another one is; if this one has a result, its last record says it.
        return Optional.of(NodeEnd.lost());
      }
      return status.get("exit").map(NodeEnd::from);
    } catch (GpushException failed) {
      if (failed.failure() instanceof AgentFailure.Refused(_, var code, _)
          && code.equals("not-found")) {
        return Optional.of(NodeEnd.lost());
      }
      throw failed;
    }
  }
}
