package dev.gpush.core.sample;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * Where a rank is in its code, and what its process does.
 *
 * @param rank empty of a process that is no rank
 * @param hasMoved whether the stack was another one a second before; empty: not known
 * @param frames of its first thread, the innermost first; empty: not known, and then there is a
 *     problem
 * @param workers of a rank that waits for its data loader: the processes of that
 */
public record RankStack(
    Optional<Integer> rank,
    Process process,
    Optional<Boolean> hasMoved,
    List<StackFrame> frames,
    Optional<Problem> problem,
    List<Worker> workers) {
  /** More of one kind is shown by no one. */
  private static final int MOST = 64;

  public RankStack {
    frames = List.copyOf(frames);
    workers = List.copyOf(workers);
  }

  /**
   * @param state the kernel's letter, or {@code ended}
   * @param cpuPercent of one processor
   * @param kernelWait the function of the kernel in which it waits, where that is shown
   */
  public record Process(
      long pid, String state, Optional<Double> cpuPercent, Optional<String> kernelWait) {}

  /** A process that reads data for a rank. */
  public record Worker(long pid, List<StackFrame> frames) {
    public Worker {
      frames = List.copyOf(frames);
    }
  }

  /**
   * Why there is no stack.
   *
   * @param said by py-spy; possibly nothing
   */
  public record Problem(Reason reason, String said) {
    /** What kept py-spy from it. */
    public enum Reason implements Worded {
      MISSING,
      DENIED,
      LATE,
      FAILED
    }
  }

  static RankStack from(Json said) {
    return new RankStack(
        said.integer("rank"),
        new Process(
            said.number("pid").orElse(0L),
            said.text("state").orElse(""),
            said.real("cpu"),
            said.text("wait")),
        said.get("moved").filter(Json.Bool.class::isInstance).map(_ -> said.flag("moved")),
        frames(said),
        said.get("problem").filter(Json.Obj.class::isInstance).map(RankStack::problem),
        said.items("workers").stream()
            .limit(MOST)
            .map(each -> new Worker(each.number("pid").orElse(0L), frames(each)))
            .toList());
  }

  private static List<StackFrame> frames(Json said) {
    return said.items("frames").stream().limit(MOST).map(StackFrame::from).toList();
  }

  private static Problem problem(Json said) {
    Problem.Reason reason =
        switch (said.text("code").orElse("")) {
          case "none" -> Problem.Reason.MISSING;
          case "denied" -> Problem.Reason.DENIED;
          case "late" -> Problem.Reason.LATE;
          default -> Problem.Reason.FAILED;
        };
    return new Problem(reason, said.text("said").orElse(""));
  }
}
