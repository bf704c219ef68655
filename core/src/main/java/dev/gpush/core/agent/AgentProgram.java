package dev.gpush.core.agent;

import dev.gpush.core.backend.GangId;
import dev.gpush.core.backend.Pipe;
import dev.gpush.core.json.Json;
import java.io.IOException;
import java.util.List;

/**
 * The agent as something that can be started by any backend that can spawn a command: the
 * arguments, and what goes to its stdin first. docs/technical/link.md section 1 is the contract.
 * Thread-safe.
 */
public interface AgentProgram {
  /**
   * Begins a list of interpreters that is one, as words: it is not looked for, and needs no shell.
   */
  String ONE = "--";

  /**
   * The command; the interpreters are tried in this order, names are looked up on the node's PATH.
   * After {@link #ONE} come the words of the only one.
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

  /** The command of a relay to an agent that runs: a fraction of the loader's time and bytes. */
  List<String> relayArguments(List<String> interpreters, GangId gang, int node);

  /**
   * Reads up to and including the preamble of a relay; what follows on the pipe are frames.
   *
   * @return false when it found no agent; {@link #begin} with mode attach looks more closely and
   *     tells why
   */
  boolean beginRelay(Pipe pipe) throws IOException;

  /**
   * {@link #begin}, then the one JSON line of the answer; the pipe is closed. For control, list and
   * start with hold_only.
   */
  Json ask(Pipe pipe, Json.Obj header) throws IOException;

  /**
   * What {@link #begin} writes, for a script that starts agents when nobody is there to talk to
   * them. The loader takes it on stdin.
   */
  byte[] packet(Json.Obj header);
}
