package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.AgentFailure;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.SessionFailure;
import dev.gpush.core.session.SessionName;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import java.nio.charset.StandardCharsets;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

/** Called by the program of {@code gpush cp}, once for each stream. */
@Command(name = "__copy", header = "Serve one stream of a copy")
public final class CopyStreamCommand implements Action {
  /** As sysexits.h has it for "try later": the agent or the link may come back. */
  static final int AGAIN = 75;

  @Parameters(index = "0", paramLabel = "NAME", description = "the session")
  String session;

  @Parameters(index = "1", paramLabel = "NODE", description = "the node")
  String node;

  @Override
  public int run(Call call) throws InterruptedException {
    SessionName name = SessionName.parse(session);
    int number = Values.number("NODE", node, 0, Integer.MAX_VALUE);
    try {
      return call.services().runs().copy(name, number, call.invocation());
    } catch (GpushException failed) {
      if (!mayComeBack(failed.failure())) {
        throw failed;
      }
      String because = String.join("; ", call.failures().of(failed.failure()).because());
      call.console().write(true, because.getBytes(StandardCharsets.UTF_8));
      return AGAIN;
    }
  }

  private static boolean mayComeBack(Failure failure) {
    return failure instanceof AgentFailure.LinkOver
        || failure instanceof AgentFailure.Died
        || failure instanceof AgentFailure.NotThere
        || failure instanceof SessionFailure.NotReached
        || failure instanceof SessionFailure.Busy;
  }
}
