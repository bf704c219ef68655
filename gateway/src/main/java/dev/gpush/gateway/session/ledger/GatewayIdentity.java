package dev.gpush.gateway.session.ledger;

import dev.gpush.core.session.Holder;
import java.nio.file.Path;

/**
 * The identity of this gateway.
 *
 * @param owner who pays; stable over laptops
 * @param holder this home on this machine, as agents and backends record it
 * @param incarnation 32 hex digits of this process
 * @param home GPUSH_HOME
 */
public record GatewayIdentity(String owner, Holder holder, String incarnation, Path home) {
  /**
   * Whether this gateway holds the gang of an entry, and not another machine that uses the same
   * home.
   */
  public boolean keeps(LedgerEntry entry) {
    return holder.isSame(entry.keeper().holder());
  }

  /** Whether a gang was made by this home, although its ledger does not know it. */
  public boolean hasHeld(Holder other) {
    boolean isThisPlace =
        holder.machine().isPresent()
            && holder.machine().equals(other.machine())
            && withoutHost(holder.words()).equals(withoutHost(other.words()));
    return holder.isSame(other) || isThisPlace;
  }

  /** {@code ann@laptop:/home/ann/.gpush} without the laptop. */
  private static String withoutHost(String words) {
    return words.replaceFirst("@[^:]*:", "@:");
  }
}
