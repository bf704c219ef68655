package dev.gpush.launch.fabric.gang;

import dev.gpush.core.fabric.Authority;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.launch.fabric.facts.SiteFacts;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * The variables that users and sites set, which gpush leaves as they are. Of one that several set,
 * the process's environment counts before files, as in NCCL.
 */
public final class GivenVariables {
  /** What has to do with the network; a user's other variables are none of the plan's business. */
  private static final Pattern FAMILY =
      Pattern.compile(
          "(NCCL|RCCL|TORCH_NCCL|TORCH_FR|GLOO|UCX|FI|RDMAV|OMPI_MCA)_.*"
              + "|CUDA_(LAUNCH_BLOCKING|DEVICE_ORDER|VISIBLE_DEVICES)");

  /** Images of NVIDIA say with it which NCCL they have; NCCL does not read it. */
  private static final String VERSION = "NCCL_VERSION";

  private final Map<Integer, Map<String, Given>> byNode;

  private GivenVariables(Map<Integer, Map<String, Given>> byNode) {
    this.byNode = byNode;
  }

  /**
   * One variable on one node.
   *
   * @param origin the file, with the line where it is known
   */
  public record Given(String name, String value, String origin, Authority authority) {
    /** {@code NCCL_ALGO=Ring (gpush.yaml:4)}. */
    public String words() {
      return name + "=" + value + " (" + origin + ")";
    }

    /** Whether it switches something on. */
    public boolean isOn() {
      return !value.isEmpty() && !value.equals("0") && !value.equalsIgnoreCase("false");
    }
  }

  public static GivenVariables of(FabricGang gang) {
    var byNode = new TreeMap<Integer, Map<String, Given>>();
    for (NodeFabric node : gang.nodes()) {
      var variables = new LinkedHashMap<String, Given>();
      SiteFacts site = node.facts().site();
      for (SiteFacts.Conf conf : site.confs()) {
        conf.variables()
            .forEach(
                (name, value) ->
                    variables.putIfAbsent(
                        name, new Given(name, value, conf.path(), Authority.SITE)));
      }
      site.image()
          .forEach(
              (name, value) ->
                  variables.put(name, new Given(name, value, "image", Authority.SITE)));
      site.session()
          .forEach(
              (name, value) -> {
                if (!value.equals(site.image().get(name))) {
                  variables.put(name, new Given(name, value, "session", Authority.SITE));
                }
              });
      for (UserVariable each : gang.environment()) {
        variables.put(
            each.name(), new Given(each.name(), each.value(), each.origin(), Authority.USER));
      }
      variables.keySet().removeIf(name -> !FAMILY.matcher(name).matches() || name.equals(VERSION));
      byNode.put(node.index(), new TreeMap<>(variables));
    }
    return new GivenVariables(byNode);
  }

  public Optional<Given> find(int node, String name) {
    return Optional.ofNullable(byNode.getOrDefault(node, Map.of()).get(name));
  }

  /** The names that are set on any node. */
  public List<String> names() {
    var names = new TreeSet<String>();
    byNode.values().forEach(node -> names.addAll(node.keySet()));
    return List.copyOf(names);
  }

  /** The variable by which user or site chose TCP on this node. */
  public Optional<Given> tcpChoice(int node) {
    return find(node, "NCCL_IB_DISABLE")
        .filter(Given::isOn)
        .or(() -> find(node, "NCCL_NET").filter(given -> given.value().equalsIgnoreCase("Socket")));
  }

  public boolean choosesTcp(int node) {
    return tcpChoice(node).isPresent();
  }
}
