package dev.gpush.launch.journal;

import dev.gpush.core.run.RunOutput;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The journals of a run's nodes as one output, in the order in which they arrive. Thread-safe: each
 * node has its own thread, and the output is called by one of them at a time; while it blocks, all
 * wait, and through the streams' credit the nodes' readers wait too.
 */
public final class RunMerge {
  private static final int ERRORS = 1;

  private final Set<Integer> ranks;
  private final RunOutput output;

  /** Held while the output is called: that is what keeps it to one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param ranks only these; empty: all. The launcher's output is always given.
   */
  public RunMerge(Set<Integer> ranks, RunOutput output) {
    this.ranks = Set.copyOf(ranks);
    this.output = output;
  }

  /** The part of one node; one thread. */
  public Part part(int node) {
    return new Part(node);
  }

  /** An event that belongs to no rank. */
  public void say(int node, String text) {
    lock.lock();
    try {
      output.event(node, text);
    } finally {
      lock.unlock();
    }
  }

  public final class Part {
    private final int node;
    private final Map<Integer, LineSplitter> splitters = new TreeMap<>();
    private boolean isStopping;

    private Part(int node) {
      this.node = node;
    }

    public void take(int from, int channel, byte[] payload) {
      lock.lock();
      try {
        if (channel == RunJournal.EVENT) {
          event(RunEvent.parse(payload));
        } else {
          int rank = from == RunJournal.LAUNCHER ? -1 : from;
          if (rank < 0 || ranks.isEmpty() || ranks.contains(rank)) {
            splitters
                .computeIfAbsent(from * 2 + channel, _ -> new LineSplitter())
                .feed(payload, line -> output.line(node, rank, channel == ERRORS, line));
          }
        }
      } finally {
        lock.unlock();
      }
    }

    /** Nothing more comes: gives the lines without an end. */
    public void finish() {
      lock.lock();
      try {
        splitters.forEach(
            (key, splitter) -> {
              int rank = key / 2 == RunJournal.LAUNCHER ? -1 : key / 2;
              splitter.end(line -> output.line(node, rank, key % 2 == ERRORS, line));
            });
      } finally {
        lock.unlock();
      }
    }

    private void event(RunEvent event) {
      switch (event) {
        case RunEvent.RankExit(int rank, var how) -> {
          // The others are stopped then, and the way they end means nothing.
          if (how.isFailure() && !isStopping) {
            output.event(node, RunTalk.ended(rank, how));
          }
        }
        case RunEvent.Stopping(var why) -> {
          if (!isStopping && why.equals(RunTalk.ASKED)) {
            output.event(node, "stopping");
          }
          if (!isStopping && why.equals(RunTalk.TAKEN)) {
            output.event(node, why);
          }
          isStopping = true;
        }
        case RunEvent.Warned warned -> output.event(node, RunTalk.warned(warned));
        case RunEvent.Gap(long bytes) -> output.event(node, RunTalk.gap(bytes));
        case RunEvent.Started _, RunEvent.Ended _, RunEvent.At _, RunEvent.Unknown _ -> {}
      }
    }
  }
}
