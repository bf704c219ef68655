package dev.gpush.gateway.session;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.config.Setting;
import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import java.util.Optional;

/** The folder on the nodes that {@code outputs:} names. */
final class ConfiguredOutputs {
  private static final String KEY = "outputs";

  private ConfiguredOutputs() {}

  /** Empty where results stay beside the workspace, and where the form does not work yet. */
  static Optional<NodeFolder> of(Config config) {
    return config
        .text(KEY)
        .filter(text -> NodeFolder.unsupported(text).isEmpty())
        .map(NodeFolder::new);
  }

  /**
   * Refuses a form that does not work yet before anything is reserved: results would land on a disk
   * that may go away with the node.
   */
  static void requireSupported(Config config) {
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
