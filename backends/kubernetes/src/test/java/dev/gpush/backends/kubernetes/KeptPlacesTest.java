package dev.gpush.backends.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.gpush.core.backend.Backend;
import dev.gpush.core.backend.Capabilities.Places;
import dev.gpush.core.backend.Observation;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.agent.AgentImage;
import dev.gpush.testkit.contract.BackendContract;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A kubeconfig with two clusters, of which one has a gang; the user switches between them. */
final class KeptPlacesTest {
  private static final GangId ID = new GangId("0123456789abcdef");
  private static final Gang GANG = new Gang(ID, "k8s", List.of(), "");

  @TempDir private Path folder;
  private final Tasks tasks = Tasks.named("test", (_, _) -> {});
  private final SecureRandom random = new SecureRandom();
  private HttpServer here;
  private HttpServer elsewhere;

  @BeforeEach
  void clusters() throws IOException {
    here = cluster("{\"items\": [{\"metadata\": {\"name\": \"gpush-1\"}}]}");
    elsewhere = cluster("{\"items\": []}");
  }

  private static HttpServer cluster(String jobs) throws IOException {
    var server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    answer(server, "/version", 200, "{\"major\": \"1\", \"minor\": \"33\"}");
    answer(server, "/", 404, "{}");
    for (String namespace : List.of("ml", "default")) {
      boolean isMade = namespace.equals("ml");
      answer(
          server,
          "/apis/batch/v1/namespaces/" + namespace + "/jobs",
          200,
          isMade ? jobs : "{\"items\": []}");
      answer(server, "/api/v1/namespaces/" + namespace + "/pods", 200, "{\"items\": []}");
    }
    server.start();
    return server;
  }

  private static void answer(HttpServer server, String path, int status, String body) {
    server.createContext(
        path,
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(
              exchange.getRequestURI().getPath().equals(path) ? status : 404, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
  }

  @AfterEach
  void end() {
    here.stop(0);
    elsewhere.stop(0);
    tasks.close();
  }

  private static String url(HttpServer server) {
    return "http://127.0.0.1:" + server.getAddress().getPort();
  }

  /**
   * Writes the kubeconfig.
   *
   * @param name of the context whose cluster has the gang
   * @param server where that context leads
   */
  private void contexts(String current, String name, HttpServer server, String namespace)
      throws IOException {
    Files.writeString(
        folder.resolve("config"),
        """
        current-context: %s
        contexts:
        - {name: %s, context: {cluster: one, user: me, namespace: %s}}
        - {name: other, context: {cluster: two, user: me, namespace: ml}}
        clusters:
        - {name: one, cluster: {server: "%s"}}
        - {name: two, cluster: {server: "%s"}}
        users:
        - {name: me, user: {token: t}}
        """
            .formatted(current, name, namespace, url(server), url(elsewhere)));
  }

  private Backend backend() {
    var values = Json.object("kubeconfig", folder.resolve("config").toString());
    return KubernetesBackend.of(
        new BackendConfig("k8s", "kubernetes", values, ""),
        Map.of(),
        new AgentImage(tasks, random),
        tasks,
        Clock.system(),
        random);
  }

  private static Places places(Backend backend) {
    return backend.capabilities().places().orElseThrow();
  }

  /** The backend of a gang that was made in context cw. */
  private Backend made() throws IOException {
    contexts("cw", "cw", here, "ml");
    Backend now = backend();
    Backend kept = places(now).at(places(now).now());
    assertInstanceOf(Observation.Exists.class, kept.observe(GANG));
    return kept;
  }

  @Test
  void aUserWhoSwitchesContextOrNamespaceNoticesNothing() throws Exception {
    Backend kept = made();

    contexts("other", "cw", here, "default");

    assertInstanceOf(Observation.Exists.class, kept.observe(GANG));
    assertInstanceOf(Observation.Gone.class, backend().observe(GANG), "an entry of before");
  }

  @Test
  void aRenamedContextIsStillTheSame() throws Exception {
    Backend kept = made();

    contexts("renamed", "renamed", here, "ml");

    assertInstanceOf(Observation.Exists.class, kept.observe(GANG));
  }

  @Test
  void aContextThatIsRemovedTellsNothing() throws Exception {
    Backend kept = made();

    contexts("other", "renamed", here, "ml");

    Observation.CannotTell unknown =
        assertInstanceOf(Observation.CannotTell.class, kept.observe(GANG));
    assertTrue(unknown.reason().contains("there is no context cw"), unknown::reason);
  }

  @Test
  void anEmptyListOfAnotherServerIsNoProof() throws Exception {
    Backend kept = made();
    String place = places(kept).now();
    kept.observe(GANG);

    contexts("cw", "cw", elsewhere, "ml");
    Backend next = places(backend()).at(place);

    String why =
        "context cw leads to "
            + url(elsewhere)
            + " now, and these nodes were made at "
            + url(here)
            + ", which may be another cluster";
    String remedy = "kubectl config set-cluster CLUSTER --server=" + url(here);
    assertEquals(new Observation.CannotTell(why + "; try " + remedy), next.observe(GANG));
    var failure = new BackendFailure.Unavailable("k8s", why, remedy);
    assertEquals(
        failure,
        assertThrows(GpushException.class, () -> next.renew(GANG, BackendContract.LONG)).failure());
    assertEquals(failure, assertThrows(GpushException.class, () -> next.discover("me")).failure());
    assertInstanceOf(
        BackendFailure.NotReleased.class,
        assertThrows(GpushException.class, () -> next.release(GANG, BackendContract.LIMIT))
            .failure());
    Gang borrowed =
        new Gang(
            ID,
            "k8s",
            List.of(new NodeInfo(0, "train-0", "", List.of(), "", 1, "/w", List.of())),
            "",
            true);
    assertInstanceOf(Observation.CannotTell.class, next.observe(borrowed));
  }

  /** A cluster behind a new load balancer. */
  @Test
  void aGangThatIsFoundIsInItsClusterWhateverTheAddress() throws Exception {
    String place = places(made()).now();
    elsewhere.removeContext("/apis/batch/v1/namespaces/ml/jobs");
    answer(
        elsewhere,
        "/apis/batch/v1/namespaces/ml/jobs",
        200,
        "{\"items\": [{\"metadata\": {\"name\": \"gpush-1\"}}]}");

    contexts("cw", "cw", elsewhere, "ml");
    Backend next = places(backend()).at(place);
    assertInstanceOf(Observation.Exists.class, next.observe(GANG));

    elsewhere.removeContext("/apis/batch/v1/namespaces/ml/jobs");
    answer(elsewhere, "/apis/batch/v1/namespaces/ml/jobs", 200, "{\"items\": []}");
    assertInstanceOf(Observation.Gone.class, next.observe(GANG));
  }
}
