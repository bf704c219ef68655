package dev.gpush.shell.command.session;

import dev.gpush.core.session.SessionView;
import dev.gpush.core.session.Sessions;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import dev.gpush.shell.render.Previews;
import dev.gpush.shell.render.SessionText;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "extend",
    header = "Move the end of a session's lease",
    description = {
      "Restarts the idle time. With --for, the session also ends that long from now, where the"
          + " backend can do that."
    },
    footer = {"$ gpush extend --for 2h", "devbox: 2h, 1h idle left"})
public final class ExtendCommand implements Action {
  @Option(names = "--for", paramLabel = "TIME", description = "from now: 30m, 2h, 1d12h")
  Optional<String> fromNow;

  @Option(names = "--dry-run", description = "show the ends before and after; move nothing")
  boolean dryRun;

  @Override
  public int run(Call call) {
    SessionView before = call.session();
    Optional<Duration> end = Values.time("--for", fromNow);
    if (dryRun) {
      return look(call, before, call.services().sessions().previewExtend(before.name(), end));
    }
    SessionView session;
    try (Talk.Step _ = call.talk().step("moving the end of " + before.name())) {
      session = call.services().sessions().extend(before.name(), end);
    }
    if (call.common().json) {
      call.print(Documents.session(session, call.now()));
    }
    String left = SessionText.lease(session);
    call.say(session.name() + ": " + (left.isEmpty() ? "no end is set" : left + " left"));
    return 0;
  }

  private static int look(Call call, SessionView now, Sessions.Extension then) {
    if (call.common().json) {
      call.print(Previews.json(now, then));
    } else {
      Previews.lines(now, then).forEach(line -> call.print(line + "\n"));
    }
    return 0;
  }
}
