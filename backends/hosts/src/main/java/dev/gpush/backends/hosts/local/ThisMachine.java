package dev.gpush.backends.hosts.local;

import dev.gpush.backends.hosts.rack.Host;
import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.AgentFolder;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The machine that gpush runs on. Commands are local processes; workspaces are in this GPUSH_HOME;
 * agents are asked and linked at their own sockets.
 *
 * @param client the variables that are taken over from a client
 */
public record ThisMachine(LocalHost local, Map<String, String> client) implements Host {
  /** Set, nodes here are linked through relays as all others are: for finding faults there. */
  private static final String RELAY = "GPUSH_RELAY";

  private static final String PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

  public ThisMachine {
    client = Map.copyOf(client);
  }

  /** As the gateway itself sees it. */
  public static ThisMachine of(LocalHost local) {
    return new ThisMachine(local, Map.of());
  }

  @Override
  public String name() {
    return local.name();
  }

  @Override
  public Machine machine() {
    return local.machine(environment());
  }

  @Override
  public Map<String, String> inherited(Map<String, String> variables) {
    return LocalVariables.inherited(variables);
  }

  @Override
  public Host forClient(Map<String, String> variables) {
    return new ThisMachine(local, inherited(variables));
  }

  @Override
  public Optional<Known> known() {
    return Optional.of(new Known("127.0.0.1", local.cpus(), nodes().toString(), environment()));
  }

  @Override
  public Json.Obj keepingCompiled(Json.Obj header) {
    return AgentFolder.keepingCompiled(header, local.environment());
  }

  /** The gateway's own identity and the client's paths over it. */
  private Map<String, String> environment() {
    var variables = new TreeMap<>(local.environment());
    variables.keySet().removeIf(name -> !LocalVariables.isIdentity(name));
    variables.putAll(client);
    variables.putIfAbsent("PATH", PATH);
    return variables;
  }

  @Override
  public Optional<String> unfit() {
    return local.isLinux()
        ? Optional.empty()
        : Optional.of("its nodes need Linux; ssh, slurm and kubernetes work here");
  }

  @Override
  public Optional<Json> ask(GangId gang, int node, Json.Obj question) throws IOException {
    return NodeSocket.of(gang, node).ask(question);
  }

  @Override
  public Optional<Pipe> openAgentPipe(GangId gang, int node) {
    return local.environment().getOrDefault(RELAY, "").isEmpty()
        ? NodeSocket.of(gang, node).connect()
        : Optional.empty();
  }

  /** Where all gangs of this home have their nodes. */
  private Path nodes() {
    return local.home().resolve("nodes");
  }

  private Path folder(GangId gang) {
    return nodes().resolve(gang.text());
  }

  @Override
  public void prepare(NodeInfo node) {
    try {
      Files.createDirectories(nodes());
      Files.createDirectories(folder(node));
    } catch (IOException failed) {
      String reason = failed.getClass().getSimpleName() + " " + failed.getMessage();
      throw new GpushException(new AgentFailure.CannotWrite(node.workspace(), reason), failed);
    }
  }

  private static Path folder(NodeInfo node) {
    return Optional.ofNullable(Path.of(node.workspace()).getParent()).orElseThrow();
  }

  /** A node's folder is made before its agent is started. */
  @Override
  public boolean hasNothingOf(GangId gang) {
    return Files.notExists(folder(gang));
  }

  /** The gang's folder and each node's in it are ours; with somebody's file in them they stay. */
  @Override
  public void clean(GangId gang) throws IOException {
    Path folder = folder(gang);
    if (!Files.isDirectory(folder)) {
      return;
    }
    try (DirectoryStream<Path> folders = Files.newDirectoryStream(folder)) {
      folders.forEach(ThisMachine::removeIfEmpty);
    }
    removeIfEmpty(folder);
  }

  private static void removeIfEmpty(Path path) {
    try {
      if (Files.isDirectory(path)) {
        Files.deleteIfExists(path);
      }
    } catch (IOException notEmpty) {
      // Then it is not ours to remove.
    }
  }
}
