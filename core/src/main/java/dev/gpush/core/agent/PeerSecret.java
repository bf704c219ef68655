package dev.gpush.core.agent;

import dev.gpush.core.json.Json;
import java.security.SecureRandom;
import java.util.HexFormat;

/**
 * What the agents of one gang, and nobody else, know: made when the gang is reserved, given to each
 * agent on its stdin, and kept nowhere. docs/technical/link.md section 8.
 */
public final class PeerSecret {
  private static final int BYTES = 32;

  private final String hex;

  private PeerSecret(String hex) {
    this.hex = hex;
  }

  public static PeerSecret random(SecureRandom random) {
    byte[] bytes = new byte[BYTES];
    random.nextBytes(bytes);
    return new PeerSecret(HexFormat.of().formatHex(bytes));
  }

  /** The {@code peers} part of an agent's start, in a gang whose nodes are all on one host. */
  public Json.Obj onSameHost() {
    return Json.object("key", hex, "node0", "same-host");
  }

  /**
   * The same where nodes are hosts of their own: node 0 listens at a port that it chooses, and the
   * others are told later where.
   */
  public Json.Obj onHosts() {
    return Json.object("key", hex, "listen", Json.object("host", "0.0.0.0", "port", 0));
  }

  /** What the other nodes are told then: where node 0 listens. */
  public static Json.Obj nodeZero(String host, int port) {
    return Json.object("node0", Json.object("host", host, "port", port));
  }
}
