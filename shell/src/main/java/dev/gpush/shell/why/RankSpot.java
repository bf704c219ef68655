package dev.gpush.shell.why;

import dev.gpush.core.sample.StackFrame;
import dev.gpush.core.text.Worded;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Where a rank is, in the terms of its user: the line of their own code, and what it waits for
 * there. Two ranks whose stacks differ below that are at the same spot.
 *
 * @param name of the call that waits for other ranks, else of the function
 */
public record RankSpot(Kind kind, String name, String file, long line) {
  /** What a library below the user's own line shows. */
  public enum Kind implements Worded {
    COLLECTIVE,
    /** A call that waits for one other rank. */
    PEER,
    LOADER,
    CODE
  }

  /**
   * Those of torch.distributed and of what is built like it. That an asynchronous one is waited for
   * shows no name: the rank is then at the line that needs its result.
   */
  private static final Set<String> COLLECTIVES =
      Set.of(
          "all_gather",
          "all_gather_into_tensor",
          "all_gather_object",
          "all_reduce",
          "all_reduce_coalesced",
          "all_to_all",
          "all_to_all_single",
          "barrier",
          "broadcast",
          "broadcast_object_list",
          "destroy_process_group",
          "gather",
          "gather_object",
          "init_process_group",
          "monitored_barrier",
          "new_group",
          "reduce",
          "reduce_scatter",
          "reduce_scatter_tensor",
          "scatter",
          "scatter_object_list",
          "wait_for_everyone");

  private static final Set<String> PEERS =
      Set.of("batch_isend_irecv", "irecv", "isend", "recv", "send");

  /** Where these names mean calls that wait for other ranks. */
  private static final List<String> LIBRARIES =
      List.of("torch/distributed/", "deepspeed/comm/", "accelerate/");

  private static final String LOADER_FILE = "torch/utils/data/dataloader.py";
  private static final String MODULE = "<module>";

  /**
   * @param frames the innermost first; at least one
   */
  static RankSpot of(List<StackFrame> frames) {
    int own = 0;
    while (own < frames.size() && !frames.get(own).isOwn()) {
      own++;
    }
    StackFrame at = frames.get(own < frames.size() ? own : 0);
    List<StackFrame> below = frames.subList(0, own);
    // The outermost one is the call that the user wrote.
    Optional<String> call =
        below.reversed().stream()
            .filter(frame -> LIBRARIES.stream().anyMatch(frame.file()::startsWith))
            .map(frame -> simple(frame.function()))
            .filter(name -> COLLECTIVES.contains(name) || PEERS.contains(name))
            .findFirst();
    if (call.isPresent()) {
      Kind kind = PEERS.contains(call.get()) ? Kind.PEER : Kind.COLLECTIVE;
      return new RankSpot(kind, call.get(), at.file(), at.line());
    }
    boolean isLoader = below.stream().anyMatch(frame -> frame.file().equals(LOADER_FILE));
    return new RankSpot(isLoader ? Kind.LOADER : Kind.CODE, at.function(), at.file(), at.line());
  }

  private static String simple(String function) {
    return function.substring(function.lastIndexOf('.') + 1);
  }

  public String place() {
    return file + ":" + line;
  }

  /** As a predicate of one rank, or of several: "wait in all_reduce at train.py:42". */
  String predicate(boolean isOne) {
    return switch (kind) {
      case COLLECTIVE, PEER -> (isOne ? "waits in " : "wait in ") + name + " at " + place();
      case LOADER -> (isOne ? "waits" : "wait") + " for the data loader at " + place();
      case CODE ->
          (isOne ? "is " : "are ")
              + (name.equals(MODULE) ? "" : "in " + name + " ")
              + "at "
              + place();
    };
  }
}
