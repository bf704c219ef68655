package dev.gpush.core.gang;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What is asked of a backend, complete: defaults are resolved before.
 *
 * @param gang the id under which a repeated request finds the first one
 */
public record GangRequest(
    GangId gang,
    Requester requester,
    int nodes,
    GpuRequest gpus,
    LeaseTerms lease,
    Variables variables,
    Options options) {
  /** More in one session has not been tried. */
  public static final int MAX_NODES = 256;

  /**
   * Variables of the processes on the nodes.
   *
   * @param set what every process starts from, beyond the node's own
   * @param inherited this machine's variables that a local gang takes over from the client (PATH,
   *     VIRTUAL_ENV …); others ignore them
   */
  public record Variables(Map<String, String> set, Map<String, String> inherited) {
    public static final Variables NONE = new Variables(Map.of(), Map.of());

    public Variables {
      set = Map.copyOf(set);
      inherited = Map.copyOf(inherited);
    }
  }

  /**
   * What only some backends understand; {@code Capabilities} says which.
   *
   * @param natives the user's own options for a backend that {@code takesNatives}
   * @param image the project's, for a backend that {@code takesImages}; empty: its own
   * @param attach what runs already and will be borrowed, as {@code Backend.lends} has found it
   * @param data for a backend that {@code mountsVolumes}
   */
  public record Options(
      List<String> natives, Optional<String> image, Optional<String> attach, Data data) {
    public static final Options NONE =
        new Options(List.of(), Optional.empty(), Optional.empty(), Data.NONE);

    public Options {
      natives = List.copyOf(natives);
    }
  }

  /**
   * What is mounted into the nodes.
   *
   * @param home the home folder there, below the path of a volume; empty: the image's
   */
  public record Data(List<Volume> volumes, Optional<String> home) {
    public static final Data NONE = new Data(List.of(), Optional.empty());

    public Data {
      volumes = List.copyOf(volumes);
    }

    /** Keys without whose volumes nodes are of no use; a backend may have a home of its own. */
    public List<String> needed() {
      return volumes.stream().map(Volume::key).filter(key -> !key.equals(Volume.HOME)).toList();
    }
  }

  /**
   * A whole volume.
   *
   * @param key of the configuration, which users know it by
   * @param path where it is mounted
   */
  public record Volume(String key, String claim, String path, boolean isReadOnly) {
    public static final String HOME = "home";
  }

  public GangRequest {
    if (nodes < 1 || nodes > MAX_NODES) {
      throw new IllegalArgumentException("1 to 256 nodes, not " + nodes);
    }
  }

  /** Without variables, and without what only some backends understand. */
  public static GangRequest of(
      GangId gang, Requester requester, int nodes, GpuRequest gpus, LeaseTerms lease) {
    return new GangRequest(gang, requester, nodes, gpus, lease, Variables.NONE, Options.NONE);
  }

  public GangRequest sized(int nodeCount, GpuRequest each) {
    return new GangRequest(gang, requester, nodeCount, each, lease, variables, options);
  }

  public GangRequest with(Variables other) {
    return new GangRequest(gang, requester, nodes, gpus, lease, other, options);
  }

  public GangRequest with(Options other) {
    return new GangRequest(gang, requester, nodes, gpus, lease, variables, other);
  }

  // ---- what its parts say

  public Map<String, String> environment() {
    return variables.set();
  }

  public Optional<String> attach() {
    return options.attach();
  }

  public Data data() {
    return options.data();
  }
}
