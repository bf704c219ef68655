package dev.gpush.backends.hosts.rack;

import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.util.Map;
import java.util.Optional;

/**
 * One machine of a rack: this one, or one behind ssh. Commands run there; all else has a default,
 * which is that of a host behind ssh. Equal hosts give equal answers. May be called from any
 * thread.
 */
public interface Host {
  /** Unique in its rack; nodes are called so. */
  String name();

  /** Runs the commands that survey the host, start agents and ask them. */
  Machine machine();

  /** The variables of a client that commands and nodes there take over. */
  default Map<String, String> inherited(Map<String, String> client) {
    return Map.of();
  }

  /** The same host, whose commands and nodes take over the {@link #inherited} of these. */
  default Host forClient(Map<String, String> client) {
    return this;
  }

  /** Empty for a host that only a survey knows. */
  default Optional<Known> known() {
    return Optional.empty();
  }

  /**
   * What gpush knows of its own machine without a question.
   *
   * @param address where the other nodes of a gang reach it
   * @param folder where workspaces go: agents elsewhere belong to another GPUSH_HOME
   * @param environment what everything on a node starts from; other hosts have a login shell
   */
  record Known(String address, int cpus, String folder, Map<String, String> environment) {
    public Known {
      environment = Map.copyOf(environment);
    }
  }

  /** The header of an agent there, which may keep what it compiles only on the user's machine. */
  default Json.Obj keepingCompiled(Json.Obj header) {
    return header;
  }

  /** Why no node can be here. */
  default Optional<String> unfit() {
    return Optional.empty();
  }

  /** Where the other hosts reach it, if the configuration says so. */
  default Optional<String> address() {
    return Optional.empty();
  }

  /** What it has where neither nvidia-smi nor rocm-smi can tell. */
  default Optional<GpuRequest> gpus() {
    return Optional.empty();
  }

  /**
   * Asks an agent without a command.
   *
   * @return empty when that did not work; a command finds out why
   */
  default Optional<Json> ask(GangId gang, int node, Json.Obj question) throws IOException {
    return Optional.empty();
  }

  /** A pipe to an agent without a relay, where there is one. */
  default Optional<Pipe> openAgentPipe(GangId gang, int node) {
    return Optional.empty();
  }

  /** Called before the agent of a node is started. */
  default void prepare(NodeInfo node) {}

  /** Whether it is certain, also without a Python there, that no agent of a gang was started. */
  default boolean hasNothingOf(GangId gang) {
    return false;
  }

  /** Removes what {@link #prepare} has made for the nodes of a gang, unless files are in it. */
  default void clean(GangId gang) throws IOException {}

  /** The connection that may need a person. */
  default Optional<Gate> gate() {
    return Optional.empty();
  }

  /** How it is reached, and why so, where there is a choice. */
  default Optional<String> explain() {
    return Optional.empty();
  }
}
