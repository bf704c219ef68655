package dev.gpush.gateway.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.text.SshConfigWords;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where the SSH face keeps its files, and how it is brought back.
 *
 * @param home {@code $GPUSH_HOME}: keys, the port, and what ssh clients read lie in it
 * @param launcher the command that starts gpush, without arguments: {@code __wake} is added
 * @param userConfig the person's own {@code ~/.ssh/config}; only touched by {@code gpush link}
 */
public record SshServerSettings(Path home, List<String> launcher, Path userConfig) {
  public SshServerSettings {
    launcher = List.copyOf(launcher);
    if (launcher.isEmpty()) {
      throw new IllegalArgumentException("no launcher");
    }
    home = home.toAbsolutePath().normalize();
    Optional<String> impossible = SshConfigWords.impossible(home.toString());
    if (impossible.isPresent()) {
      throw new GpushException(
          new GatewayFailure.HomeUnusable(
              home.toString(), "ssh_config cannot hold a path with " + name(impossible.get())));
    }
  }

  private static String name(String part) {
    return part.isBlank() ? "a line break" : part;
  }
}
