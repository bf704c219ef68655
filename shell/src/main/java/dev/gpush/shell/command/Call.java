package dev.gpush.shell.command;

import dev.gpush.control.server.Invocation;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.console.CommandConsole;
import dev.gpush.shell.console.ConsoleTalk;
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
    CommandConsole console,
    ConsoleTalk talk,
    Common common,
    List<String> words,
    ToldShells toldShells) {

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

  /**
   * The session that the command is about. When it is the only one there is, and of another folder,
   * this is said: nobody named it.
   */
  SessionView session() {
    return named().isPresent() ? session(named()) : onlyOrOwn();
  }

  /** The session of this name; without a name as {@link #session()}. */
  SessionView session(Optional<String> name) {
    return name.isPresent() ? services.sessions().choose(name, folder()) : onlyOrOwn();
  }

  private SessionView onlyOrOwn() {
    SessionView session = silently();
    if (isOfAnotherFolder(session) && toldShells.isNews(environment(), session.id())) {
      say("using " + session.name() + " of " + folderOf(session) + ", the only session there is");
    }
    return session;
  }

  /** As {@link #session()}, for what the user does not see. */
  SessionView silently() {
    return services.sessions().choose(named(), folder());
  }

  /**
   * The session that the command ends, or ends something of. One that was not named and is of
   * another folder is asked about, and {@code --yes} is no answer: it was said before anybody knew
   * which session that would be.
   *
   * @param question what is asked about it, as {@code give back}
   */
  SessionView sessionToEnd(Optional<String> name, String question) {
    SessionView session = services.sessions().choose(name.or(this::named), folder());
    if (name.isEmpty() && named().isEmpty() && isOfAnotherFolder(session)) {
      talk.confirm(
          question + " " + session.name() + ", which is of " + folderOf(session) + "?",
          "-s " + session.name());
    }
    return session;
  }

  private boolean isOfAnotherFolder(SessionView session) {
    return !services.configs().load(folder()).root().equals(session.root());
  }

  private String folderOf(SessionView session) {
    return PsCommand.shortened(session.root(), this);
  }

  void say(String line) {
    talk.say(line);
  }

  void print(Json json) {
    console.out(json.pretty());
  }

  /** One value on a line of its own, for output that is read as it comes. */
  void printLine(Json json) {
    console.out(json.write());
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
