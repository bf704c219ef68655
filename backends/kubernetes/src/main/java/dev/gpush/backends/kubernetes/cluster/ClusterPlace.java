package dev.gpush.backends.kubernetes.cluster;

import dev.gpush.core.json.Json;
import java.util.Optional;

/**
 * A namespace of a cluster as it is kept with a gang, because a kubeconfig may lead to another one
 * later.
 *
 * @param context of the kubeconfig; empty for the service account of a pod
 * @param server its address; not always the same for one cluster, but nothing better may be read by
 *     all users
 */
public record ClusterPlace(Optional<String> context, String namespace, String server) {
  public String text() {
    return Json.object("context", context, "namespace", namespace, "server", server).write();
  }

  /** Reads what {@link #text} wrote. */
  public static ClusterPlace parse(String text) {
    Json json = Json.parse(text);
    return new ClusterPlace(
        json.text("context"), json.text("namespace").orElse(""), json.text("server").orElse(""));
  }
}
