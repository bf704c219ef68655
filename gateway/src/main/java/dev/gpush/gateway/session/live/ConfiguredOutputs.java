package dev.gpush.gateway.session.live;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.config.Setting;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.util.Optional;

/** The folder on the nodes that {@code outputs:} names. */
public final class ConfiguredOutputs {
  private static final String KEY = "outputs";

  private ConfiguredOutputs() {}

  /** Empty if results stay beside the workspace, or if the form is not supported yet. */
  static Optional<NodeFolder> of(Config config) {
    return config
        .text(KEY)
        .filter(text -> NodeFolder.unsupported(text).isEmpty())
        .map(NodeFolder::new);
  }

  /**
   * Refuses a form that is not supported yet before anything is reserved: results would be written
   * to a disk that may end with the node.
   */
  public static void requireSupported(Config config) {
    for (Setting setting : config.settings()) {
      Optional<String> reason =
          config.text(KEY).filter(_ -> setting.key().equals(KEY)).flatMap(NodeFolder::unsupported);
      if (reason.isPresent()) {
        throw new GpushException(
            new ConfigFailure.Unsupported(KEY, setting.text(), setting.origin(), reason.get()));
      }
    }
  }
}
