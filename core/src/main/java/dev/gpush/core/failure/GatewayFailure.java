package dev.gpush.core.failure;

/** The gateway process itself, its home folder or its files. */
public sealed interface GatewayFailure extends Failure {
  record HomeUnusable(String path, String reason) implements GatewayFailure {}

  /** A ledger entry that cannot be read is kept aside, never deleted. */
  record LedgerDamaged(String file, String reason) implements GatewayFailure {}

  /** No port for the page in a browser. */
  record PageUnavailable(String reason) implements GatewayFailure {}

  /** A page needs a port, and here gpush opens none: other users reach it, too. */
  record PageBesideOthers() implements GatewayFailure {}

  @Override
  default ExitStatus exit() {
    return ExitStatus.ENVIRONMENT;
  }
}
