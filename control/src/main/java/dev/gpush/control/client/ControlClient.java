package dev.gpush.control.client;

import dev.gpush.control.client.terminal.CapturedConsole;
import dev.gpush.control.client.terminal.Console;
import dev.gpush.control.place.Origin;
import dev.gpush.control.wire.ControlFrame;
import dev.gpush.control.wire.Request;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.task.Clock;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Has commands carried out by the gateway of a home, which is started when there is none. Each
 * request has its own connection, so one client may be used by several threads.
 */
public final class ControlClient {

  /** What a shell reports for a process that SIGPIPE ended: 128 + 13. */
  static final int BROKEN_PIPE = 141;

  private final Origin origin;
  private final GatewayConnector connector;
  private final Clock clock;

  public ControlClient(Origin origin) {
    this(origin, Clock.system());
  }

  public ControlClient(Origin origin, Clock clock) {
    this(origin, GatewayConnector.GREETING_MILLIS, clock);
  }

  /** For tests: with a shorter limit for a gateway that does not greet. */
  ControlClient(Origin origin, long greetingMillis, Clock clock) {
    this.origin = origin;
    this.clock = clock;
    this.connector = new GatewayConnector(origin, greetingMillis, GatewayConnector.START_SECONDS);
  }

  /** Carries out one command on the console's streams and gives its exit status. */
  public int run(List<String> arguments, Console console) {
    try {
      GatewayWord word = GatewayWord.of(arguments);
      if (word == GatewayWord.NONE) {
        return converse(connector.enter(console), arguments, console);
      }
      Optional<GatewayConnection> connection = connector.find();
      if (connection.isEmpty()) {
        if (word == GatewayWord.STOP) {
          connector.clear();
        }
        return notRunning(word, arguments, console);
      }
      return word == GatewayWord.STOP
          ? stop(connection.get(), arguments, console)
          : converse(connector.understood(connection.get()), arguments, console);
    } catch (ClientException failure) {
      say(console, failure.text());
      return failure.status().of(arguments).number();
    }
  }

  /** Carries out one command and keeps what it prints. */
  public Captured capture(List<String> arguments) {
    var out = new ByteArrayOutputStream();
    var console = new CapturedConsole(out);
    int status = run(arguments, console);
    return new Captured(status, out.toString(StandardCharsets.UTF_8), console.said());
  }

  /** As {@link #capture}, and only if a gateway runs; empty when there is none. */
  public Optional<Captured> captureIfRunning(List<String> arguments) {
    var kept = new ByteArrayOutputStream();
    return follow(arguments, kept)
        .map(status -> new Captured(status, kept.toString(StandardCharsets.UTF_8), ""));
  }

  /**
   * Carries out one command and gives its output while it comes, only if a gateway runs; its exit
   * status, empty when there is no gateway. An interrupt ends it.
   */
  public Optional<Integer> follow(List<String> arguments, OutputStream out) {
    try {
      Optional<GatewayConnection> connection = connector.find();
      return connection.isEmpty()
          ? Optional.empty()
          : Optional.of(
              converse(
                  connector.understood(connection.get()), arguments, new CapturedConsole(out)));
    } catch (ClientException failure) {
      return Optional.of(failure.status().of(arguments).number());
    }
  }

  private int stop(GatewayConnection connection, List<String> arguments, Console console)
      throws ClientException {
    try (GatewayEnd end = connector.watchEnd()) {
      int status = ExitStatus.DONE.number();
      if (connector.speaksOurs(connection)) {
        status = converse(connection, arguments, console);
      } else {
        connector.handOver(connection, true);
      }
      if (status == ExitStatus.DONE.number()) {
        connector.await(end);
      }
      return status;
    }
  }

  private int converse(GatewayConnection connection, List<String> arguments, Console console)
      throws ClientException {
    try (connection) {
      return new Conversation(connection, console, clock).carryOut(request(arguments, console));
    }
  }

  private ControlFrame request(List<String> arguments, Console console) throws ClientException {
    var request =
        new Request(
            arguments,
            origin.folder().toString(),
            origin.environment(),
            console.facts(),
            origin.pid());
    try {
      return request.frame();
    } catch (IllegalArgumentException tooLong) {
      throw new ClientException(
          "the command line is too long",
          "arguments and environment together may have " + Request.MAX_BYTES + " bytes",
          "put the arguments into a file, or unset large variables",
          ExitStatus.USAGE);
    }
  }

  private static int notRunning(GatewayWord word, List<String> arguments, Console console) {
    boolean json = arguments.contains("--json");
    String text = json ? "{\"running\":false}\n" : "not running\n";
    try {
      console.out().write(text.getBytes(StandardCharsets.UTF_8));
      console.out().flush();
    } catch (IOException nobodyReads) {
      return BROKEN_PIPE;
    }
    return (word == GatewayWord.STOP ? ExitStatus.DONE : ExitStatus.ENVIRONMENT).number();
  }

  static void say(Console console, String text) {
    try {
      console.err().write(text.getBytes(StandardCharsets.UTF_8));
      console.err().flush();
    } catch (IOException nobodyReads) {
      // No stream is left to report it on.
    }
  }
}
