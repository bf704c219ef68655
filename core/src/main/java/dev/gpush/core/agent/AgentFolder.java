package dev.gpush.core.agent;

import dev.gpush.core.gang.GangId;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** Where an agent is found on its node: docs/technical/link.md section 1. */
public final class AgentFolder {
  private static final int NAME_BYTES = 6;

  private AgentFolder() {}

  /** The name of the folder with its socket, in the user's own folder there. */
  public static String name(GangId gang, int node) {
    try {
      byte[] hash =
          MessageDigest.getInstance("SHA-256")
              .digest((gang.text() + "/" + node).getBytes(StandardCharsets.UTF_8));
      return HexFormat.of().formatHex(hash, 0, NAME_BYTES);
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
