package dev.gpush.shell.page;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.talk.GatewayPage;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Resource;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Semaphore;

/**
 * The page in a browser, served on a port of 127.0.0.1 that the system chooses, from the first
 * {@code gpush gateway page} until the gateway ends.
 *
 * <p>The JDK's own server reads requests; its limits are properties of the process. What it does
 * not limit is limited here. Thread-safe.
 */
public final class PageServer implements GatewayPage, AutoCloseable {
  private static final System.Logger LOG = System.getLogger("gpush.page");

  /** The JDK reads them when the first server is made; times are seconds. */
  private static final Map<String, String> LIMITS =
      Map.of(
          // A request on loopback comes at once.
          "sun.net.httpserver.maxReqTime", "5",
          "jdk.httpserver.maxConnections", "64",
          "sun.net.httpserver.maxReqHeaders", "64",
          "sun.net.httpserver.maxReqHeaderSize", "16384");

  private static final int BACKLOG = 16;

  /** Of what the page asks to be done. */
  static final int MOST_BYTES = 4 * 1024;

  /** Pages that are open and visible. */
  static final int MOST_STREAMS = 16;

  /** A browser on this machine takes what is sent at once, if it still reads. */
  private static final Duration SEND_LIMIT = Duration.ofSeconds(30);

  private static final String TEXT = "text/plain; charset=utf-8";
  private static final String HTML = "text/html; charset=utf-8";

  private static final Map<String, String> FILES =
      Map.of(
          "/page.css", "text/css; charset=utf-8",
          "/page.js", "text/javascript; charset=utf-8",
          "/icon.svg", "image/svg+xml");

  private final PageCommands commands;
  private final Path leading;
  private final Clock clock;
  private final SecureRandom random;
  private final Tasks tasks;
  private final Semaphore streams = new Semaphore(MOST_STREAMS);
  private final PageActions actions;

  // guarded by this
  private Optional<Serving> serving = Optional.empty();
  private boolean isClosed;

  private record Serving(HttpServer server, PageGate gate) {}

  /**
   * @param leading the file that leads a browser to the page
   */
  public PageServer(
      PageCommands commands, Path leading, Clock clock, SecureRandom random, Tasks tasks) {
    this.commands = commands;
    this.leading = leading;
    this.clock = clock;
    this.random = random;
    this.tasks = tasks.group("page");
    this.actions = new PageActions(commands, this.tasks);
  }

  @Override
  public URI open() {
    Serving running = serving();
    return URI.create(
        "http://127.0.0.1:"
            + running.server().getAddress().getPort()
            + "/?token="
            + running.gate().token());
  }

  @Override
  public Path file(URI address) {
    try {
      WholeFile.write(leading, leadTo(address.toString()), WholeFile.PRIVATE);
      return leading;
    } catch (IOException failed) {
      throw new GpushException(new GatewayFailure.PageUnavailable(FileReason.of(failed)), failed);
    }
  }

  /** A page that the browser leaves at once. */
  private static String leadTo(String address) {
    return """
        <!doctype html><meta charset="utf-8"><title>gpush</title>
        <meta http-equiv="refresh" content="0; url=%1$s"><a href="%1$s">gpush</a>
        """
        .formatted(address);
  }

  /** Whether a command of a page is in progress; pages that are open do not count. */
  public boolean isInUse() {
    return actions.isInUse();
  }

  private synchronized Serving serving() {
    if (isClosed) {
      throw new GpushException(new GatewayFailure.PageUnavailable("the gateway is ending"));
    }
    if (serving.isEmpty()) {
      try {
        serving = Optional.of(start());
      } catch (IOException failed) {
        throw new GpushException(new GatewayFailure.PageUnavailable(FileReason.of(failed)), failed);
      }
    }
    return serving.get();
  }

  private Serving start() throws IOException {
    LIMITS.forEach(System::setProperty);
    InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
    HttpServer server = HttpServer.create(new InetSocketAddress(loopback, 0), BACKLOG);
    var gate = new PageGate(server.getAddress().getPort(), clock, random);
    server.createContext("/", exchange -> serve(exchange, gate));
    server.setExecutor(request -> tasks.start("request", request::run));
    server.start();
    return new Serving(server, gate);
  }

  private void serve(HttpExchange exchange, PageGate gate) {
    try (exchange) {
      exchange.getResponseHeaders().putAll(fixed());
      Optional<PageRefusal> refusal = answer(exchange, gate);
      if (refusal.isPresent()) {
        refuse(exchange, refusal.get());
      }
    } catch (IOException gone) {
      LOG.log(System.Logger.Level.DEBUG, "a browser left", gone);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException bug) {
      LOG.log(System.Logger.Level.ERROR, "bug, page=" + exchange.getRequestURI().getRawPath(), bug);
    }
  }

  /** For all answers: nothing from elsewhere, in no frame, and nothing is kept. */
  private static Headers fixed() {
    var headers = new Headers();
    headers.set(
        "Content-Security-Policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
            + " connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    headers.set("X-Content-Type-Options", "nosniff");
    headers.set("X-Frame-Options", "DENY");
    headers.set("Referrer-Policy", "no-referrer");
    headers.set("Cross-Origin-Resource-Policy", "same-origin");
    headers.set("Cross-Origin-Opener-Policy", "same-origin");
    headers.set("Cache-Control", "no-store");
    return headers;
  }

  /** Answers, or says why not. */
  private Optional<PageRefusal> answer(HttpExchange exchange, PageGate gate)
      throws IOException, InterruptedException {
    Headers headers = exchange.getRequestHeaders();
    String path = Optional.ofNullable(exchange.getRequestURI().getPath()).orElse("");
    Optional<PageRefusal> host = gate.refusesHost(headers);
    if (host.isPresent()) {
      return host;
    }
    boolean isAction = path.equals("/do");
    boolean isStream = path.equals("/live");
    if (!isAction && !isStream && !path.equals("/") && !FILES.containsKey(path)) {
      return Optional.of(PageRefusal.NOT_FOUND);
    }
    if (!exchange.getRequestMethod().equals(isAction ? "POST" : "GET")) {
      exchange.getResponseHeaders().set("Allow", isAction ? "POST" : "GET");
      return Optional.of(PageRefusal.WRONG_METHOD);
    }
    if (FILES.containsKey(path)) {
      send(exchange, 200, FILES.get(path), Resource.bytes(PageServer.class, path.substring(1)));
      return Optional.empty();
    }
    if (path.equals("/")) {
      return page(exchange, gate);
    }
    Optional<PageRefusal> refusal =
        gate.refusesSite(headers, isAction).or(() -> gate.refusesCookie(headers));
    if (refusal.isPresent()) {
      return refusal;
    }
    return isAction ? act(exchange) : stream(exchange);
  }

  /** Logs a browser in that has a token, and takes the token out of its address. */
  private static Optional<PageRefusal> page(HttpExchange exchange, PageGate gate)
      throws IOException {
    Optional<String> token =
        query(exchange).flatMap(query -> Optional.ofNullable(query.get("token")));
    if (token.isEmpty()) {
      Optional<PageRefusal> refusal = gate.refusesCookie(exchange.getRequestHeaders());
      if (refusal.isEmpty()) {
        send(exchange, 200, HTML, Resource.bytes(PageServer.class, "page.html"));
      }
      return refusal;
    }
    Optional<String> cookie = gate.logIn(token.get());
    if (cookie.isPresent()) {
      exchange.getResponseHeaders().set("Set-Cookie", cookie.get());
      // Not by a redirect: one that a file began brings no strict cookie.
      send(exchange, 200, HTML, leadTo("/").getBytes(StandardCharsets.UTF_8));
      return Optional.empty();
    }
    if (gate.refusesCookie(exchange.getRequestHeaders()).isPresent()) {
      return Optional.of(PageRefusal.USED_TOKEN);
    }
    exchange.getResponseHeaders().set("Location", "/");
    exchange.sendResponseHeaders(303, -1);
    return Optional.empty();
  }

  private static Optional<Map<String, String>> query(HttpExchange exchange) {
    try {
      return Optional.ofNullable(exchange.getRequestURI().getRawQuery()).map(PageView::fields);
    } catch (IllegalArgumentException malformed) {
      return Optional.empty();
    }
  }

  private Optional<PageRefusal> stream(HttpExchange exchange)
      throws IOException, InterruptedException {
    PageView view;
    try {
      view = PageView.parse(Optional.ofNullable(exchange.getRequestURI().getRawQuery()).orElse(""));
    } catch (GpushException | IllegalArgumentException malformed) {
      return Optional.of(PageRefusal.MALFORMED);
    }
    if (!streams.tryAcquire()) {
      return Optional.of(PageRefusal.TOO_MANY);
    }
    try {
      exchange.getResponseHeaders().set("Content-Type", "application/x-ndjson");
      exchange.sendResponseHeaders(200, 0);
      new PageStream(commands, view, SEND_LIMIT).copyTo(exchange.getResponseBody(), tasks);
    } finally {
      streams.release();
    }
    return Optional.empty();
  }

  private Optional<PageRefusal> act(HttpExchange exchange)
      throws IOException, InterruptedException {
    byte[] body = exchange.getRequestBody().readNBytes(MOST_BYTES + 1);
    if (body.length > MOST_BYTES) {
      return Optional.of(PageRefusal.TOO_LARGE);
    }
    return switch (actions.act(new String(body, StandardCharsets.UTF_8))) {
      case PageActions.Answer.Said(var json) -> {
        send(exchange, 200, "application/json", json.write().getBytes(StandardCharsets.UTF_8));
        yield Optional.empty();
      }
      case PageActions.Answer.Refused(var refusal) -> Optional.of(refusal);
    };
  }

  /** As a page for a person who opened an address, else as the sentence alone. */
  private static void refuse(HttpExchange exchange, PageRefusal refusal) throws IOException {
    exchange.getResponseHeaders().set("Connection", "close");
    boolean isOpened =
        exchange.getRequestHeaders().getOrDefault("Accept", List.of()).stream()
            .anyMatch(each -> each.contains("text/html"));
    byte[] sentence = refusal.sentence().getBytes(StandardCharsets.UTF_8);
    if (!isOpened) {
      send(exchange, refusal.status(), TEXT, sentence);
      return;
    }
    String page = Resource.text(PageServer.class, "refused.html");
    send(
        exchange,
        refusal.status(),
        HTML,
        page.replace("SENTENCE", refusal.sentence()).getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] body)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    boolean hasBody = !exchange.getRequestMethod().equals("HEAD");
    exchange.sendResponseHeaders(status, hasBody ? body.length : -1);
    if (hasBody) {
      exchange.getResponseBody().write(body);
    }
  }

  /** Ends all streams, interrupts commands in progress, and waits until they have ended. */
  @Override
  public void close() {
    Optional<Serving> ending;
    synchronized (this) {
      ending = serving;
      serving = Optional.empty();
      isClosed = true;
    }
    tasks.close();
    ending.ifPresent(each -> each.server().stop(0));
  }
}
