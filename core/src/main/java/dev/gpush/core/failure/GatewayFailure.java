package dev.gpush.core.failure;

import java.util.List;

/** The gateway process itself, its home folder or its files. */
public sealed interface GatewayFailure extends Failure {
  record CannotStart(String reason, String log) implements GatewayFailure {}

  record NotRunning() implements GatewayFailure {}

  /** A gateway of another build serves this home and has clients or sessions. */
  record OtherBuild(String running, String ours, List<String> sessions) implements GatewayFailure {}

  record HomeUnusable(String path, String reason) implements GatewayFailure {}

  /** A ledger entry that cannot be read is kept aside, never deleted. */
  record LedgerDamaged(String file, String reason) implements GatewayFailure {}

  record NoProgram(String program, String install) implements GatewayFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.ENVIRONMENT;
  }
}
