package dev.gpush.core.agent;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

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
   * As {@link #arguments} for a node on which an agent runs, so that a Python there is known to be
   * fit.
   */
  List<String> questionArguments(List<String> interpreters);

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
   * As {@link #relayArguments} where the standard streams of commands are pipes of the node: the
   * agent takes them over, and no Python is started. {@link #beginRelay} begins it too.
   *
   * @param patience how long an agent may take that does not run yet, in whole seconds
   */
  List<String> handoverArguments(
      List<String> interpreters, GangId gang, int node, Duration patience);

  /**
   * {@link #beginRelay(Pipe)} where an agent may take a while.
   *
   * @param patience as in {@link #handoverArguments}
   */
  boolean beginRelay(Pipe pipe, Duration patience) throws IOException;

  /**
   * Asks the agent behind a relay that has begun for its status; may be asked again. What follows
   * on the pipe are frames, when the caller gets to it: the agent waits for ten minutes.
   */
  Json status(Pipe relay, Duration limit) throws IOException;

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

  /**
   * The same for a place that keeps it in files, by their names.
   *
   * @see #commandIn
   */
  Map<String, byte[]> files(Json.Obj header);

  /** The command that becomes an agent where {@link #files} are in this folder. */
  List<String> commandIn(String folder, List<String> interpreters);
}
