package dev.gpush.shell.command.session;

import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "adopt",
    header = "Continue a session that was made elsewhere",
    description = {
      "Takes over one of your sessions, with its nodes, runs and files: after a laptop or its"
          + " ledger was lost, or from another laptop. Its runs continue. Nothing is synced; the"
          + " first sync asks before it replaces what is different on the nodes."
    },
    footer = {
      "$ gpush adopt devbox --take",
      "devbox is adopted: 2×8 H100 on hpc. Nothing was synced; see: gpush sync"
    })
public final class AdoptCommand implements Action {
  @Parameters(
      paramLabel = "NAME",
      arity = "0..1",
      description = "the session, or its gang as doctor lists it; may be left out if there is one")
  Optional<String> name;

  @Option(
      names = "--take",
      description = "also from a machine that may still use it; that one then only watches")
  boolean take;

  @Override
  public int run(Call call) throws InterruptedException {
    if (name.isPresent() && call.common().session.isPresent()) {
      throw Values.bad("adopt", "the session is named twice");
    }
    SessionView session =
        call.services().sessions().adopt(name.or(call::named), take, call.folder(), call.talk());
    if (call.common().json) {
      call.print(Documents.session(session, call.now()));
    }
    call.say(
        session.name()
            + " is adopted: "
            + session.shape()
            + " on "
            + session.backend()
            + ". Nothing was synced; see: gpush sync");
    return 0;
  }
}
