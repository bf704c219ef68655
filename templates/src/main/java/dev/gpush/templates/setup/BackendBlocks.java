package dev.gpush.templates.setup;

import dev.gpush.core.config.BackendConfig;
import dev.gpush.core.json.Json;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupProposal.Found;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.text.HostRange;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The backends that findings come to: those that the configuration has, and blocks for the others.
 * A cluster, a namespace and a machine is one backend, by however many names it was found.
 */
final class BackendBlocks {
  private static final int MOST_NAME = 32;

  private static final int MOST_HOSTS = 1024;

  private static final Pattern PLAIN =
      Pattern.compile("[A-Za-z][A-Za-z0-9_./-]*(?::[A-Za-z0-9_./-]+)*");

  /** What some reader of YAML takes for something else than a text. */
  private static final Set<String> NO_TEXT =
      Set.of("true", "false", "yes", "no", "on", "off", "null", "y", "n");

  private final List<BackendConfig> existing;
  private final Set<String> names = new TreeSet<>();
  private final Map<String, String> backendOf = new HashMap<>();
  private final List<Found> found = new ArrayList<>();
  private final List<Block> blocks = new ArrayList<>();

  /**
   * What hosts of one backend have in common.
   *
   * @param gpus their kinds, without numbers: a host may have lost one
   */
  private record Rack(String name, String gpus) {}

  /**
   * A backend to be.
   *
   * @param lines its YAML, the name in the first column
   */
  record Block(String name, List<String> lines) {
    Block {
      lines = List.copyOf(lines);
    }
  }

  private BackendBlocks(List<BackendConfig> existing) {
    this.existing = existing;
    existing.forEach(block -> names.add(block.name()));
  }

  static BackendBlocks of(List<PlaceFinding> findings, List<BackendConfig> existing) {
    var blocks = new BackendBlocks(existing);
    // What the configuration has first: other names of the same place are not new then.
    List<PlaceFinding> unknown = findings.stream().filter(it -> !blocks.isKnown(it)).toList();
    var racks = new LinkedHashMap<Rack, List<PlaceFinding.GpuHost>>();
    var aliases = new ArrayList<PlaceFinding>();
    for (PlaceFinding finding : unknown) {
      String identity = identity(finding);
      switch (finding) {
        case PlaceFinding.Here _, PlaceFinding.Unusable _, PlaceFinding.Unasked _ -> {}
        case PlaceFinding it when blocks.backendOf.containsKey(identity) -> aliases.add(it);
        case PlaceFinding.Login login -> blocks.login(login);
        case PlaceFinding.Context context -> blocks.context(context);
        case PlaceFinding.GpuHost host -> {
          blocks.backendOf.put(identity, "");
          racks.computeIfAbsent(rackOf(host), _ -> new ArrayList<>()).add(host);
        }
      }
    }
    racks.forEach(blocks::rack);
    for (PlaceFinding alias : aliases) {
      String backend = blocks.backendOf.getOrDefault(identity(alias), "");
      boolean isNew = existing.stream().noneMatch(block -> block.name().equals(backend));
      blocks.found.add(shown(alias, backend, isNew));
    }
    return blocks;
  }

  List<Found> found() {
    return List.copyOf(found);
  }

  List<Block> blocks() {
    return List.copyOf(blocks);
  }

  /** What two names of one place have in common. */
  private static String identity(PlaceFinding finding) {
    return switch (finding) {
      case PlaceFinding.Login login when !login.cluster().isEmpty() ->
          // Many are named "cluster"; they differ in their partitions.
          "slurm " + login.cluster() + " " + login.partitions();
      case PlaceFinding.GpuHost host -> "host " + host.address();
      case PlaceFinding.Context context -> "kubernetes " + context.place();
      case PlaceFinding.Login _,
          PlaceFinding.Here _,
          PlaceFinding.Unusable _,
          PlaceFinding.Unasked _ ->
          "name " + finding.name();
    };
  }

  private boolean isKnown(PlaceFinding finding) {
    if (finding instanceof PlaceFinding.Here(var name, var origin, var what)) {
      found.add(new Found(name, "local", what, origin, "local", false));
      return true;
    }
    Optional<String> backend =
        existing.stream().filter(block -> has(block, finding)).map(BackendConfig::name).findFirst();
    backend.ifPresent(
        name -> {
          backendOf.put(identity(finding), name);
          found.add(shown(finding, name, false));
        });
    return backend.isPresent();
  }

  private static boolean has(BackendConfig block, PlaceFinding finding) {
    Json.Obj values = block.values();
    return switch (finding) {
      case PlaceFinding.Login login ->
          block.kind().equals("slurm")
              && values
                  .text("login")
                  .filter(written -> isSame(written, login.name(), login.address()))
                  .isPresent();
      case PlaceFinding.Context context ->
          block.kind().equals("kubernetes")
              && values.text("context").map(context.name()::equals).orElse(context.isCurrent())
              && values
                  .text("kubeconfig")
                  .map(Path::of)
                  .map(file -> isFileOf(file, context))
                  .orElse(true);
      case PlaceFinding.GpuHost host ->
          block.kind().equals("ssh")
              && values.items("hosts").stream()
                  .flatMap(item -> item.text("host").stream())
                  .flatMap(name -> expanded(name).stream())
                  .anyMatch(written -> isSame(written, host.name(), host.address()));
      case PlaceFinding.Here _, PlaceFinding.Unusable _, PlaceFinding.Unasked _ -> false;
    };
  }

  private static boolean isFileOf(Path kubeconfig, PlaceFinding.Context context) {
    return context.kubeconfig().map(kubeconfig::equals).orElse(kubeconfig.endsWith(".kube/config"));
  }

  /** Whether the configuration's words are a host's name, or where ssh finds it. */
  private static boolean isSame(String written, String name, String address) {
    String host = withoutUser(written);
    String place = host.matches(".*:[0-9]+") ? host : host + ":22";
    return bare(written).equals(bare(name)) || place.equals(withoutUser(address));
  }

  private static String withoutUser(String host) {
    return host.replaceFirst("^.*@", "");
  }

  private static List<String> expanded(String name) {
    try {
      return HostRange.expand(name, MOST_HOSTS);
    } catch (IllegalArgumentException wrong) {
      // The backend says so when it is used.
      return List.of(name);
    }
  }

  /** Without user and port. */
  private static String bare(String host) {
    return withoutUser(host).replaceFirst(":[0-9]+$", "");
  }

  private static Found shown(PlaceFinding finding, String backend, boolean isNew) {
    return switch (finding) {
      case PlaceFinding.Login login ->
          new Found(login.name(), "slurm", about(login), login.origin(), backend, isNew);
      case PlaceFinding.GpuHost host ->
          new Found(host.name(), "ssh", host.gpus(), host.origin(), backend, isNew);
      case PlaceFinding.Context context ->
          new Found(context.name(), "kubernetes", context.what(), context.origin(), backend, isNew);
      case PlaceFinding.Here _, PlaceFinding.Unusable _, PlaceFinding.Unasked _ ->
          throw new IllegalArgumentException("no backend: " + finding);
    };
  }

  private static String about(PlaceFinding.Login login) {
    return "a Slurm login" + (login.cluster().isEmpty() ? "" : " of " + login.cluster());
  }

  private void login(PlaceFinding.Login login) {
    String name = unique(login.name());
    var lines = new ArrayList<String>();
    lines.add(name + ":" + comment(about(login) + ", " + login.origin()));
    lines.add("  kind: slurm");
    lines.add("  login: " + word(login.name()));
    if (login.partitions().size() > 1) {
      lines.add(
          "  # partition: NAME"
              + comment("of " + String.join(", ", login.partitions()) + "; none: the default"));
    }
    lines.add("  # account: NAME" + comment("if sbatch asks for one"));
    add(login, name, lines);
  }

  private void context(PlaceFinding.Context context) {
    // Names as EKS, kubeadm and GKE write them end with the cluster's own.
    String name = unique(context.name().replaceFirst("^(?:.*[/@]|gke_.*_)", ""));
    var lines = new ArrayList<String>();
    lines.add(name + ":" + comment(context.what() + ", " + context.origin()));
    lines.add("  kind: kubernetes");
    lines.add("  context: " + word(context.name()));
    context.kubeconfig().ifPresent(file -> lines.add("  kubeconfig: " + word(file.toString())));
    lines.add("  namespace: " + word(context.namespace()));
    lines.add(
        "  image: \"python:3.13-slim\"" + comment("yours; image: in gpush.yaml counts first"));
    add(context, name, lines);
  }

  private void rack(Rack rack, List<PlaceFinding.GpuHost> hosts) {
    boolean isAlone = hosts.size() == 1 && rack.name().length() == 1;
    String name = unique(isAlone ? bare(hosts.getFirst().name()) : rack.name());
    String all = hosts.stream().map(host -> word(host.name())).collect(Collectors.joining(", "));
    String gpus =
        hosts.stream()
            .map(PlaceFinding.GpuHost::gpus)
            .distinct()
            .collect(Collectors.joining(" or "));
    var lines = new ArrayList<String>();
    lines.add(
        name
            + ":"
            + comment(gpus + (hosts.size() > 1 ? " each" : "") + ", " + hosts.getFirst().origin()));
    lines.add("  kind: ssh");
    lines.add("  hosts: [" + all + "]");
    lines.add("  # scratch: /PATH" + comment("a fast disk of the hosts; none: ~/gpush"));
    blocks.add(new Block(name, lines));
    for (PlaceFinding.GpuHost host : hosts) {
      backendOf.put(identity(host), name);
      found.add(shown(host, name, true));
    }
  }

  private void add(PlaceFinding finding, String name, List<String> lines) {
    backendOf.put(identity(finding), name);
    blocks.add(new Block(name, lines));
    found.add(shown(finding, name, true));
  }

  /** Machines with the same GPUs whose names differ in their numbers alone belong together. */
  private static Rack rackOf(PlaceFinding.GpuHost host) {
    return new Rack(group(host), host.gpus().replaceAll("[0-9]+ × ", ""));
  }

  private static String group(PlaceFinding.GpuHost host) {
    String name = bare(host.name());
    return host.group()
        .orElseGet(
            () ->
                name.matches("[0-9.]+")
                    ? "rack-" + name.replaceFirst("\\.[0-9]+$", "")
                    : name.replaceAll("[._-]?[0-9]+(?=\\.|$)", ""));
  }

  /** As the name of a backend, and as none that there is. */
  private String unique(String text) {
    String plain =
        text.toLowerCase(Locale.ROOT).replaceAll("[^a-z0-9]+", "-").replaceAll("^[^a-z]+|-+$", "");
    String base =
        plain.isEmpty() ? "gpus" : plain.substring(0, Math.min(plain.length(), MOST_NAME - 4));
    String name = base;
    for (int i = 2; !names.add(name); i++) {
      name = base + i;
    }
    return name;
  }

  private static String comment(String text) {
    return "   # " + CleanText.line(text);
  }

  static String word(String text) {
    return PLAIN.matcher(text).matches() && !NO_TEXT.contains(text.toLowerCase(Locale.ROOT))
        ? text
        : Json.of(text).write();
  }
}
