package dev.gpush.ssh.files;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.text.SshConfigWords;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * Where the SSH server has its files, and how ssh starts it.
 *
 * @param home {@code $GPUSH_HOME}, with the keys, the port and the files that ssh clients read
 * @param launcher the command that starts gpush, without arguments: {@code __wake} is added
 * @param userConfig the user's own {@code ~/.ssh/config}; only {@code gpush link} changes it
 * @param socket to listen on in place of a port
 * @param wsl where it runs inside Windows
 */
public record SshServerSettings(
    Path home, List<String> launcher, Path userConfig, Optional<Path> socket, Optional<Wsl> wsl) {
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
              home.toString(), "ssh_config cannot contain a path with " + name(impossible.get())));
    }
  }

  private static String name(String part) {
    return part.isBlank() ? "a line break" : part;
  }
}
