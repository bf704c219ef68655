package dev.gpush.gateway.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import java.nio.file.Path;
import java.util.List;

/**
 * Where the SSH server has its files, and how ssh starts it.
 *
 * @param home {@code $GPUSH_HOME}, with the keys, the port and the files that ssh clients read
 * @param launcher the command that starts gpush, without arguments: {@code __wake} is added
 * @param userConfig the user's own {@code ~/.ssh/config}; only {@code gpush link} changes it
 */
public record SshServerSettings(Path home, List<String> launcher, Path userConfig) {
  /** An ssh_config cannot have these in a path, however it is quoted. */
  private static final List<String> UNSPEAKABLE = List.of("\"", "\\", "${", "\n", "\r");

  public SshServerSettings {
    launcher = List.copyOf(launcher);
    if (launcher.isEmpty()) {
      throw new IllegalArgumentException("no launcher");
    }
    home = home.toAbsolutePath().normalize();
    for (String part : UNSPEAKABLE) {
      if (home.toString().contains(part)) {
        throw new GpushException(
            new GatewayFailure.HomeUnusable(
                home.toString(), "ssh_config cannot contain a path with " + name(part)));
      }
    }
  }

  private static String name(String part) {
    return part.isBlank() ? "a line break" : part;
  }
}
