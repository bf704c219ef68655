package dev.gpush.ssh;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** OpenSSH's own server (rig {@code openssh}) on a port of its own, to compare with. */
final class Sshd implements AutoCloseable {
  private static final Path PROGRAM = Path.of("/usr/sbin/sshd");

  private final Path folder;
  private final Process process;

  private Sshd(Path folder, Process process) {
    this.folder = folder;
    this.process = process;
  }

  /** Skips the test where there is no sshd. */
  static Sshd start(Path folder) throws IOException, InterruptedException {
    assumeTrue(Files.isExecutable(PROGRAM), "no sshd; the rig: src/test/rigs/openssh up");
    Files.createDirectories(folder);
    if (Files.isWritable(Path.of("/run"))) {
      Files.createDirectories(Path.of("/run/sshd"));
    }
    for (String key : List.of("host", "id")) {
      run(List.of("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", folder.resolve(key) + ""));
    }
    while (true) {
      int port = freePort();
      Files.writeString(folder.resolve("sshd_config"), serverConfig(folder, port));
      Files.writeString(folder.resolve("ssh_config"), clientConfig(folder, port));
      Process process =
          new ProcessBuilder(
                  PROGRAM.toString(), "-D", "-e", "-f", folder.resolve("sshd_config").toString())
              .start();
      if (listens(process.errorReader())) {
        return new Sshd(folder, process);
      }
      process.destroy();
    }
  }

  private static int freePort() throws IOException {
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  /** False when somebody else was given the port meanwhile. */
  private static boolean listens(BufferedReader errors) throws IOException {
    String line = errors.readLine();
    while (line != null && !line.startsWith("Server listening")) {
      line = errors.readLine();
    }
    return line != null;
  }

  /** Its shells read no startup files of the user, which may print, or wait for others. */
  private static String serverConfig(Path folder, int port) {
    return """
    ListenAddress 127.0.0.1
    Port %2$d
    HostKey "%1$s/host"
    AuthorizedKeysFile "%1$s/id.pub"
    PidFile none
    StrictModes no
    UsePAM no
    PermitRootLogin yes
    AcceptEnv LANG LC_*
    SetEnv HOME="%1$s"
    AllowStreamLocalForwarding yes
    Subsystem sftp internal-sftp
    """
        .formatted(folder, port);
  }

  private static String clientConfig(Path folder, int port) {
    return """
    Host devbox
      HostName 127.0.0.1
      Port %2$d
      User %3$s
      IdentityFile "%1$s/id"
      IdentitiesOnly yes
      StrictHostKeyChecking no
      UserKnownHostsFile /dev/null
      LogLevel ERROR
      SendEnv LANG LC_*
    """
        .formatted(folder, port, System.getProperty("user.name"));
  }

  private static void run(List<String> words) throws IOException, InterruptedException {
    int status = new ProcessBuilder(words).start().waitFor();
    if (status != 0) {
      throw new IOException(words + " ended with " + status);
    }
  }

  /** ssh, scp or sftp; the host is {@code devbox}, as with gpush. */
  Command client(String program, String... arguments) {
    var words = new ArrayList<>(List.of(program, "-F", folder.resolve("ssh_config").toString()));
    words.addAll(List.of(arguments));
    return new Command(words, folder);
  }

  @Override
  public void close() throws IOException {
    process.destroy();
    process.onExit().join();
  }
}
