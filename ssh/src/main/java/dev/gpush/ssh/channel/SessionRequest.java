package dev.gpush.ssh.channel;

import dev.gpush.core.json.Json;
import dev.gpush.core.text.CleanText;
import dev.gpush.ssh.audit.AuditDetail;
import dev.gpush.ssh.connection.ClientLimits;
import dev.gpush.ssh.route.Route;
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

  /** Of a command line in the audit: editors send scripts of many pages. */
  private static final int LONGEST_COMMAND = 2_000;

  private static final String ORIGINAL = "SSH_ORIGINAL_COMMAND";
  private static final String SFTP = "internal-sftp";

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
    variables.put(name, value);
    return true;
  }

  /**
   * The command that the key forces; the one that was asked for is a variable, as with sshd. {@code
   * internal-sftp} is sshd's name for the server of files.
   */
  Program forced(String command, Program asked) {
    switch (asked) {
      case Program.Command(var text) -> variables.put(ORIGINAL, text);
      case Program.FileTransfer _ -> variables.put(ORIGINAL, SFTP);
      case Program.Shell _ -> {}
    }
    return command.equals(SFTP) ? new Program.FileTransfer() : new Program.Command(command);
  }

  void setTerminal(String type, long columns, long rows, Map<Integer, Long> modes) {
    var byNumber = new LinkedHashMap<String, Long>();
    modes.forEach((opcode, value) -> byNumber.put(String.valueOf(opcode), value));
    terminal =
        Optional.of(
            Json.object(
                "term", type, "columns", cells(columns), "rows", cells(rows), "modes", byNumber));
  }

  /** What the audit says of it: a command line is contents, and is recorded only when asked for. */
  Json.Obj audited(Program program, AuditDetail detail) {
    return switch (program) {
      case Program.Shell _ -> Json.object("kind", "shell", "terminal", hasTerminal());
      case Program.FileTransfer _ -> Json.object("kind", "sftp");
      case Program.Command(var text) when detail == AuditDetail.COMMANDS ->
          Json.object(
              "kind",
              "exec",
              "terminal",
              hasTerminal(),
              "command",
              CleanText.line(text, LONGEST_COMMAND));
      case Program.Command _ -> Json.object("kind", "exec", "terminal", hasTerminal());
    };
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
