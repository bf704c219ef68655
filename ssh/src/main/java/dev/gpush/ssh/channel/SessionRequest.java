package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.ssh.connection.ClientLimits;
import dev.gpush.ssh.connection.Route;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * What a session channel collects before its program starts: variables and a terminal. Then, which
 * program. Used on the connection's thread only.
 */
final class SessionRequest {
  /**
   * The variables that clients may set, as sshd's AcceptEnv; PATH or LD_PRELOAD are not among them.
   */
  private static final Pattern ACCEPTED =
      Pattern.compile("LANG|LC_[A-Z_]+|COLORTERM|TERM_PROGRAM(_VERSION)?|GIT_PROTOCOL|TERM|TZ");

  /** What the terminal of macOS sets LC_CTYPE to; Linux has no locale of this name, and warns. */
  private static final String MAC_LOCALE = "UTF-8";

  private static final String LINUX_LOCALE = "C.UTF-8";

  private final Map<String, String> variables = new LinkedHashMap<>();
  private int characters;
  private Optional<Json.Obj> terminal = Optional.empty();

  /** Which program: one of the three ways that SSH has. */
  sealed interface Program {
    record Shell() implements Program {}

    record Command(String text) implements Program {}

    record FileTransfer() implements Program {}
  }

  /** False when this variable is not accepted. */
  boolean setVariable(String name, String value) {
    int more = name.length() + value.length();
    if (!ACCEPTED.matcher(name).matches()
        || value.indexOf('\0') >= 0
        || variables.size() >= ClientLimits.ENVIRONMENT_ENTRIES
        || characters + more > ClientLimits.ENVIRONMENT_CHARACTERS) {
      return false;
    }
    characters += more;
    variables.put(name, value.equals(MAC_LOCALE) ? LINUX_LOCALE : value);
    return true;
  }

  void setTerminal(String type, long columns, long rows, Map<Integer, Long> modes) {
    var byNumber = new LinkedHashMap<String, Long>();
    modes.forEach((opcode, value) -> byNumber.put(String.valueOf(opcode), value));
    terminal =
        Optional.of(
            Json.object(
                "term", type, "columns", cells(columns), "rows", cells(rows), "modes", byNumber));
  }

  /** For the log, without the command line. */
  String kind(Program program) {
    String kind =
        switch (program) {
          case Program.Shell _ -> "shell";
          case Program.FileTransfer _ -> "sftp";
          case Program.Command _ -> "exec";
        };
    return "kind=" + kind + " terminal=" + hasTerminal();
  }

  /** A terminal's size has 16 bits. */
  static long cells(long asked) {
    return Math.clamp(asked, 0, 0xffff);
  }

  boolean hasTerminal() {
    return terminal.isPresent();
  }

  /**
   * A shell with a terminal starts in the workspace, because the user works there. Everything else
   * starts in the home folder, as with sshd.
   */
  Json.Obj on(Route.Node node, Program program, Map<String, String> ofConnection) {
    var environment = new LinkedHashMap<>(node.environment());
    environment.putAll(ofConnection);
    environment.putAll(variables);
    var request = Json.object("type", "exec", "stdin", true, "env", environment);
    request =
        switch (program) {
          case Program.Shell _ ->
              hasTerminal() ? request.with("cwd", node.workspace()) : request.with("home", true);
          case Program.Command(var text) -> request.with("command", text).with("home", true);
          case Program.FileTransfer _ -> request.with("builtin", "sftp").with("home", true);
        };
    return terminal.isPresent() ? request.with("pty", terminal.orElseThrow()) : request;
  }
}
