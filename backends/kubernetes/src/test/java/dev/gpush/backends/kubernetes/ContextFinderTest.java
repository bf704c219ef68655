package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.gpush.core.setup.PlaceFinder;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.PlaceSearch;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Contexts whose clusters are servers of this test. */
final class ContextFinderTest {
  /** No test waits so long, unless what it waits for never comes. */
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path home;
  private final Tasks tasks = Tasks.named("test", (_, _) -> {});
  private final StringBuilder contexts = new StringBuilder();
  private final StringBuilder clusters = new StringBuilder();
  private final StringBuilder users = new StringBuilder();
  private HttpServer server;

  @BeforeEach
  void aCluster() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer("/version", "{\"major\":\"1\",\"minor\":\"33\"}");
    server.createContext(
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
        exchange -> {
          String asked =
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8);
          respond(exchange, "{\"status\":{\"allowed\":" + !asked.contains("\"closed\"") + "}}");
        });
    answer(
        "/api/v1/nodes",
        "{\"items\":[{\"status\":{\"allocatable\":{\"cpu\":\"8\",\"nvidia.com/gpu\":\"8\"}}},"
            + "{\"status\":{\"allocatable\":{\"nvidia.com/gpu\":\"8\"}}}]}");
    server.start();
  }

  @AfterEach
  void end() {
    server.stop(0);
    tasks.close();
  }

  private void answer(String path, String body) {
    server.createContext(path, exchange -> respond(exchange, body));
  }

  private static void respond(com.sun.net.httpserver.HttpExchange exchange, String body)
      throws IOException {
    byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
    exchange.getResponseHeaders().add("Content-Type", "application/json");
    exchange.sendResponseHeaders(200, bytes.length);
    exchange.getResponseBody().write(bytes);
    exchange.close();
  }

  private int port() {
    return server.getAddress().getPort();
  }

  private void context(String name, int port, String namespace, String user) {
    context(name, "127.0.0.1:" + port, namespace, user);
  }

  private void context(String name, String server, String namespace, String user) {
    contexts.append(
        "- {name: %s, context: {cluster: %s, user: %s, namespace: %s}}\n"
            .formatted(name, name, name, namespace));
    clusters.append("- {name: %s, cluster: {server: \"http://%s\"}}\n".formatted(name, server));
    users.append("- {name: %s, user: %s}\n".formatted(name, user));
  }

  private List<PlaceFinding> found(String... names) throws Exception {
    return foundWith(Map.of(), names);
  }

  private List<PlaceFinding> foundWith(Map<String, String> environment, String... names)
      throws Exception {
    Files.createDirectories(home.resolve(".kube"));
    Files.writeString(
        home.resolve(".kube/config"),
        "current-context: cw\ncontexts:\n"
            + contexts
            + "clusters:\n"
            + clusters
            + "users:\n"
            + users);
    PlaceFinder finder = new ContextFinder(Clock.system());
    return new PlaceSearch(List.of(finder), LIMIT, LIMIT, Clock.system(), tasks)
        .all(new SetupQuestion(home, home, environment, List.of(names)));
  }

  @Test
  void aContextIsFoundIfAGangMayBeMadeThere() throws Exception {
    context("cw", port(), "ml", "{token: t}");
    context("other", port(), "closed", "{token: t}");

    String place = "namespace ml of http://127.0.0.1:" + port();
    List<PlaceFinding> found = found();

    assertEquals(
        new PlaceFinding.Context(
            "cw", "~/.kube/config", Optional.empty(), true, "ml", place, "16 GPUs, " + place),
        found.getFirst());
    assertTrue(found.get(1) instanceof PlaceFinding.Unusable, found.toString());
  }

  @Test
  void aClusterBehindTheProxyOfTheUserIsFound() throws Exception {
    context("cw", "cluster.invalid:6443", "ml", "{token: t}");

    List<PlaceFinding> found = foundWith(Map.of("http_proxy", "127.0.0.1:" + port()));

    assertTrue(found.getFirst() instanceof PlaceFinding.Context, found.toString());
  }

  @Test
  void ofFortyContextsThatFailTheOneThatWorksIsFound() throws Exception {
    int closed;
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      closed = socket.getLocalPort();
    }
    for (int i = 0; i < 39; i++) {
      context("dead" + i, closed, "ml", "{token: t}");
    }
    context("cw", port(), "ml", "{token: t}");

    List<PlaceFinding> found = found();

    assertEquals(40, found.size());
    assertTrue(found.getLast() instanceof PlaceFinding.Context, found.getLast().toString());
    assertEquals(39, found.stream().filter(it -> it instanceof PlaceFinding.Unasked).count());
  }

  @Test
  void aLoginProgramIsRunOnlyForANamedContext() throws Exception {
    Path ran = home.resolve("ran");
    Path program = home.resolve("kubelogin");
    Files.writeString(
        program,
        "#!/bin/sh\ntouch "
            + ran
            + "\necho '{\"apiVersion\":\"client.authentication.k8s.io/v1\",\"kind\":"
            + "\"ExecCredential\",\"status\":{\"token\":\"t\"}}'\n");
    assertTrue(program.toFile().setExecutable(true));
    context(
        "cw",
        port(),
        "ml",
        "{exec: {apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: \""
            + program
            + "\"}}");

    assertEquals(
        List.of(
            new PlaceFinding.Unasked(
                "cw",
                "~/.kube/config",
                "logs in by kubelogin, which may ask you",
                "gpush init cw")),
        found());
    assertFalse(Files.exists(ran));

    assertTrue(found("cw").getFirst() instanceof PlaceFinding.Context);
    assertTrue(Files.exists(ran));
  }

  @Test
  void aFileThatIsNoKubeconfigIsNamed() throws Exception {
    contexts.append("\t- broken\n");

    var unasked = (PlaceFinding.Unasked) found().getFirst();

    assertEquals("~/.kube/config", unasked.origin());
    assertTrue(unasked.why().startsWith("line 3"), unasked.why());
  }
}
