package dev.gpush.core.gang;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/**
 * How a backend that can spawn a command starts the agent: the arguments, and what is written to
 * its stdin first. docs/technical/link.md section 1 is the contract. Thread-safe.
 */
public interface AgentProgram {
  /**
   * Starts a list that is the command of one interpreter: that one is not searched for, and needs
   * no shell.
   */
  String ONE = "--";

  /** An agent can use any Python; a module system's own may be first on the PATH. */
  List<String> INTERPRETERS = List.of("python3", "/usr/bin/python3", "python");

  /**
   * The command; the interpreters are tried in this order, names are looked up on the node's PATH.
   * After {@link #ONE} comes the command of the only one.
   */
  List<String> arguments(List<String> interpreters);

  /**
   * Writes the loader's header and source to a fresh pipe and reads up to and including the
   * preamble; what follows on the pipe are frames (start, attach) or one JSON line (control, list).
   *
   * @param header the header without preamble and source
   * @throws dev.gpush.core.failure.GpushException with an {@link
   *     dev.gpush.core.failure.AgentFailure} when the loader refused
   */
  void begin(Pipe pipe, Json.Obj header) throws IOException;

  /**
   * The command of a relay to an agent: a fraction of the loader's time and bytes.
   *
   * @param patience how long an agent may take that does not run yet, in whole seconds
   */
  List<String> relayArguments(List<String> interpreters, GangId gang, int node, Duration patience);

  /**
   * Reads up to and including the preamble of a relay; what follows on the pipe are frames.
   *
   * @return false when it found no agent; {@link #begin} with mode attach searches further and
   *     reports why
   */
  boolean beginRelay(Pipe pipe) throws IOException;

  /**
   * {@link #beginRelay(Pipe)} where an agent may take a while.
   *
   * @param patience as in {@link #relayArguments}
   */
  boolean beginRelay(Pipe pipe, Duration patience) throws IOException;

  /**
   * Asks the agent behind a relay that has begun for its status; may be called again. Frames may
   * follow on the pipe later: the agent waits ten minutes for them.
   */
  Json status(Pipe relay, Duration limit) throws IOException;

  /**
   * {@link #begin}, then the one JSON line of the answer; the pipe is closed. For control, list and
   * start with hold_only.
   */
  Json ask(Pipe pipe, Json.Obj header) throws IOException;

  /**
   * What {@link #begin} writes, for a script that starts agents while no gateway is connected. The
   * loader reads it from stdin.
   */
  byte[] packet(Json.Obj header);

  /**
   * The same for a backend that keeps it in files, by their names.
   *
   * @see #commandIn
   */
  Map<String, byte[]> files(Json.Obj header);

  /** The command that becomes an agent where {@link #files} are in this folder. */
  List<String> commandIn(String folder, List<String> interpreters);
}
