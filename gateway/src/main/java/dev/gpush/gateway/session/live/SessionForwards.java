package dev.gpush.gateway.session.live;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.session.PortForward;
import dev.gpush.core.session.PortTarget;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.Link;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The forwarded ports of one session. A file keeps them, so that a port stays the same when the
 * gateway starts again. Thread-safe.
 */
public final class SessionForwards implements AutoCloseable {
  /** Above the ports that need rights; 80 on a node is 8080 here. */
  private static final int FIRST_FREE = 1024;

  private static final int LIFTED = 8000;

  /** How many ports after the wanted one are tried before any free one is taken. */
  private static final int NEARBY = 50;

  private static final int LAST_PORT = 65_535;
  private static final String FILE = "forwards";

  private final Nodes nodes;
  private final Path folder;
  private final Clock clock;
  private final Tasks tasks;

  // guarded by this
  private final List<PortForward> wanted;
  private final Map<PortForward, ForwardedPort> open = new LinkedHashMap<>();

  /**
   * The nodes of the session.
   *
   * @param areHere they share this machine's loopback, so that the same number would be taken from
   *     the program that it is for
   */
  public record Nodes(String session, int count, boolean areHere, IntFunction<Link> link) {}

  /**
   * @param folder of the session's files; made when the first port is forwarded
   */
  public SessionForwards(Nodes nodes, Path folder, Clock clock, Tasks tasks) {
    this.nodes = nodes;
    this.folder = folder;
    this.clock = clock;
    this.tasks = tasks;
    this.wanted = new ArrayList<>(read(folder.resolve(FILE)));
  }

  /**
   * Listens on the ports of the file, and on those of the configuration that are new. One that is
   * taken is reported by {@link #list}.
   */
  public synchronized void resume(List<PortTarget> configured) {
    wanted.forEach(this::listenAgain);
    for (PortTarget target : configured) {
      try {
        if (!nodes(target).stream().allMatch(node -> find(node, target.port()).isPresent())) {
          add(target, Optional.empty());
        }
      } catch (GpushException impossible) {
        // No such node, or no port is free here: the session is of use without it.
      }
    }
  }

  /** With the reason where a port is not listened on. */
  public synchronized List<PortForward> list() {
    return wanted.stream()
        .map(
            each ->
                open.containsKey(each)
                    ? each
                    : new PortForward(
                        each.node(), each.port(), each.local(), Optional.of("the port is taken")))
        .toList();
  }

  /**
   * Forwards it, or returns what forwards it already.
   *
   * @param local the port here; empty: a free one, the same number if possible
   */
  public synchronized List<PortForward> add(PortTarget target, Optional<Integer> local) {
    var added = new ArrayList<PortForward>();
    for (int node : nodes(target)) {
      if (node >= nodes.count()) {
        throw new GpushException(
            new SessionFailure.UnknownNode(nodes.session(), node, nodes.count()));
      }
      Optional<PortForward> known =
          find(node, target.port())
              .filter(each -> local.map(port -> port == each.local()).orElse(true));
      known.filter(each -> !open.containsKey(each)).ifPresent(this::listenAgain);
      added.add(
          known.filter(open::containsKey).orElseGet(() -> add(node, target.port(), local, known)));
    }
    return added;
  }

  /**
   * @param former whose port another program has taken
   */
  private PortForward add(
      int node, int port, Optional<Integer> local, Optional<PortForward> former) {
    ForwardedPort listener = listen(node, port, local);
    var added = new PortForward(node, port, listener.local());
    former.ifPresent(wanted::remove);
    wanted.add(added);
    open.put(added, listener);
    write();
    return added;
  }

  /** Ends the forward of this port of this machine; empty when there is none. */
  public synchronized Optional<PortForward> remove(int local) {
    Optional<PortForward> known = wanted.stream().filter(each -> each.local() == local).findFirst();
    known.ifPresent(
        each -> {
          wanted.remove(each);
          Optional.ofNullable(open.remove(each)).ifPresent(ForwardedPort::close);
          write();
        });
    return known;
  }

  private List<Integer> nodes(PortTarget target) {
    return target
        .node()
        .map(List::of)
        .orElseGet(() -> IntStream.range(0, nodes.count()).boxed().toList());
  }

  private Optional<PortForward> find(int node, int port) {
    return wanted.stream().filter(each -> each.node() == node && each.port() == port).findFirst();
  }

  private void listenAgain(PortForward known) {
    try {
      open.put(known, bind(known.local(), known.node(), known.port()));
    } catch (IOException taken) {
      // list() says so.
    }
  }

  private ForwardedPort listen(int node, int port, Optional<Integer> local) {
    try {
      return local.isPresent() ? bind(local.get(), node, port) : near(node, port);
    } catch (IOException taken) {
      throw new GpushException(new SessionFailure.PortTaken(local.orElse(port)), taken);
    }
  }

  /** The same number or one nearby, which people can remember; else any. */
  private ForwardedPort near(int node, int port) throws IOException {
    int lifted = port < FIRST_FREE ? port + LIFTED : port;
    int first = nodes.areHere() ? lifted + 1 : lifted;
    for (int local = first; local <= Math.min(first + NEARBY, LAST_PORT); local++) {
      try {
        return bind(local, node, port);
      } catch (IOException taken) {
        // The next one may be free.
      }
    }
    return bind(0, node, port);
  }

  private ForwardedPort bind(int local, int node, int port) throws IOException {
    return new ForwardedPort(
        ForwardedPort.bind(local),
        port,
        ForwardedPort.CONNECTIONS,
        () -> nodes.link().apply(node),
        clock,
        tasks);
  }

  private static List<PortForward> read(Path file) {
    try {
      return Json.parse(Files.readString(file)).items().stream()
          .map(SessionForwards::forward)
          .toList();
    } catch (IOException | JsonSyntaxException none) {
      // There is none yet, or it is damaged; the ports can be forwarded again.
      return List.of();
    }
  }

  private static PortForward forward(Json json) {
    return new PortForward(
        json.integer("node").orElse(0),
        json.integer("port").orElse(0),
        json.integer("local").orElse(0));
  }

  /** A forward works even if the file cannot be written; the next gateway does not know it then. */
  private void write() {
    try {
      WholeFile.makeFolder(folder);
      WholeFile.write(
          folder.resolve(FILE),
          Json.array(wanted.stream().map(PortForward::json).toList()).write(),
          WholeFile.PRIVATE);
    } catch (IOException unwritten) {
      // As the method's comment says.
    }
  }

  @Override
  public synchronized void close() {
    open.values().forEach(ForwardedPort::close);
    open.clear();
  }
}
