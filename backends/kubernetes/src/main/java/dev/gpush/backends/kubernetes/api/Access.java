package dev.gpush.backends.kubernetes.api;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import io.fabric8.kubernetes.api.model.Cluster;
import io.fabric8.kubernetes.api.model.Context;
import io.fabric8.kubernetes.api.model.NamedCluster;
import io.fabric8.kubernetes.api.model.NamedContext;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.Serialization;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Access to a cluster, found as kubectl finds it: a context of a kubeconfig file, or the service
 * account of the pod that gpush runs in.
 *
 * @param backend the name of the block of the configuration, for failures
 * @param kubeconfig the file; empty: as KUBECONFIG says, else the one in the home folder
 * @param context of that file; empty: its current one
 * @param server where that context led before. If it was renamed, the current one is used, provided
 *     that it leads there
 */
public record Access(
    String backend, Optional<Path> kubeconfig, Optional<String> context, Optional<String> server) {
  private static final Path TOKEN = Path.of(Config.KUBERNETES_SERVICE_ACCOUNT_TOKEN_PATH);

  /**
   * Answers to pings prevent load balancers from closing idle connections; most do after a minute.
   */
  private static final long PING_MILLIS = 20_000;

  private static final int CONNECT_MILLIS = 10_000;

  /** One WebSocket per node, and some requests beside them. */
  private static final int MOST_AT_ONCE = 1024;

  public Access(String backend, Optional<Path> kubeconfig, Optional<String> context) {
    this(backend, kubeconfig, context, Optional.empty());
  }

  /** The same file, for what was made with this context when it led to this server. */
  public Access at(Optional<String> formerContext, String formerServer) {
    return new Access(backend, kubeconfig, formerContext, Optional.of(formerServer));
  }

  static String server(Config config) {
    return config.getMasterUrl().replaceFirst("/+$", "");
  }

  /** The server, for what is said when it does not answer. */
  static String reached(Config config) {
    return server(config)
        + Optional.ofNullable(config.getHttpsProxy())
            .map(proxy -> " through the proxy " + URI.create(proxy).getHost())
            .orElse("");
  }

  /** The state of the files that matter; it changes after a login. */
  String stamp() {
    var stamp = new StringBuilder();
    for (File file : files()) {
      stamp.append(file).append(' ').append(file.lastModified()).append(' ').append(file.length());
    }
    return stamp.toString();
  }

  private List<File> files() {
    return kubeconfig
        .map(path -> List.of(path.toFile()))
        .orElseGet(() -> Config.getKubeconfigFilenames().stream().map(File::new).toList());
  }

  /**
   * Reads the files; may run a login program that they name.
   *
   * @param environment where a proxy may be named
   * @throws GpushException with {@code Unavailable} when there is no access
   */
  Config config(Map<String, String> environment) {
    List<File> there = files().stream().filter(File::isFile).toList();
    if (there.isEmpty() && (kubeconfig.isPresent() || !Files.isReadable(TOKEN))) {
      throw unavailable(
          "there is no " + kubeconfig.map(Path::toString).orElse("kubeconfig file"),
          "kubectl config get-contexts, then kubeconfig: in ~/.gpush/config.yaml");
    }
    Config config;
    try {
      config =
          kubeconfig
              .map(path -> Config.fromKubeconfig(context.orElse(null), path.toFile()))
              .orElseGet(() -> Config.autoConfigure(context.orElse(null)));
      setProxy(config, environment);
    } catch (KubernetesClientException | IllegalArgumentException broken) {
      throw unavailable(
          "the kubeconfig is not readable: " + broken.getMessage(), "kubectl config view");
    }
    requireContext(config);
    config.setWebsocketPingInterval(PING_MILLIS);
    config.setConnectionTimeout(CONNECT_MILLIS);
    config.setMaxConcurrentRequests(MOST_AT_ONCE);
    config.setMaxConcurrentRequestsPerHost(MOST_AT_ONCE);
    // The caller decides which requests may be repeated.
    config.setRequestRetryBackoffLimit(0);
    return config;
  }

  private void setProxy(Config config, Map<String, String> environment) {
    Optional<ClusterProxy> found =
        ClusterProxy.of(URI.create(server(config)), proxyUrl(config), environment);
    String proxy = found.map(this::address).orElse(null);
    config.setHttpProxy(proxy);
    config.setHttpsProxy(proxy);
    config.setNoProxy(new String[0]);
  }

  private String address(ClusterProxy proxy) {
    return proxy
        .address()
        .orElseThrow(
            () -> unavailable(proxy.origin() + " is not the address of a proxy", proxy.remedy()));
  }

  /** Of the first file that has the cluster, as kubectl reads it. */
  private Optional<String> proxyUrl(Config config) {
    Optional<String> cluster =
        Optional.ofNullable(config.getCurrentContext())
            .map(NamedContext::getContext)
            .map(Context::getCluster);
    return cluster.flatMap(
        name ->
            files().stream()
                .filter(File::isFile)
                .flatMap(file -> clusters(file).stream())
                .filter(each -> name.equals(each.getName()))
                .findFirst()
                .map(NamedCluster::getCluster)
                .map(Cluster::getProxyUrl)
                .filter(url -> !url.isBlank()));
  }

  private static List<NamedCluster> clusters(File file) {
    try {
      var content =
          Serialization.unmarshal(
              Files.readString(file.toPath()), io.fabric8.kubernetes.api.model.Config.class);
      return Optional.ofNullable(content.getClusters()).orElse(List.of());
    } catch (IOException vanished) {
      return List.of();
    }
  }

  /** Without a context of that name the library would use the current one. */
  private void requireContext(Config config) {
    if (context.isEmpty()) {
      return;
    }
    List<String> known = config.getContexts().stream().map(each -> each.getName()).toList();
    boolean isRenamed = server.isPresent() && server.get().equals(server(config));
    if (!known.contains(context.get()) && !isRenamed) {
      throw unavailable(
          "there is no context "
              + context.get()
              + (known.isEmpty() ? "" : "; there are " + String.join(", ", known)),
          "kubectl config get-contexts");
    }
  }

  GpushException unavailable(String reason, String remedy) {
    return new GpushException(new BackendFailure.Unavailable(backend, reason, remedy));
  }

  /** "kubectl" with the options for the same cluster. */
  public String kubectl() {
    return "kubectl"
        + kubeconfig.map(path -> " --kubeconfig " + path).orElse("")
        + context.map(name -> " --context " + name).orElse("");
  }
}
