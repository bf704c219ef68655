package dev.gpush.core.gang;

import dev.gpush.core.file.Sha256;
import dev.gpush.core.json.Json;
import java.util.Map;

/** Where an agent is found on its node: docs/technical/link.md section 1. */
public final class AgentFolder {
  private static final int NAME_BYTES = 6;

  private AgentFolder() {}

  /**
   * A header that lets an agent on the user's own machine keep what it has compiled, for the next
   * one: beside the launcher's caches. Elsewhere nothing may stay.
   *
   * @param environment of the gateway
   */
  public static Json.Obj keepingCompiled(Json.Obj header, Map<String, String> environment) {
    String home = environment.getOrDefault("HOME", "");
    String cache =
        environment.getOrDefault("XDG_CACHE_HOME", home.isEmpty() ? "" : home + "/.cache");
    return cache.startsWith("/") ? header.with("compiled", cache + "/gpush/agent") : header;
  }

  /** The name of the folder with its socket, in the user's own folder there. */
  public static String name(GangId gang, int node) {
    return Sha256.hex(gang.text() + "/" + node, NAME_BYTES);
  }
}
