package dev.gpush.shell.command;

import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "down",
    header = "Give a session's nodes back",
    description = {
      "Ends its runs, removes what gpush wrote and lets the nodes go; returns when that is"
          + " confirmed. What exists only on the nodes is listed first and asked about."
    },
    footer = {"$ gpush down devbox", "devbox is given back"})
final class DownCommand implements Action {
  @Parameters(paramLabel = "NAME", arity = "0..1", description = "the session, as with -s")
  Optional<String> name;

  @Option(names = "--discard", description = "also what exists only on the nodes")
  boolean discard;

  @Override
  public int run(Call call) throws InterruptedException {
    if (name.isPresent() && call.common().session.isPresent()) {
      throw Values.bad("down", "the session is named twice");
    }
    SessionView session = call.services().sessions().choose(name.or(call::named), call.folder());
    boolean chosenForThem = name.isEmpty() && call.named().isEmpty();
    if (chosenForThem && !call.folder().startsWith(session.root())) {
      call.talk()
          .confirm(
              "give back "
                  + session.name()
                  + ", which is of "
                  + PsCommand.shortened(session.root(), call)
                  + "?",
              "--yes");
    }
    down(call, session.name(), discard);
    return 0;
  }

  static void down(Call call, SessionName session, boolean discard) throws InterruptedException {
    List<String> kept = call.services().sessions().down(session, discard, call.talk());
    call.say(session + " is given back");
    kept.forEach(path -> call.say("kept, because it is not gpush's: " + path));
  }
}
