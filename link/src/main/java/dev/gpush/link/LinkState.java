package dev.gpush.link;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import java.util.Optional;

/** The states of a link; docs/technical/link.md has the diagram. */
public sealed interface LinkState {
  /** Not connected yet. */
  record Idle() implements LinkState {}

  /**
   * Frames flow.
   *
   * @param welcome what the agent said of itself
   * @param resumed false when the agent is new to us: streams that were open have ended
   */
  record Up(Json.Obj welcome, boolean resumed) implements LinkState {}

  /** The pipe ended; streams wait, and a new pipe is tried. */
  record Cut(String reason) implements LinkState {
    /**
     * The node answers and has no agent: its streams are lost. The link keeps trying, because only
     * the backend knows whether the node is gone.
     */
    public static final String NO_AGENT = "no agent on the node";

    /** Nothing is answered on the pipe; it stays open, and another one is tried beside it. */
    public static final String SILENCE = "silence";
  }

  /** Ended for good: released, the node is gone, or closed by us. */
  record Over(String reason) implements LinkState {}

  /**
   * The agent refuses this gateway: another holder has taken the gang, or it speaks another
   * version.
   */
  record Refused(Failure failure) implements LinkState {}

  /** Why nothing can be opened any more; empty while it can. */
  default Optional<GpushException> failure(int node) {
    return switch (this) {
      case Idle _, Up _, Cut _ -> Optional.empty();
      case Over(var reason) ->
          Optional.of(new GpushException(new AgentFailure.LinkOver(node, reason)));
      case Refused(var failure) -> Optional.of(new GpushException(failure));
    };
  }

  /** Whether nothing more will come. */
  default boolean isFinal() {
    return switch (this) {
      case Idle _, Up _, Cut _ -> false;
      case Over _, Refused _ -> true;
    };
  }
}
