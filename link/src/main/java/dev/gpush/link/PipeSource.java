package dev.gpush.link;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;

/**
 * Where a link gets its pipes: spawns the agent's command on the node and starts the protocol
 * ({@link dev.gpush.core.gang.AgentProgram#begin}). The pipe that comes back is positioned just
 * behind the preamble; the link closes it.
 */
@FunctionalInterface
public interface PipeSource {
  /**
   * Blocks; stops promptly when interrupted. When it throws after the link was up, the link tries
   * again with growing pauses until it is closed or the node is gone.
   */
  Pipe open() throws IOException, InterruptedException;
}
