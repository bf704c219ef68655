package dev.gpush.shell.command.run;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Call;
import java.util.List;
import java.util.Optional;

/** Finds runs by number, or the newest without one. */
final class RunNumbers {
  private RunNumbers() {}

  /** The run of this number, else the newest. */
  static RunView find(Call call, SessionName session, Optional<String> number) {
    try (Talk.Step _ = call.talk().step("reaching the nodes")) {
      if (number.isEmpty()) {
        return call.services().runs().find(session, Optional.empty());
      }
      String digits = number.get();
      if (!digits.matches("[0-9]{1,9}")) {
        throw unknown(session, digits, call.services().runs().list(session));
      }
      return call.services().runs().find(session, Optional.of(Integer.parseInt(digits)));
    }
  }

  static GpushException unknown(SessionName session, String asked, List<RunView> known) {
    List<String> numbers = known.stream().map(run -> "" + run.number()).toList();
    return new GpushException(new LaunchFailure.UnknownRun(session.text(), asked, numbers));
  }
}
