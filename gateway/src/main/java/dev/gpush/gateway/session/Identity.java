package dev.gpush.gateway.session;

import dev.gpush.core.session.Holder;
import java.nio.file.Path;

/**
 * Who this gateway is.
 *
 * @param owner who pays; stable over laptops
 * @param holder this home on this machine: which gateway keeps a gang
 * @param incarnation 32 hex digits of this process
 * @param host this machine's name, for people
 * @param boot changes when the machine restarts; empty where it cannot be known
 * @param home GPUSH_HOME
 */
public record Identity(
    String owner, Holder holder, String incarnation, String host, String boot, Path home) {
  /**
   * Whether this home keeps the gang of an entry, as opposed to another machine that has this home.
   */
  boolean keeps(LedgerEntry entry) {
    return holder.isSame(entry.holder()) || isOwnFromBefore(entry);
  }

  /**
   * Whether an entry is this home's, of a gpush that had no ids: its words are the same, or they
   * differ only in the name of the host, which has not been restarted since.
   */
  boolean isOwnFromBefore(LedgerEntry entry) {
    if (entry.holder().id().isPresent() || holder.id().isEmpty()) {
      return false;
    }
    String then = entry.holder().text();
    boolean isSameBoot = !boot.isEmpty() && boot.equals(entry.boot());
    return then.equals(holder.words())
        || (isSameBoot && withoutHost(then).equals(withoutHost(holder.words())));
  }

  /** Whether a gang was held from here, though no ledger of this home knows it. */
  boolean hasHeld(Holder other) {
    boolean isThisPlace =
        holder.machine().isPresent()
            && holder.machine().equals(other.machine())
            && withoutHost(holder.words()).equals(withoutHost(other.words()));
    return holder.isSame(other)
        || isThisPlace
        || (other.id().isEmpty() && other.text().equals(holder.words()));
  }

  /** {@code ann@laptop:/home/ann/.gpush} without the laptop. */
  private static String withoutHost(String words) {
    return words.replaceFirst("@[^:]*:", "@:");
  }
}
