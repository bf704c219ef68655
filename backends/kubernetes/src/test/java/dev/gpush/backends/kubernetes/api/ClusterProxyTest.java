package dev.gpush.backends.kubernetes.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.failure.GpushException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class ClusterProxyTest {
  private static final String CLUSTER = "https://cluster.invalid:6443";

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          HTTPS_PROXY=http://p:1                   | http://p:1
          https_proxy=http://p:1                   | http://p:1
          HTTPS_PROXY=http://p:1 https_proxy=q:1   | http://p:1
          HTTPS_PROXY= https_proxy=p:1             | http://p:1
          HTTPS_PROXY=p                            | http://p:80
          HTTPS_PROXY=HTTP://p                     | http://p:80
          HTTPS_PROXY=http://me:se%20cret@p:1/     | http://me:se%20cret@p:1
          HTTPS_PROXY=socks5h://p                  | socks5://p:1080
          HTTPS_PROXY=http://[::1]:8               | http://[::1]:8
          HTTP_PROXY=http://p:1                    |
          ALL_PROXY=http://p:1                     |
          """)
  void isReadFromTheEnvironment(String environment, String address) {
    assertEquals(
        Optional.ofNullable(address),
        ClusterProxy.of(URI.create(CLUSTER), Optional.empty(), variables(environment))
            .flatMap(ClusterProxy::address));
  }

  @Test
  void eachSchemeOfAServerHasAVariableOfItsOwn() {
    var environment = Map.of("HTTP_PROXY", "one:1", "HTTPS_PROXY", "two:2");

    assertEquals("one:1", text("http://cluster.invalid", environment));
    assertEquals("two:2", text("https://cluster.invalid", environment));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          https://k.lab.edu:6443     | lab.edu               | true
          https://lab.edu            | lab.edu               | true
          https://notlab.edu         | lab.edu               | false
          https://K.Lab.edu          | x, *.LAB.edu          | true
          https://lab.edu            | .lab.edu              | false
          https://k.lab.edu          | .lab.edu              | true
          https://k.lab.edu:6443     | lab.edu:6443          | true
          https://k.lab.edu:6443     | lab.edu:443           | false
          https://lab.edu            | lab.edu:443           | true
          https://k.lab.edu          | *                     | true
          https://k.lab.edu          | ,                     | false
          https://10.2.3.4:6443      | 10.0.0.0/8            | true
          https://11.2.3.4:6443      | 10.0.0.0/8            | false
          https://10.2.3.4:6443      | 10.2.3.4              | true
          https://10.2.3.4:6443      | 10.2.3.4:443          | false
          https://10.2.3.4:6443      | 10.2.3.0/33           | false
          https://10.2.3.4:6443      | 10.2.3.0/x            | false
          https://[fd00::7]:6443     | fd00::/8              | true
          https://[fd00::7]:6443     | fd00::7               | true
          https://[fd00::7]:6443     | [fd00::7]:6443        | true
          https://[fd00::7]:6443     | 10.0.0.0/8            | false
          https://k.lab.edu          | 10.0.0.0/8            | false
          https://localhost:6443     | x                     | true
          https://127.0.0.2:6443     | x                     | true
          https://[::1]:6443         | x                     | true
          """)
  void isNotUsedForServersOfNoProxy(String server, String noProxy, boolean isDirect) {
    var environment = Map.of("HTTPS_PROXY", "http://p:1", "no_proxy", noProxy);

    Optional<ClusterProxy> found =
        ClusterProxy.of(URI.create(server), Optional.empty(), environment);

    assertEquals(isDirect, found.isEmpty());
  }

  @Test
  void theOneOfTheKubeconfigIsTakenBeforeTheEnvironment() {
    var environment = Map.of("HTTPS_PROXY", "http://p:1", "NO_PROXY", "*");

    Optional<ClusterProxy> found =
        ClusterProxy.of(URI.create(CLUSTER), Optional.of("http://q:2"), environment);

    assertEquals(Optional.of("http://q:2"), found.flatMap(ClusterProxy::address));
  }

  @Test
  void aKubeconfigThatIsNamedUsesTheOneOfTheEnvironment() throws Exception {
    assertEquals(
        "CONNECT cluster.invalid:6443 HTTP/1.1", asked("", proxy -> Map.of("HTTPS_PROXY", proxy)));
  }

  @Test
  void theOneOfTheKubeconfigIsUsedForHttps() throws Exception {
    assertEquals(
        "CONNECT cluster.invalid:6443 HTTP/1.1",
        asked(", proxy-url: \"%s\"", _ -> Map.of("HTTPS_PROXY", "http://127.0.0.1:1")));
  }

  @Test
  void whatIsNoAddressIsRefusedAndNotShown() throws Exception {
    kubeconfig("");
    var access = new Access("k8s", Optional.of(folder.resolve("config")), Optional.empty());

    var refused =
        assertThrows(
            GpushException.class,
            () -> access.config(Map.of("https_proxy", "http://me:se cret@p:1")));

    String said = refused.failure().toString();
    assertEquals(
        "Unavailable[backend=k8s, reason=https_proxy is not the address of a proxy,"
            + " remedy=export https_proxy=http://HOST:PORT; gpush gateway stop]",
        said);
    assertFalse(said.contains("cret"));
  }

  private interface Variables {
    Map<String, String> with(String proxy);
  }

  /** The first line that a proxy gets, which then refuses. */
  private String asked(String more, Variables variables) throws Exception {
    try (var proxy = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String address = "http://127.0.0.1:" + proxy.getLocalPort();
      kubeconfig(more.formatted(address));
      var line = new CompletableFuture<String>();
      Thread.ofVirtual().start(() -> refuse(proxy, line));
      var api =
          new KubeApi(
              new Access("k8s", Optional.of(folder.resolve("config")), Optional.empty()),
              variables.with(address));
      var refused = assertThrows(Unanswered.class, () -> api.get("/version"));
      assertTrue(refused.words().contains(" through the proxy 127.0.0.1 "), refused.words());
      return line.get(1, TimeUnit.MINUTES);
    }
  }

  private static void refuse(ServerSocket proxy, CompletableFuture<String> line) {
    try (var socket = proxy.accept();
        var in =
            new BufferedReader(
                new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII))) {
      line.complete(in.readLine());
      socket
          .getOutputStream()
          .write(
              "HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    } catch (IOException closed) {
      line.completeExceptionally(closed);
    }
  }

  private void kubeconfig(String more) throws IOException {
    Files.writeString(
        folder.resolve("config"),
        """
        current-context: cw
        contexts: [{name: cw, context: {cluster: one, user: me}}]
        clusters: [{name: one, cluster: {server: "%s"%s}}]
        users: [{name: me, user: {token: t}}]
        """
            .formatted(CLUSTER, more));
  }

  private static String text(String server, Map<String, String> environment) {
    return ClusterProxy.of(URI.create(server), Optional.empty(), environment)
        .map(ClusterProxy::text)
        .orElse("");
  }

  private static Map<String, String> variables(String text) {
    var variables = new HashMap<String, String>();
    for (String each : text.split(" +", -1)) {
      variables.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    return variables;
  }
}
