package dev.gpush.gateway.session.live;

import dev.gpush.core.config.Config;
import dev.gpush.core.config.Setting;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The variables that every shell, command, kernel and rank of a session sees, beyond the node's
 * own.
 */
public final class SessionEnvironment {
  private SessionEnvironment() {}

  /** Known before the grant: the configuration's variables and the session's identity. */
  public static Map<String, String> base(Config config, LedgerEntry entry) {
    var variables = new TreeMap<String, String>();
    config.value("env").ifPresent(env -> variables.putAll(env.textMap()));
    variables.put("GPUSH_SESSION", entry.name().text());
    variables.put("PYTHONUNBUFFERED", "1");
    return variables;
  }

  /**
   * Of every rank, and where they come from, as {@code LaunchInput} has them.
   *
   * @param origins of those that are not the client's
   */
  record Variables(Map<String, String> values, Map<String, String> origins) {
    static Variables of(Config config, LiveSession session, Map<String, String> client) {
      var values = new TreeMap<>(base(config, session.entry()));
      var origins = new TreeMap<>(SessionEnvironment.origins(config));
      Map<String, String> inherited = session.backend().capabilities().inherited(client);
      values.putAll(inherited);
      origins.keySet().removeAll(inherited.keySet());
      return new Variables(values, origins);
    }
  }

  /** Where each variable of {@code env} comes from: the file and line. */
  private static Map<String, String> origins(Config config) {
    var origins = new TreeMap<String, String>();
    for (Setting setting : config.settings()) {
      if (setting.key().equals("env")) {
        setting.value().textMap().keySet().forEach(name -> origins.put(name, setting.origin()));
      }
    }
    return origins;
  }

  /**
   * For a command on a node.
   *
   * @param client the variables of the one who runs it, of which this machine's nodes take some
   */
  public static Map<String, String> onNode(
      LiveSession session, int node, Map<String, String> client) {
    var variables = onNode(session.entry(), session.gang(), session.node(node));
    variables.putAll(session.backend().capabilities().inherited(client));
    return variables;
  }

  /** Known once the gang is granted; takes precedence over {@link #base}. */
  public static Map<String, String> onNode(LedgerEntry entry, Gang gang, NodeInfo node) {
    var variables = new TreeMap<String, String>();
    variables.put("GPUSH_SESSION", entry.name().text());
    variables.put("GPUSH_NODE", Integer.toString(node.index()));
    variables.put("GPUSH_NODES", Integer.toString(gang.nodes().size()));
    variables.put(
        "GPUSH_NODE_ADDRS",
        gang.nodes().stream().map(NodeInfo::address).collect(Collectors.joining(",")));
    variables.put("GPUSH_WORKSPACE", node.workspace());
    return variables;
  }
}
