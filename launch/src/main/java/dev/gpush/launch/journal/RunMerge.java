package dev.gpush.launch.journal;

import dev.gpush.core.run.LineBlock;
import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunOutput;
import dev.gpush.core.run.RunTransport;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.stream.Collectors;

/**
 * The journals of a run's nodes as one output, in the order in which they arrive. Thread-safe: each
 * node has its own thread, and the output is called by one of them at a time; while it blocks, all
 * wait, and through the streams' credit the nodes' readers wait too.
 */
public final class RunMerge {
  private static final int ERRORS = 1;

  /** Of some kilobytes each; ranks that fail alike do so within moments. */
  private static final int MOST_TRACEBACKS = 100;

  /** Addresses differ from process to process. */
  private static final String ADDRESS = "0x[0-9a-f]+";

  private final Set<Integer> ranks;
  private final RunOutput output;
  private final TransportCollector transports;
  private final boolean isLauncherOnly;

  /** Tracebacks that were shown, and the other ranks that had the same. */
  private final LinkedHashMap<String, Alike> tracebacks = new LinkedHashMap<>();

  /** A traceback: its last line, and who had it. */
  private record Alike(String exception, int first, Set<Integer> others) {}

  /** Held while the output is called: that is what keeps it to one thread at a time. */
  private final ReentrantLock lock = new ReentrantLock();

  /**
   * @param ranks only these; empty: all. What the launcher says is always given, but for its words
   *     about failed ranks, which are given alone with -1.
   * @param transports takes what the nodes say of their network
   */
  public RunMerge(Set<Integer> ranks, RunOutput output, TransportCollector transports) {
    this.ranks = Set.copyOf(ranks);
    this.output = output;
    this.transports = transports;
    this.isLauncherOnly = ranks.contains(RunJournal.FROM_LAUNCHER);
  }

  /**
   * All parts are finished: says which ranks had a traceback that was shown once.
   *
   * @param named the verdict says of these that they failed alike
   */
  public void finish(Set<Integer> named) {
    lock.lock();
    try {
      transports.rest().ifPresent(verdict -> network(0, verdict));
      for (Alike alike : tracebacks.values()) {
        sayAlike(alike, named);
      }
      tracebacks.clear();
    } finally {
      lock.unlock();
    }
  }

  // holds lock
  private void sayAlike(Alike alike, Set<Integer> named) {
    if (!named.containsAll(alike.others())) {
      output.event(0, RunTalk.sameTraceback(alike.exception(), List.copyOf(alike.others())));
    }
  }

  /** The oldest goes; that others had it is said now. */
  private void forgetOldest() {
    Alike oldest = tracebacks.pollFirstEntry().getValue();
    sayAlike(oldest, Set.of());
  }

  /**
   * The part of one node; one thread.
   *
   * @param workspace its folder there: tracebacks that differ only in it are the same
   */
  public Part part(int node, String workspace) {
    return new Part(node, workspace);
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

  /** All parts of an attempt are finished, and another one begins. */
  public void restart(int node, RunFailure failure, int restart, int most) {
    lock.lock();
    try {
      output.restarting(node, failure, restart, most);
    } finally {
      lock.unlock();
    }
  }

  /** A network that is as expected is said only to those who asked. */
  private void network(int node, RunTransport verdict) {
    if (verdict.isWorse() || verdict.evidence().isAsked()) {
      output.event(node, RunTalk.network(verdict));
    }
  }

  public final class Part {
    private final int node;
    private final Map<Integer, Splitter> splitters = new TreeMap<>();
    private final Map<Integer, TracebackFilter> filters = new TreeMap<>();
    private final String workspace;
    private boolean isStopping;

    private Part(int node, String workspace) {
      this.node = node;
      this.workspace = workspace;
    }

    public void take(int from, int channel, byte[] payload) {
      lock.lock();
      try {
        if (channel == RunJournal.EVENT) {
          event(RunEvent.parse(payload));
        } else {
          int rank = from == RunJournal.LAUNCHER ? RunJournal.FROM_LAUNCHER : from;
          if (rank < 0 || isLauncherOnly || ranks.isEmpty() || ranks.contains(rank)) {
            splitters
                .computeIfAbsent(from * 2 + channel, _ -> splitter(rank, channel == ERRORS))
                .feed(payload);
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
        splitters.values().forEach(Splitter::end);
        filters.values().forEach(TracebackFilter::end);
      } finally {
        lock.unlock();
      }
    }

    private Splitter splitter(int rank, boolean isError) {
      Splitter.Lines lines =
          new Splitter.Lines() {
            @Override
            public void line(byte[] text) {
              Part.this.line(rank, isError, text);
            }

            @Override
            public void lines(LineBlock lines) {
              Part.this.lines(rank, isError, lines);
            }

            @Override
            public void rewriting(byte[] text) {
              output.rewriting(node, rank, isError, text);
            }
          };
      return output.isScreen() ? new ScreenSplitter(lines) : new LineSplitter(lines);
    }

    private void line(int rank, boolean isError, byte[] line) {
      if (isError && output.isForPeople()) {
        filters.computeIfAbsent(rank, _ -> new TracebackFilter(new Shown(rank))).line(line);
      } else if (!isLauncherOnly || rank < 0) {
        output.line(node, rank, isError, line);
      }
    }

    /** A traceback is looked for line by line. */
    private void lines(int rank, boolean isError, LineBlock lines) {
      if (isError && output.isForPeople()) {
        lines.forEach(line -> line(rank, true, line));
      } else if (!isLauncherOnly || rank < 0) {
        output.lines(node, rank, isError, lines);
      }
    }

    /** What becomes of the lines that a rank writes to stderr. */
    private final class Shown implements TracebackFilter.Found {
      private final int rank;

      Shown(int rank) {
        this.rank = rank;
      }

      @Override
      public void line(byte[] line) {
        if (!isLauncherOnly || rank < 0) {
          output.line(node, rank, true, line);
        }
      }

      @Override
      public void launcher(byte[] line) {
        if (isLauncherOnly) {
          output.line(node, rank, true, line);
        }
      }

      @Override
      public void traceback(List<byte[]> lines) {
        String key =
            lines.stream()
                .map(line -> TracebackFilter.text(line).replace(workspace + "/", ""))
                .map(line -> line.replaceAll(ADDRESS, ""))
                .collect(Collectors.joining("\n"));
        String exception = TracebackFilter.text(lines.getLast());
        var fresh = new Alike(exception, rank, new TreeSet<>());
        Alike known = tracebacks.computeIfAbsent(key, _ -> fresh);
        if (tracebacks.size() > MOST_TRACEBACKS) {
          forgetOldest();
        }
        if (rank >= 0 && known.first() != rank) {
          known.others().add(rank);
        } else {
          lines.forEach(this::line);
        }
      }
    }

    private void event(RunEvent event) {
      switch (event) {
        case RunEvent.Stopping stopping -> {
          String why = stopping.why();
          if (!isStopping) {
            RunTalk.waiting(stopping).ifPresent(text -> output.event(node, text));
          }
          if (!isStopping && why.equals(RunTalk.ASKED)) {
            output.event(node, "stopping");
          }
          if (!isStopping && why.equals(RunTalk.TAKEN)) {
            output.event(node, why);
          }
          isStopping = true;
        }
        case RunEvent.Warned warned -> output.event(node, RunTalk.warned(warned));
        case RunEvent.Transport(var facts) -> {
          Optional<RunTransport> verdict = transports.take(node, facts);
          verdict.ifPresent(each -> network(node, each));
        }
        case RunEvent.Gap(long bytes) -> output.event(node, RunTalk.gap(bytes));
        case RunEvent.At(_, long dropped) -> output.event(node, RunTalk.dropped(node, dropped));
        case RunEvent.RankExit _, RunEvent.Printed _, RunEvent.Ended _, RunEvent.Unknown _ -> {}
      }
    }
  }
}
