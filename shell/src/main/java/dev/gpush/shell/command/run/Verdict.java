package dev.gpush.shell.command.run;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.text.RunFailureText;
import java.util.Optional;

/** Says of a run that failed which rank was first, where, and why. */
final class Verdict {
  private Verdict() {}

  static void write(Call call, RunView run) {
    run.failure().ifPresent(failure -> write(call, failure));
  }

  /** Of a run that has just ended. */
  static void write(Call call, SessionName session, int run) {
    write(call, call.services().runs().find(session, Optional.of(run)));
  }

  private static void write(Call call, RunFailure failure) {
    call.console().freshLine();
    call.console().write(true, new RunFailureText(failure).bytes(call.console().look()));
  }
}
