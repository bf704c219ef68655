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
   * Blocks; stops promptly when interrupted. When it throws after the link was up, the link tries
   * again with growing pauses until it is closed or told that the node is gone.
   */
  Pipe open() throws IOException, InterruptedException;
}
