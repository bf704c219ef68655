package dev.gpush.backends.slurm;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The container of a gang's agents, shells and runs: an image, by the plugin pyxis of srun.
 *
 * @param image in the form of pyxis: {@code REGISTRY#NAME:TAG}, or a file
 * @param mounts further folders of the node inside, {@code SOURCE:TARGET[:flags]}
 */
public record Container(String image, List<String> mounts) {
  /** A registry before its first slash, as docker writes it: a host has a dot, a port or a name. */
  private static final Pattern WITH_REGISTRY =
      Pattern.compile("([^/#]*[.:][^/#]*|localhost)/([^#]+)");

  public Container {
    mounts = List.copyOf(mounts);
  }

  static Optional<Container> of(Json.Obj values) {
    return values.text("image").map(image -> new Container(named(image), values.texts("mounts")));
  }

  /** The project's own image instead of the backend's, with the backend's mounts. */
  static Optional<Container> of(Optional<String> image, Optional<Container> usual) {
    return image
        .map(own -> new Container(named(own), usual.map(Container::mounts).orElse(List.of())))
        .or(() -> usual);
  }

  /** The answer for a cluster without pyxis. */
  public static JobShaping.Result.Hopeless missing() {
    return new JobShaping.Result.Hopeless(
        "its srun has no --container-image (the plugin pyxis), which image: needs",
        List.of("srun --help"));
  }

  private static String named(String written) {
    String image = written.replaceFirst("^docker://", "");
    Matcher docker = WITH_REGISTRY.matcher(image);
    boolean isFile = image.startsWith("/") || image.startsWith("./") || image.endsWith(".sqsh");
    return !isFile && docker.matches() ? docker.group(1) + "#" + docker.group(2) : image;
  }

  /**
   * Options of srun. The user and the home folder stay the same; the agents' sockets in /tmp and
   * the workspaces are those of the node, so that they can be found from outside.
   *
   * @param under the folder of the workspaces, which exists
   */
  public List<String> options(String under) {
    var all = new ArrayList<>(List.of("/tmp:/tmp", under + ":" + under));
    all.addAll(mounts);
    return List.of(
        "--container-image=" + image,
        "--container-mounts=" + String.join(",", all),
        "--container-mount-home",
        "--container-writable",
        "--no-container-remap-root");
  }
}
