package dev.gpush.backends.transport.openssh;

import dev.gpush.backends.transport.Destination;
import dev.gpush.backends.transport.SshSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The command lines of ssh for one destination, each with the reason for its options. */
final class SshCommands {
  /** Unanswered questions after which ssh gives a connection up. */
  private static final int QUESTIONS = 3;

  /** How long a connection without commands stays, so that the next need not wait. */
  private static final Duration UNUSED = Duration.ofSeconds(60);

  /** One that a person has opened: asked for once, it should do for the day's work. */
  private static final Duration UNUSED_PERSONAL = Duration.ofHours(4);

  private final SshSettings settings;
  private final Destination destination;

  SshCommands(SshSettings settings, Destination destination) {
    this.settings = settings;
    this.destination = destination;
  }

  /** What the user's configuration comes to for this machine, a line {@code key value} each. */
  List<String> effective() {
    var line = start();
    line.add("-G");
    return end(line);
  }

  /** What that has printed; of a keyword with several lines the first. */
  static Map<String, String> values(String effective) {
    return effective
        .lines()
        .filter(line -> line.contains(" "))
        .collect(
            Collectors.toMap(
                line -> line.substring(0, line.indexOf(' ')),
                line -> line.substring(line.indexOf(' ') + 1).strip(),
                (first, _) -> first));
  }

  /**
   * Opens the shared connection and goes to the background once logged in, without a person.
   * Nothing of the user's configuration may start to listen, run a command or ask.
   */
  List<String> open(Path socket, String hostKeys) {
    var line = master(socket, hostKeys, settings.silence(), UNUSED);
    option(line, "BatchMode=yes");
    return end(line);
  }

  /** The same, asking whoever is at the terminal where it is run. */
  List<String> openWithPerson(Path socket, String hostKeys) {
    var line = master(socket, hostKeys, settings.personalSilence(), UNUSED_PERSONAL);
    option(line, "BatchMode=no");
    return end(line);
  }

  /**
   * Gives a script to {@code sh} there, over a connection of its own or one that the user has open
   * already. Asks nobody for anything; only for a host that the user named a hardware key may want
   * to be touched.
   *
   * @param limit for all of it; connecting takes most of that, so that others have their turn
   */
  List<String> look(Duration limit, boolean isNamed) {
    var line = start();
    line.addAll(List.of("-T", "-a", "-x"));
    option(line, "BatchMode=yes");
    if (!isNamed) {
      option(line, "PreferredAuthentications=gssapi-with-mic,hostbased,publickey");
      // The older name, which newer versions take as well.
      option(line, "PubkeyAcceptedKeyTypes=-sk-*");
      option(line, "PKCS11Provider=none");
    }
    option(line, "StrictHostKeyChecking=yes");
    option(line, "UpdateHostKeys=no");
    // It would add the address to known_hosts.
    option(line, "CheckHostIP=no");
    option(line, "ControlMaster=no");
    option(line, "ConnectTimeout=" + (limit.toSeconds() * 3 / 5 + 1));
    option(line, "ConnectionAttempts=1");
    quietly(line);
    end(line);
    line.add("sh -s");
    return List.copyOf(line);
  }

  private List<String> master(Path socket, String hostKeys, Duration silence, Duration unused) {
    var line = start();
    line.addAll(List.of("-M", "-S", socket.toString(), "-f", "-N", "-T", "-a", "-x"));
    option(line, "ControlPersist=" + unused.toSeconds());
    option(line, "ConnectTimeout=" + settings.connectLimit().toSeconds());
    option(line, "ConnectionAttempts=1");
    option(line, "ServerAliveInterval=" + Math.max(1, silence.toSeconds() / QUESTIONS));
    option(line, "ServerAliveCountMax=" + QUESTIONS);
    option(line, "TCPKeepAlive=no");
    quietly(line);
    option(line, "StrictHostKeyChecking=" + hostKeys);
    return line;
  }

  /** Nothing of the user's configuration starts to listen or to run. */
  private static void quietly(List<String> line) {
    option(line, "ClearAllForwardings=yes");
    option(line, "RemoteCommand=none");
    option(line, "PermitLocalCommand=no");
    option(line, "Tunnel=no");
    option(line, "LogLevel=ERROR");
  }

  /**
   * Runs a command on the shared connection, and never opens one of its own: the configuration is
   * not read, and where the connection is gone the way is a program that fails.
   */
  List<String> run(Path socket, String command) {
    return List.of(
        settings.program(),
        "-F",
        "/dev/null",
        "-S",
        socket.toString(),
        "-o",
        "ControlMaster=no",
        "-o",
        "ProxyCommand=false",
        "-o",
        "BatchMode=yes",
        "-o",
        "LogLevel=ERROR",
        "-T",
        "-a",
        "-x",
        "-e",
        "none",
        "--",
        "shared",
        command);
  }

  /** Ends the shared connection. */
  List<String> close(Path socket) {
    return List.of(
        settings.program(), "-F", "/dev/null", "-S", socket.toString(), "-O", "exit", "shared");
  }

  /**
   * For what is started without a person: an ssh that a ProxyJump starts is not told to be quiet,
   * and must find nobody to ask.
   */
  Map<String, String> alone() {
    var variables = new LinkedHashMap<>(settings.environment());
    variables.keySet().removeIf(name -> name.startsWith("SSH_ASKPASS"));
    // Found on the PATH: macOS has no /bin/false.
    variables.put("SSH_ASKPASS", "false");
    variables.put("SSH_ASKPASS_REQUIRE", "force");
    variables.put("LC_ALL", "C");
    return variables;
  }

  private List<String> start() {
    var line = new ArrayList<String>();
    line.add(settings.program());
    settings.config().ifPresent(file -> line.addAll(List.of("-F", file.toString())));
    destination.user().ifPresent(user -> line.addAll(List.of("-l", user)));
    destination.port().ifPresent(port -> line.addAll(List.of("-p", port.toString())));
    return line;
  }

  private List<String> end(List<String> line) {
    line.add("--");
    line.add(destination.host());
    return List.copyOf(line);
  }

  private static void option(List<String> line, String option) {
    line.add("-o");
    line.add(option);
  }
}
