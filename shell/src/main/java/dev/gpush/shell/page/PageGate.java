package dev.gpush.shell.page;

import com.sun.net.httpserver.Headers;
import dev.gpush.core.file.RandomHex;
import dev.gpush.core.task.Clock;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Decides whether a request comes from the page of gpush in a browser of its user. Other users of
 * the machine reach the port, and other sites run in the same browser, so that
 *
 * <ul>
 *   <li>a browser is logged in by a token that works once, and remembered by a cookie;
 *   <li>the host must be a loopback name with the port: a site whose name leads to 127.0.0.1 (DNS
 *       rebinding) has another one;
 *   <li>what reads or changes something needs a header that a page of another origin cannot send
 *       without asking first, which is refused, and must not say that it comes from elsewhere.
 * </ul>
 *
 * Thread-safe.
 */
final class PageGate {
  /** The page's own requests have it. */
  static final String HEADER = "X-Gpush";

  private static final Duration TOKEN_LIFE = Duration.ofMinutes(10);

  /** Addresses that were printed and not opened; the oldest is forgotten. */
  private static final int MOST_TOKENS = 16;

  /** Browsers that are logged in; the oldest has to log in again. */
  private static final int MOST_COOKIES = 16;

  private static final int SECRET_BYTES = 32;

  private final int port;
  private final Clock clock;
  private final SecureRandom random;

  // guarded by this
  private final Map<String, Long> tokens = new LinkedHashMap<>();
  private final Set<String> cookies = new LinkedHashSet<>();

  PageGate(int port, Clock clock, SecureRandom random) {
    this.port = port;
    this.clock = clock;
    this.random = random;
  }

  synchronized String token() {
    String token = secret();
    tokens.put(token, clock.nanos());
    if (tokens.size() > MOST_TOKENS) {
      tokens.remove(tokens.keySet().iterator().next());
    }
    return token;
  }

  /** The cookie for a browser that has a token; the token works no more. */
  synchronized Optional<String> logIn(String token) {
    Optional<String> known = tokens.keySet().stream().filter(each -> same(each, token)).findFirst();
    Optional<Long> made = known.map(tokens::remove);
    if (made.isEmpty() || clock.nanos() - made.get() > TOKEN_LIFE.toNanos()) {
      return Optional.empty();
    }
    String cookie = secret();
    cookies.add(cookie);
    if (cookies.size() > MOST_COOKIES) {
      cookies.remove(cookies.iterator().next());
    }
    return Optional.of(cookieName() + "=" + cookie + "; Path=/; HttpOnly; SameSite=Strict");
  }

  /** A request under another name than the page's. */
  Optional<PageRefusal> refusesHost(Headers headers) {
    List<String> hosts = headers.getOrDefault("Host", List.of());
    boolean isOwn = hosts.size() == 1 && names().contains(hosts.getFirst());
    return isOwn ? Optional.empty() : Optional.of(PageRefusal.OTHER_HOST);
  }

  /** A request that another page of the browser has made; its host is known to be right. */
  Optional<PageRefusal> refusesSite(Headers headers, boolean needsOrigin) {
    String own = "http://" + headers.getFirst("Host");
    List<String> origins = headers.getOrDefault("Origin", List.of());
    boolean isOwn =
        origins.isEmpty() ? !needsOrigin : origins.stream().allMatch(each -> each.equals(own));
    boolean isFromHere =
        headers.getOrDefault("Sec-Fetch-Site", List.of()).stream()
            .allMatch(each -> each.equals("same-origin"));
    return isOwn && isFromHere && headers.containsKey(HEADER)
        ? Optional.empty()
        : Optional.of(PageRefusal.OTHER_SITE);
  }

  /** A browser that has no cookie of this gateway. */
  synchronized Optional<PageRefusal> refusesCookie(Headers headers) {
    // Another server of this machine can set a cookie of this name, too: any of them may be ours.
    boolean isKnown =
        headers.getOrDefault("Cookie", List.of()).stream()
            .flatMap(line -> Arrays.stream(line.split(";", -1)))
            .map(String::strip)
            .filter(each -> each.startsWith(cookieName() + "="))
            .map(each -> each.substring(cookieName().length() + 1))
            .anyMatch(value -> cookies.stream().anyMatch(each -> same(each, value)));
    return isKnown ? Optional.empty() : Optional.of(PageRefusal.NO_LOGIN);
  }

  private List<String> names() {
    return List.of("127.0.0.1:" + port, "localhost:" + port);
  }

  /** Browsers send a cookie to all ports of a host: gateways of two homes must not mix theirs. */
  private String cookieName() {
    return "gpush-" + port;
  }

  private String secret() {
    return RandomHex.of(random, SECRET_BYTES);
  }

  /** Takes as long whatever differs. */
  private static boolean same(String one, String other) {
    return MessageDigest.isEqual(
        one.getBytes(StandardCharsets.UTF_8), other.getBytes(StandardCharsets.UTF_8));
  }
}
