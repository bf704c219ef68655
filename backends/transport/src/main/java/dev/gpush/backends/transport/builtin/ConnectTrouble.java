package dev.gpush.backends.transport.builtin;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.text.CleanText;
import java.net.ConnectException;
import java.net.NoRouteToHostException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Locale;
import java.util.concurrent.TimeoutException;
import net.schmizz.sshj.connection.channel.OpenFailException;

/** Why there is no connection, of what the library and the system have thrown. */
final class ConnectTrouble {
  private static final int MOST_REASON = 300;
  private static final int MOST_CAUSES = 10;

  private ConnectTrouble() {}

  static MachineFailure of(String machine, Throwable thrown) {
    Throwable cause = thrown;
    for (int i = 0; i < MOST_CAUSES; i++) {
      if (cause instanceof GpushException known
          && known.failure() instanceof MachineFailure failure) {
        return failure;
      }
      String reason = reason(cause);
      switch (cause) {
        case UnknownHostException _ -> {
          return new MachineFailure.UnknownHost(machine, "there is no address for " + reason);
        }
        case ConnectException _ -> {
          return reason.toLowerCase(Locale.ROOT).contains("refused")
              ? new MachineFailure.Refused(machine, reason)
              : new MachineFailure.Unreachable(machine, reason);
        }
        case SocketTimeoutException _, TimeoutException _, NoRouteToHostException _ -> {
          return new MachineFailure.Unreachable(machine, reason);
        }
        case OpenFailException _ -> {
          return new MachineFailure.ProxyFailed(machine, reason);
        }
        default -> {
          Throwable next = cause.getCause();
          if (next == null || next.equals(cause)) {
            return new MachineFailure.Broken(machine, reason(thrown));
          }
          cause = next;
        }
      }
    }
    return new MachineFailure.Broken(machine, reason(thrown));
  }

  /** Whether the server let go before it said anything: it has too many logins under way. */
  static boolean isTurnedAway(Throwable thrown) {
    String text = reason(thrown).toLowerCase(Locale.ROOT);
    return text.contains("identification")
        || text.contains("encountered eof")
        || text.contains("connection reset")
        || text.contains("broken pipe");
  }

  static String reason(Throwable thrown) {
    String text = thrown.getMessage();
    return clean(text == null || text.isBlank() ? thrown.getClass().getSimpleName() : text);
  }

  /** Text from another machine: no control signs, and not endless. */
  static String clean(String text) {
    return CleanText.line(text, MOST_REASON);
  }
}
