package dev.gpush.backends.kubernetes.api;

import java.net.InetAddress;
import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * The HTTP proxy before an API server, as kubectl chooses it: the {@code proxy-url} of the
 * kubeconfig, else the one of the environment, unless {@code NO_PROXY} names the server. The
 * library reads the environment for some kubeconfigs only, prefers it there to {@code proxy-url},
 * and takes no {@code http://} of a {@code proxy-url} for an {@code https://} server.
 *
 * @param origin where the user has set it
 * @param text as it is there, perhaps with a password
 */
record ClusterProxy(String origin, String text) {
  private static final String IN_FILE = "proxy-url";

  private static final Map<String, Integer> USUAL_PORTS =
      Map.of("http", 80, "https", 443, "socks5", 1080);

  static Optional<ClusterProxy> of(
      URI server, Optional<String> proxyUrl, Map<String, String> environment) {
    if (proxyUrl.isPresent()) {
      return proxyUrl.map(text -> new ClusterProxy(IN_FILE, text));
    }
    if (isDirect(server, named(environment, "NO_PROXY").map(ClusterProxy::text).orElse(""))) {
      return Optional.empty();
    }
    return named(environment, isHttps(server) ? "HTTPS_PROXY" : "HTTP_PROXY");
  }

  private static Optional<ClusterProxy> named(Map<String, String> environment, String name) {
    return Stream.of(name, name.toLowerCase(Locale.ROOT))
        .map(each -> new ClusterProxy(each, environment.getOrDefault(each, "")))
        .filter(each -> !each.text.isEmpty())
        .findFirst();
  }

  /** With a scheme and a port, which the library needs; empty: it is no address of a proxy. */
  Optional<String> address() {
    try {
      var address = new URI(text.contains("://") ? text : "http://" + text);
      String scheme = address.getScheme().toLowerCase(Locale.ROOT).replace("socks5h", "socks5");
      if (address.getHost() == null || !USUAL_PORTS.containsKey(scheme)) {
        return Optional.empty();
      }
      String user = Optional.ofNullable(address.getRawUserInfo()).map(it -> it + "@").orElse("");
      int port = address.getPort() < 0 ? USUAL_PORTS.getOrDefault(scheme, 0) : address.getPort();
      return Optional.of(scheme + "://" + user + address.getHost() + ":" + port);
    } catch (URISyntaxException withPassword) {
      return Optional.empty();
    }
  }

  /** What to do when it is no address. */
  String remedy() {
    return origin.equals(IN_FILE)
        ? "kubectl config view"
        : "export " + origin + "=http://HOST:PORT; gpush gateway stop";
  }

  private static boolean isHttps(URI server) {
    return "https".equalsIgnoreCase(server.getScheme());
  }

  // ---- NO_PROXY

  private static boolean isDirect(URI server, String noProxy) {
    String host = bare(Optional.ofNullable(server.getHost()).orElse(""));
    int port = server.getPort() >= 0 ? server.getPort() : isHttps(server) ? 443 : 80;
    Optional<InetAddress> address = address(host);
    boolean isHere =
        host.equals("localhost") || address.map(InetAddress::isLoopbackAddress).orElse(false);
    return isHere
        || Stream.of(noProxy.split(",", -1))
            .map(entry -> entry.strip().toLowerCase(Locale.ROOT))
            .anyMatch(entry -> names(entry, host, port, address));
  }

  private static boolean names(String entry, String host, int port, Optional<InetAddress> address) {
    int slash = entry.indexOf('/');
    if (entry.isEmpty() || entry.equals("*")) {
      return !entry.isEmpty();
    }
    if (slash >= 0) {
      return address.isPresent()
          && isWithin(address.get(), entry.substring(0, slash), entry.substring(slash + 1));
    }
    // Two colons are an address of IPv6, unless it is in brackets.
    int colon = entry.lastIndexOf(':');
    boolean hasPort = colon > 0 && (entry.indexOf(':') == colon || entry.charAt(colon - 1) == ']');
    if (hasPort && !entry.substring(colon + 1).equals(String.valueOf(port))) {
      return false;
    }
    String name = bare(hasPort ? entry.substring(0, colon) : entry);
    Optional<InetAddress> named = address(name);
    if (named.isPresent()) {
      return named.equals(address);
    }
    String domain = name.startsWith("*.") ? name.substring(1) : name;
    return domain.startsWith(".")
        ? host.endsWith(domain)
        : host.equals(domain) || host.endsWith("." + domain);
  }

  /** Whether the first bits of both are the same. */
  private static boolean isWithin(InetAddress address, String network, String bits) {
    Optional<InetAddress> first = address(network);
    if (first.isEmpty() || !bits.matches("[0-9]{1,3}")) {
      return false;
    }
    byte[] one = address.getAddress();
    byte[] other = first.get().getAddress();
    int length = Integer.parseInt(bits);
    if (one.length != other.length || length > 8 * one.length) {
      return false;
    }
    for (int bit = 0; bit < length; bit++) {
      if ((((one[bit / 8] ^ other[bit / 8]) >> (7 - bit % 8)) & 1) != 0) {
        return false;
      }
    }
    return true;
  }

  /** In lower case and without the brackets of IPv6. */
  private static String bare(String host) {
    String lower = host.toLowerCase(Locale.ROOT);
    return lower.startsWith("[") && lower.endsWith("]")
        ? lower.substring(1, lower.length() - 1)
        : lower;
  }

  /** Only of a number: no name is looked up. */
  private static Optional<InetAddress> address(String host) {
    try {
      return Optional.of(InetAddress.ofLiteral(host));
    } catch (IllegalArgumentException name) {
      return Optional.empty();
    }
  }
}
