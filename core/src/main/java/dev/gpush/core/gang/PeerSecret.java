package dev.gpush.core.gang;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.json.Json;
import java.security.SecureRandom;

/**
 * The secret that only the agents of one gang know: made when the gang is reserved, given to each
 * agent on its stdin, and stored nowhere. docs/technical/link.md section 8.
 */
public final class PeerSecret {
  private static final int BYTES = 32;

  private final String hex;

  private PeerSecret(String hex) {
    this.hex = hex;
  }

  public static PeerSecret random(SecureRandom random) {
    return new PeerSecret(RandomHex.of(random, BYTES));
  }

  /** The {@code peers} part of an agent's start, in a gang whose nodes are all on one host. */
  public Json.Obj onSameHost() {
    return Json.object("key", hex, "node0", "same-host");
  }

  /**
   * The same where each node is a host: node 0 listens on all its addresses, at a port that it
   * chooses, and the others learn the port later.
   */
  public Json.Obj onHosts() {
    return Json.object("key", hex, "listen", Json.object("host", "::", "port", 0));
  }

  /** Where node 0 listens, for the other nodes. */
  public static Json.Obj nodeZero(String host, int port) {
    return Json.object("node0", Json.object("host", host, "port", port));
  }
}
