package dev.gpush.core.sample;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;

/**
 * Where a rank is in its code, and what its process does.
 *
 * @param rank empty of a process that is no rank
 * @param motion within the second of the look
 * @param frames of its first thread, the innermost first, at the line where it was most often;
 *     empty: not known, and then there is a problem
 * @param workers of a rank that waits for its data loader: the processes of that
 */
public record RankStack(
    Optional<Integer> rank,
    Process process,
    Motion motion,
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

  /**
   * @param hasMoved whether its stacks differ; empty: not known
   * @param spots what each look met at its own line and below, in their order; empty if the looks
   *     do not differ there, or there was only one
   */
  public record Motion(Optional<Boolean> hasMoved, List<List<StackFrame>> spots) {
    public Motion {
      spots = spots.stream().map(List::copyOf).toList();
    }
  }

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

  public Optional<Boolean> hasMoved() {
    return motion.hasMoved();
  }

  static RankStack from(Json said) {
    return new RankStack(
        said.integer("rank"),
        new Process(
            said.number("pid").orElse(0L),
            said.text("state").orElse(""),
            said.real("cpu"),
            said.text("wait")),
        new Motion(
            said.get("moved").filter(Json.Bool.class::isInstance).map(_ -> said.flag("moved")),
            said.items("spots").stream().limit(MOST).map(each -> frames(each.items())).toList()),
        frames(said.items("frames")),
        said.get("problem").filter(Json.Obj.class::isInstance).map(RankStack::problem),
        said.items("workers").stream()
            .limit(MOST)
            .map(each -> new Worker(each.number("pid").orElse(0L), frames(each.items("frames"))))
            .toList());
  }

  private static List<StackFrame> frames(List<Json> said) {
    return said.stream().limit(MOST).map(StackFrame::from).toList();
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
