package dev.gpush.core.failure;

import dev.gpush.core.json.Json;
import java.util.List;

/** The agent on a node could not be started, found or reached. */
public sealed interface AgentFailure extends Failure {
  record NoPython(List<String> tried) implements AgentFailure {}

  record OldPython(String found) implements AgentFailure {}

  /** The agent's folder, workspace or lock cannot be made: full, read-only, not ours. */
  record CannotWrite(String path, String reason) implements AgentFailure {}

  /** Something that this gang needs exclusively is held by another one. */
  record Held(String what, String holder) implements AgentFailure {}

  /** Another gateway, in words for people, has attached to the gang since, under this term. */
  record Superseded(String holder, long term) implements AgentFailure {}

  /** The agent was started by another build of gpush and speaks another version of the protocol. */
  record OtherBuild(int node) implements AgentFailure {}

  record NotThere(String gang, int node) implements AgentFailure {}

  record Died(String detail) implements AgentFailure {}

  /** What came back is not the protocol; {@code noise} is the cleaned text before it. */
  record NotUnderstood(String detail, String noise) implements AgentFailure {}

  /** A stream or call was refused with this code (docs/technical/link.md). */
  record Refused(String what, String code, Json facts) implements AgentFailure {}

  /** It is connected and does not answer; {@code why} is a clause about "it". */
  record Slow(int node, String why) implements AgentFailure {}

  /** The link ended during a request. */
  record LinkOver(int node, String reason) implements AgentFailure {}

  @Override
  default ExitStatus exit() {
    return switch (this) {
      case NoPython _, OldPython _, CannotWrite _, NotUnderstood _, Died _ ->
          ExitStatus.ENVIRONMENT;
      case Held _, Superseded _, OtherBuild _, NotThere _, Refused _, Slow _, LinkOver _ ->
          ExitStatus.FAILED;
    };
  }
}
