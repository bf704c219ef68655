package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;

/**
 * Where a link gets its pipes: spawns the agent's command on the node and begins the conversation
 * ({@link dev.gpush.core.agent.AgentProgram#begin}). The pipe that comes back stands just behind
 * the preamble; the link closes it.
 */
@FunctionalInterface
public interface PipeSource {
  /**
   * Which pipe is asked for: a source may start an agent for the first and only look for it later.
   */
  enum Attempt {
    FIRST,
    AGAIN
  }

  /**
   * Blocks; stops promptly when interrupted. When it throws on a later attempt, the link tries
   * again with growing pauses until it is closed or told that the node is gone.
   */
  Pipe open(Attempt attempt) throws IOException, InterruptedException;
}
