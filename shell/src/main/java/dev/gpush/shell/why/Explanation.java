package dev.gpush.shell.why;

import dev.gpush.core.text.Worded;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * One answer, what it is founded on, and what to try.
 *
 * @param remedies commands, or what to look at
 */
public record Explanation(Code code, String text, List<Evidence> evidence, List<String> remedies) {
  /** What kind of answer it is, for programs; {@link #word} is promised. */
  public enum Code implements Worded {
    /** Waits for nodes. */
    QUEUED,
    /** Has nodes that are not ready yet. */
    STARTING,
    NEEDS_LOGIN,
    /** A request that failed. */
    REFUSED,
    DEGRADED,
    /** Is being given back, or was not proved to be. */
    ENDING,
    IDLE,
    /** Something other than a run uses it. */
    BUSY,
    FAILED,
    DONE,
    STOPPED,
    /** How a run ended, or whether it has, cannot be known. */
    UNKNOWN,
    /** No node could be asked. */
    UNREACHABLE,
    /** The process of a rank has ended or was stopped, and no other one moves. */
    RANK_GONE,
    /** Most ranks are at one place, and a few elsewhere. */
    RANK_APART,
    COLLECTIVES_DIFFER,
    /** All stand at the same place. */
    SAME_PLACE,
    /** All stand, at places of which none explains the others. */
    PLACES_DIFFER,
    /** None was seen to move, but it is not known of all of them. */
    PARTLY_SEEN,
    /** Only the kernel's view of the processes is known. */
    NO_STACKS,
    LOADER_BOUND,
    /** Works; at this moment some ranks wait for the others. */
    BEHIND,
    /** Works; something differs from its like. */
    STANDS_OUT,
    /** At least half of the ranks wait for a disk or a network file system. */
    STORAGE,
    /** Makes its steps slower than before, and nothing seen says why. */
    SLOW,
    /** Slower than an earlier run, and a faster network is there and not used. */
    SLOW_NETWORK,
    WORKING
  }

  /** A line, and the lines that belong below it. */
  public record Evidence(String text, List<String> below) {
    public Evidence {
      below = List.copyOf(below);
    }

    static Evidence of(String text) {
      return new Evidence(text, List.of());
    }
  }

  public Explanation {
    evidence = List.copyOf(evidence);
    remedies = List.copyOf(remedies);
  }

  /** Empty remedies are left out. */
  static Explanation of(Code code, String text, String... remedies) {
    List<String> lines = Arrays.stream(remedies).filter(line -> !line.isEmpty()).toList();
    return new Explanation(code, text, List.of(), lines);
  }

  public Explanation with(Evidence more) {
    var all = new ArrayList<>(evidence);
    all.add(more);
    return new Explanation(code, text, all, remedies);
  }

  /** With this before everything else. */
  public Explanation with(String line, Optional<String> remedy) {
    var all = new ArrayList<>(List.of(Evidence.of(line)));
    all.addAll(evidence);
    var tried = new ArrayList<>(remedy.stream().toList());
    tried.addAll(remedies);
    return new Explanation(code, text, all, tried);
  }

  Explanation with(String line) {
    return with(Evidence.of(line));
  }
}
