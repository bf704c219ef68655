package dev.gpush.launch.fabric.rule;

import dev.gpush.core.fabric.NodeSet;
import dev.gpush.launch.fabric.gang.NodeFabric;
import dev.gpush.launch.fabric.gang.RecipeMatch;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/** NCCL loads a libnccl-net.so that the linker finds: one that must be there, or must not. */
public final class PluginRule {
  private static final String VARIABLE = "NCCL_NET_PLUGIN";

  /** What NCCL and RCCL open where the variable names no other. */
  private static final Pattern BY_ITSELF = Pattern.compile(".*/lib[nr]ccl-net\\.so");

  /** Libraries that are for something else than the network. */
  private static final Pattern OTHER =
      Pattern.compile(".*[-_](tuner|profiler|env)([-_][^/]*)?\\.so");

  /** NVIDIA's own, which its images have: right for InfiniBand. */
  private static final Pattern OF_NVIDIA = Pattern.compile(".*/nccl[-_]rdma[-_]sharp[^/]*/.*");

  private PluginRule() {}

  public static void write(GangView view, Draft draft) {
    if (view.gang().isOneNode() || !view.gang().mayUseNccl()) {
      return;
    }
    Optional<RecipeMatch> needs =
        view.recipes().stream().filter(match -> match.recipe().plugin()).findFirst();
    if (needs.isPresent()) {
      missing(view, draft, needs.get());
    } else {
      stray(view, draft);
    }
  }

  private static void missing(GangView view, Draft draft, RecipeMatch match) {
    NodeSet without =
        view.gang()
            .where(
                node ->
                    node.facts()
                        .provider()
                        .plugins()
                        .map(list -> list.stream().allMatch(file -> matches(OTHER, file)))
                        .orElse(false));
    if (without.isEmpty() || view.choosesTcp()) {
      return;
    }
    NodeFabric first = view.gang().node(without.numbers().getFirst());
    List<String> hidden = first.facts().provider().hiddenPlugins();
    String what =
        without.words()
            + ": NCCL's network plugin for "
            + match.recipe().fabric()
            + (hidden.isEmpty()
                ? " is missing (libnccl-net*.so)"
                : " is in " + hidden.getFirst() + ", where the linker does not look");
    String remedy =
        hidden.isEmpty()
            ? "install the provider's plugin in the image"
            : "add its folder to LD_LIBRARY_PATH";
    if (without.count() < view.gang().size()) {
      draft.refuse(
          "plugin-missing",
          without,
          what,
          "some nodes would use TCP, and the gang would hang",
          remedy);
    } else {
      String cost = "NCCL uses TCP, 10 to 100 times slower, or stops where NCCL_NET names it";
      draft.warn("plugin-missing", without, what, cost, remedy);
    }
  }

  private static void stray(GangView view, Draft draft) {
    NodeSet with =
        view.gang()
            .where(
                node ->
                    loaded(node).isPresent() && draft.decided(VARIABLE, node.index()).isEmpty());
    if (with.isEmpty()) {
      return;
    }
    boolean isOfNvidia =
        view.gang().nodes().stream()
            .allMatch(
                node ->
                    loaded(node).filter(file -> matches(OF_NVIDIA, file)).isPresent()
                        && view.rails(node).layer().equals("InfiniBand"));
    if (isOfNvidia) {
      return;
    }
    String file = loaded(view.gang().node(with.numbers().getFirst())).orElseThrow();
    String what = with.words() + ": NCCL will load " + file + ", and nothing here needs a plugin";
    boolean isEverywhere = with.count() == view.gang().size();
    draft.warn(
        "stray-plugin",
        with,
        isEverywhere ? what : what + "; the other nodes have none",
        isEverywhere
            ? "a plugin made for another network fails in odd ways, or is slow"
            : "nodes with the plugin and nodes without it may not find each other",
        "switch it off: " + VARIABLE + "=none before the command");
  }

  private static Optional<String> loaded(NodeFabric node) {
    return node.facts().provider().plugins().orElse(List.of()).stream()
        .filter(file -> matches(BY_ITSELF, file))
        .findFirst();
  }

  private static boolean matches(Pattern pattern, String file) {
    return pattern.matcher(file).matches();
  }
}
