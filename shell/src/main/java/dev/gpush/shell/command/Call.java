package dev.gpush.shell.command;

import dev.gpush.control.server.Invocation;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.render.Console;
import dev.gpush.shell.render.ConsoleTalk;
import dev.gpush.shell.render.Table;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One command being carried out: who asked, from where, and how to answer.
 *
 * @param words the command line, verb first
 */
record Call(
    Services services,
    Invocation invocation,
    Console console,
    ConsoleTalk talk,
    Common common,
    List<String> words) {

  Path folder() {
    return invocation.folder();
  }

  Map<String, String> environment() {
    return invocation.environment();
  }

  Instant now() {
    return services.clock().now();
  }

  /** -s NAME, else $GPUSH_SESSION. */
  Optional<String> named() {
    return common.session.or(
        () ->
            Optional.ofNullable(environment().get("GPUSH_SESSION"))
                .filter(name -> !name.isEmpty()));
  }

  /** {@link #named} where a name may be new. */
  Optional<SessionName> newName() {
    return named().map(SessionName::parse);
  }

  /** The session that the command is about. */
  SessionView session() {
    return services.sessions().choose(named(), folder());
  }

  void say(String line) {
    talk.say(line);
  }

  void print(Json json) {
    console.out(json.pretty());
  }

  void print(Table table) {
    var text = new StringBuilder();
    table.lines(console.look().columns()).forEach(line -> text.append(line).append('\n'));
    print(text.toString());
  }

  /** Text as it is. */
  void print(String text) {
    console.write(false, text.getBytes(StandardCharsets.UTF_8));
  }
}
