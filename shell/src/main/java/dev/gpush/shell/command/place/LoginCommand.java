package dev.gpush.shell.command.place;

import dev.gpush.core.backend.Backend;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.machine.Gate;
import dev.gpush.core.talk.Person;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.Documents;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "login",
    header = "Log in where a password or second factor is asked",
    description = {
      "NAME is a backend or a session; the default is the session of this folder. Your own ssh, or"
          + " gpush itself where a host's transport is builtin, asks in this terminal, once, and"
          + " leaves a connection that the whole session uses. When a login needs you, gpush does"
          + " not try again by itself: ps says needs you until you run this command. Meanwhile the"
          + " runs on the nodes continue; terminals and logs return without losing a byte."
    },
    footer = {"$ gpush login rack", "ann@gpu01's code: ", "rack is open"})
public final class LoginCommand implements Action {
  @Parameters(paramLabel = "NAME", arity = "0..1", description = "a backend or a session")
  Optional<String> name;

  @Override
  public int run(Call call) throws InterruptedException {
    Backend backend = backend(call);
    var person = new Caller(call);
    List<Gate> gates = backend.capabilities().gates();
    List<Gate> closed = gates.stream().filter(gate -> gate.closed().isPresent()).toList();
    for (Gate gate : closed.isEmpty() ? gates : closed) {
      gate.open(person);
    }
    if (call.common().json) {
      call.print(Documents.login(backend.name(), gates));
    }
    call.say(backend.name() + (gates.isEmpty() ? " needs no login" : " is open"));
    return 0;
  }

  private Backend backend(Call call) {
    Optional<Backend> named = name.flatMap(word -> call.services().backends().named(word));
    if (named.isPresent()) {
      return named.get();
    }
    String used = call.session(name.or(call::named)).backend();
    return call.services()
        .backends()
        .named(used)
        .orElseThrow(
            () ->
                new GpushException(
                    new BackendFailure.Unknown(used, new ArrayList<>(), Optional.empty())));
  }

  /** The user who typed the command. */
  private record Caller(Call call) implements Person {
    @Override
    public void say(String line) {
      call.say(line);
    }

    @Override
    public Optional<String> ask(String question, boolean hidden) throws InterruptedException {
      return call.invocation().ask(question, hidden);
    }

    @Override
    public int run(List<String> command, Map<String, String> environment)
        throws InterruptedException {
      return call.invocation().spawn(command, environment);
    }
  }
}
