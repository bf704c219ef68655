package dev.gpush.backends.kubernetes;

import dev.gpush.backends.kubernetes.KubeconfigFile.KubeContext;
import dev.gpush.backends.kubernetes.KubeconfigFile.Login;
import dev.gpush.backends.kubernetes.api.Access;
import dev.gpush.backends.kubernetes.api.ApiRefusal;
import dev.gpush.backends.kubernetes.api.KubeApi;
import dev.gpush.backends.kubernetes.cluster.KubernetesSettings;
import dev.gpush.backends.kubernetes.cluster.Quantity;
import dev.gpush.backends.kubernetes.pods.Namespace;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.backends.remote.Unanswered;
import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinder;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.task.Clock;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Finds contexts of the user's kubeconfig files in whose namespace a gang may be made. A login
 * program, which may ask the user and may hang, is run only for a context that the user named.
 */
public final class ContextFinder implements PlaceFinder {
  private static final Set<String> RESOURCES =
      Set.of("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu");

  private final Clock clock;

  public ContextFinder(Clock clock) {
    this.clock = clock;
  }

  @Override
  public String kind() {
    return "contexts";
  }

  @Override
  public List<PlaceCheck> checks(SetupQuestion question) {
    Path usual = question.home().resolve(".kube/config");
    var checks = new ArrayList<PlaceCheck>();
    for (Path path : files(question, usual)) {
      KubeconfigFile file = KubeconfigFile.read(path);
      String origin = question.shown(path);
      file.problem()
          .ifPresent(
              why ->
                  checks.add(PlaceCheck.unasked("kubeconfig", origin, why, "kubectl config view")));
      for (KubeContext context : file.contexts()) {
        if (!question.isNamed() || question.names().contains(context.name())) {
          Optional<Path> named = path.equals(usual) ? Optional.empty() : Optional.of(path);
          checks.add(check(context, path, named, origin, question));
        }
      }
    }
    return checks;
  }

  private static List<Path> files(SetupQuestion question, Path usual) {
    String named = question.environment().getOrDefault("KUBECONFIG", "");
    var files = new ArrayList<Path>();
    for (String path : (named.isEmpty() ? usual.toString() : named).split(":", -1)) {
      try {
        Path file = question.folder().resolve(path);
        if (!path.isEmpty() && Files.isRegularFile(file) && !files.contains(file)) {
          files.add(file);
        }
      } catch (InvalidPathException noPath) {
        // Nothing is there.
      }
    }
    return files;
  }

  private PlaceCheck check(
      KubeContext context, Path file, Optional<Path> named, String origin, SetupQuestion question) {
    String name = context.name();
    return switch (context.login()) {
      case Login.Elsewhere _ ->
          PlaceCheck.unasked(
              name,
              origin,
              "has its cluster or user in another file",
              "kubectl config view --flatten --minify --context " + name);
      case Login.Program(var command) when !question.isNamed() ->
          PlaceCheck.unasked(
              name,
              origin,
              "logs in by " + ClusterText.clean(base(command)) + ", which may ask you",
              "gpush init " + name);
      case Login.Program _, Login.Silent _ ->
          new PlaceCheck(
              name, origin, _ -> look(context, file, named, origin, question.environment()));
    };
  }

  private static String base(String command) {
    return command.substring(command.lastIndexOf('/') + 1);
  }

  private PlaceFinding look(
      KubeContext context,
      Path file,
      Optional<Path> named,
      String origin,
      Map<String, String> environment)
      throws InterruptedException {
    String name = context.name();
    var block =
        new BackendConfig(
            name,
            "kubernetes",
            Json.object("context", name, "kubeconfig", file.toString()),
            origin);
    KubernetesSettings settings = KubernetesSettings.of(block);
    var api = new KubeApi(settings.access(), environment);
    var place = new Namespace(name, settings, api, clock);
    try {
      List<String> missing = new AccessCheck(place).missingRights();
      if (!missing.isEmpty()) {
        return new PlaceFinding.Unusable(
            name, origin, "you may not " + missing.getFirst() + " in " + place.namespace());
      }
      String server = place.api().server();
      String where = "namespace " + place.namespace() + " of " + ClusterText.clean(server);
      return new PlaceFinding.Context(
          name, origin, named, context.isCurrent(), place.namespace(), where, gpus(place) + where);
    } catch (Unanswered silent) {
      return new PlaceFinding.Unasked(
          name,
          origin,
          ClusterText.clean(silent.words()),
          new Access(name, named, Optional.of(name)).kubectl() + " get nodes");
    }
  }

  /** How many GPUs the nodes have, where the user may list them. */
  private static String gpus(Namespace place) throws InterruptedException {
    try {
      long count =
          place.api().get("/api/v1/nodes?limit=500").items("items").stream()
              .map(node -> node.object("status").object("allocatable"))
              .flatMap(there -> RESOURCES.stream().flatMap(kind -> there.text(kind).stream()))
              .mapToLong(text -> Quantity.whole(text).orElse(0L))
              .sum();
      return count == 0 ? "no GPUs seen, " : count + " GPUs, ";
    } catch (ApiRefusal | Unanswered unknown) {
      return "";
    }
  }
}
