package dev.gpush.shell.page;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.control.server.Handler;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.core.task.Task;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.Desk;
import dev.gpush.shell.command.FakeInvocation;
import dev.gpush.shell.top.TopFixture;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.net.StandardSocketOptions;
import java.net.URI;
import java.nio.channels.Channels;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/** What the page's server answers, and to whom it does not; a browser is in PageIT. */
@Execution(ExecutionMode.CONCURRENT)
final class PageServerTest {
  private static final String DOWN = "{\"do\":\"down\",\"session\":\"devbox\"}";

  private final Desk desk = new Desk();
  private final ChangeSignal changes = new ChangeSignal();
  private final LinkedBlockingQueue<Throwable> bugs = new LinkedBlockingQueue<>();
  private final Tasks tasks = Tasks.named("test", (_, bug) -> bugs.add(bug));
  private final Path folder;
  private final PageServer server;

  PageServerTest(@TempDir Path folder) {
    this.folder = folder;
    this.server = server();
    desk.sessions.add("devbox", Desk.PROJECT, 2, GpuRequest.none());
    desk.runs.add(7, "running", Optional.empty(), "train.py", "--lr", "3e-4");
  }

  private PageServer server() {
    return server(desk.handler);
  }

  private PageServer server(Handler handler) {
    return new PageServer(
        new PageCommands(handler, Desk.PROJECT, changes),
        folder.resolve("page.html"),
        desk.clock,
        new SecureRandom(),
        tasks);
  }

  @AfterEach
  void end() {
    server.close();
    tasks.close();
    assertEquals(List.of(), List.copyOf(bugs));
    assertEquals(List.of(), desk.bugs);
  }

  private static void refuses(PageRefusal refusal, String answer) {
    assertTrue(answer.startsWith("HTTP/1.1 " + refusal.status() + " "), answer);
    assertTrue(answer.endsWith(refusal.sentence()), answer);
  }

  private static String accepted(String answer) {
    assertTrue(answer.startsWith("HTTP/1.1 200 "), answer);
    return answer;
  }

  /** What a browser sees of a stream. */
  private record Watched(Socket socket, BufferedReader lines, Deque<Json> others)
      implements AutoCloseable {
    static Watched of(Browser browser, String query) throws IOException {
      // Of the older version, the body is sent as it is, not in chunks.
      Socket socket = browser.begin("GET /live" + query + " HTTP/1.0", "");
      return new Watched(
          socket,
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8)),
          new ArrayDeque<>());
    }

    /** The next line of this kind; kinds come in any order, and those of the others stay. */
    Json next(String of, Predicate<Json> isMeant) throws IOException {
      for (Json said : List.copyOf(others)) {
        if (said.text("of").orElse("").equals(of)) {
          others.remove(said);
          if (isMeant.test(said)) {
            return said;
          }
        }
      }
      while (true) {
        String line = Optional.ofNullable(lines.readLine()).orElseThrow();
        if (line.startsWith("{")) {
          Json said = Json.parse(line);
          boolean isOfKind = said.text("of").orElse("").equals(of);
          if (isOfKind && isMeant.test(said)) {
            return said;
          }
          if (!isOfKind) {
            others.add(said);
          }
        }
      }
    }

    Json next(String of) throws IOException {
      return next(of, _ -> true);
    }

    @Override
    public void close() throws IOException {
      socket.close();
    }
  }

  private Json printed(String line) {
    FakeInvocation client = desk.client(line);
    assertEquals(0, desk.call(client));
    return Json.parse(client.both());
  }

  @Test
  void showsWhatTheCommandsPrint() throws Exception {
    desk.runs.readings.add(
        List.of(
            TopFixture.reading(
                0, Optional.of(TopFixture.node(List.of(), List.of())), Duration.ZERO, "up", "")));
    var browser = Browser.loggedIn(server.open());

    try (var watched = Watched.of(browser, "?session=devbox&run=7&usage=1")) {
      Json sessions = watched.next("sessions");
      Json usage = watched.next("usage", said -> said.get("data").isPresent());

      assertEquals(printed("gpush ps --json"), sessions.get("data").orElseThrow());
      assertEquals("devbox", usage.get("data").orElseThrow().text("session").orElse(""));
    }
    try (var watched = Watched.of(browser, "?session=devbox&run=7")) {
      assertEquals(
          printed("gpush nodes -s devbox --json"), watched.next("nodes").get("data").orElseThrow());
      assertEquals(
          printed("gpush runs -s devbox --json"), watched.next("runs").get("data").orElseThrow());
    }
    try (var watched = Watched.of(browser, "?session=devbox&run=7")) {
      Json output = watched.next("output");

      assertEquals(
          "hello", output.get("data").orElseThrow().items().getFirst().text("text").orElse(""));
    }
  }

  @Test
  void showsWhatChanges() throws Exception {
    try (var watched = Watched.of(Browser.loggedIn(server.open()), "?session=devbox")) {
      watched.next("runs");

      desk.runs.add(8, "running", Optional.empty(), "again.py");
      changes.signal();

      watched.next("runs", said -> said.get("data").orElseThrow().items().size() == 2);
    }
  }

  @Test
  void saysWhyThereIsNothingToShow() throws Exception {
    try (var watched = Watched.of(Browser.loggedIn(server.open()), "?session=other")) {
      Json nodes = watched.next("nodes");

      assertTrue(nodes.text("problem").orElse("").contains("no session 'other'"), nodes.write());
    }
  }

  @Test
  void samplesOnlyWhileAPageShowsIt() throws Exception {
    var browser = Browser.loggedIn(server.open());
    try (var watched = Watched.of(browser, "?session=devbox")) {
      watched.next("runs");
      assertEquals(List.of(), desk.runs.sampled);
    }
    try (var watched = Watched.of(browser, "?session=devbox&usage=1")) {
      watched.next("runs");
      while (desk.runs.sampled.isEmpty()) {
        changes.signal();
        watched.next("sessions");
      }
    }
    // A connection that was closed is noticed by what is sent.
    try (var other = Watched.of(browser, "")) {
      while (!desk.runs.sampled.contains("closed")) {
        changes.signal();
        other.next("sessions");
      }
    }
    assertEquals(List.of("devbox PT2S", "closed"), desk.runs.sampled);
  }

  /** It has no backlog: of what was not read, the last lines are kept, and counted. */
  @Test
  void keepsTheLastLinesOfMuchOutput() throws Exception {
    int more = 5000;
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    desk.runs.output =
        to -> {
          for (int i = 0; i < PageStream.MOST_LINES + more; i++) {
            to.line(0, 0, false, ("line " + i).getBytes(StandardCharsets.UTF_8));
          }
        };

    long seen = 0;
    var last = new ArrayList<String>();
    try (var watched = Watched.of(Browser.loggedIn(server.open()), "?session=devbox&run=7")) {
      while (seen < PageStream.MOST_LINES + more) {
        Json output = watched.next("output");
        List<Json> lines = output.get("data").orElseThrow().items();
        seen += output.number("left_out").orElse(0L) + lines.size();
        assertTrue(lines.size() <= PageStream.MOST_LINES);
        last.add(lines.getLast().text("text").orElse(""));
      }
    }

    assertEquals("line " + (PageStream.MOST_LINES + more - 1), last.getLast());
  }

  /** The page then asks again, from the start. */
  @Test
  void endsWhenOutputStopsBeforeItsRunHasEnded() throws Exception {
    desk.runs.output =
        to -> {
          to.line(0, 0, false, "step 1".getBytes(StandardCharsets.UTF_8));
          throw new GpushException(new GatewayFailure.PageUnavailable("the link is down"));
        };

    try (var watched = Watched.of(Browser.loggedIn(server.open()), "?session=devbox&run=7")) {
      // It has an end.
      assertFalse(watched.lines().lines().anyMatch(line -> line.contains("\"type\":\"end\"")));
    }
  }

  @Test
  void endsWithTheGateway() throws Exception {
    try (var watched = Watched.of(Browser.loggedIn(server.open()), "")) {
      watched.next("sessions");

      server.close();

      long lines = watched.lines().lines().filter(line -> line.startsWith("{")).count();
      assertEquals(0, lines);
    }
  }

  @Test
  void refusesAnotherUserWithoutAToken() throws Exception {
    var another = new Browser(server.open().getPort());

    refuses(PageRefusal.NO_LOGIN, another.get("/"));
    refuses(PageRefusal.NO_LOGIN, another.get("/live"));
    refuses(PageRefusal.NO_LOGIN, another.act(DOWN));
    another.cookie = "gpush-" + another.port + "=" + "0".repeat(64);
    refuses(PageRefusal.NO_LOGIN, another.get("/live"));
    refuses(PageRefusal.USED_TOKEN, another.get("/?token=" + "0".repeat(64)));
    refuses(PageRefusal.USED_TOKEN, another.get("/?token="));
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void refusesATokenInAnAddressThatIsOpenedTwice() throws Exception {
    URI address = server.open();
    var first = Browser.loggedIn(address);
    var second = new Browser(address.getPort());

    refuses(PageRefusal.USED_TOKEN, second.get("/?" + address.getQuery()));
    String again = first.get("/?" + address.getQuery());
    assertTrue(again.startsWith("HTTP/1.1 303 "), again);
    assertTrue(again.contains("Location: /\r\n"), again);
    accepted(first.get("/"));
  }

  /** The other users of the machine see each command line, and no file of the home. */
  @Test
  void leadsABrowserByAFileOfTheUserAlone() throws Exception {
    URI address = server.open();

    Path file = server.file(address);

    assertTrue(Files.readString(file).contains("content=\"0; url=" + address + "\""));
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    server.file(server.open());
    assertFalse(Files.readString(file).contains(address.toString()));
  }

  @Test
  void opensNothingAfterItsEnd() {
    server.close();

    assertThrows(GpushException.class, server::open);
  }

  @Test
  void refusesATokenThatIsOld() throws Exception {
    URI address = server.open();
    desk.clock.advance(Duration.ofMinutes(11));

    refuses(PageRefusal.USED_TOKEN, new Browser(address.getPort()).get("/?" + address.getQuery()));
  }

  /** So it is in no bookmark, no history and no picture of the screen. */
  @Test
  void takesTheTokenOutOfTheAddress() throws Exception {
    URI address = server.open();

    String answer = accepted(new Browser(address.getPort()).get("/?" + address.getQuery()));

    assertTrue(answer.contains("content=\"0; url=/\""), answer);
    assertTrue(answer.contains("HttpOnly; SameSite=Strict"), answer);
    assertFalse(answer.contains(address.getQuery()), answer);
  }

  @Test
  void refusesAnotherSiteOfTheSameBrowser() throws Exception {
    var browser = Browser.loggedIn(server.open());
    String down = DOWN;

    for (String site : List.of("cross-site", "same-site", "none")) {
      browser.site = site;
      refuses(PageRefusal.OTHER_SITE, browser.act(down));
      refuses(PageRefusal.OTHER_SITE, browser.get("/live"));
    }
    browser.site = "";
    for (String origin : List.of("https://evil.example", "http://127.0.0.1:8888", "null", "")) {
      browser.origin = origin;
      refuses(PageRefusal.OTHER_SITE, browser.act(down));
    }
    browser.origin = "http://" + browser.host;
    browser.header = "Content-Type: application/x-www-form-urlencoded";
    refuses(PageRefusal.OTHER_SITE, browser.act(down));
    assertEquals(List.of(), desk.sessions.calls);
    // What asks for leave to send the header gets none.
    browser.header = "Access-Control-Request-Headers: x-gpush";
    String answer = browser.request("OPTIONS /do", "");
    refuses(PageRefusal.WRONG_METHOD, answer);
    assertFalse(answer.contains("Access-Control"), answer);
  }

  /** A name of another site that leads to 127.0.0.1: its pages and ours would be one origin. */
  @Test
  void refusesAHostThatOnlyLeadsHere() throws Exception {
    var browser = Browser.loggedIn(server.open());
    for (String host :
        List.of(
            "evil.example:" + browser.port,
            "127.0.0.1",
            "127.0.0.1:1",
            "127.0.0.1.evil.example:" + browser.port,
            "127.0.0.1:" + browser.port + "\r\nHost: evil.example:" + browser.port,
            "")) {
      browser.host = host;
      browser.origin = "http://" + host.lines().findFirst().orElse("");
      for (String path : List.of("/", "/live", "/page.js", "/?token=" + "0".repeat(64))) {
        String answer = browser.get(path);
        assertFalse(answer.startsWith("HTTP/1.1 200"), answer);
        assertFalse(answer.contains("Set-Cookie"), answer);
      }
    }
    browser.host = "localhost:" + browser.port;
    browser.origin = "http://" + browser.host;
    accepted(browser.get("/"));
  }

  @Test
  void saysWhatToDoWithACookieOfAGatewayThatHasEnded() throws Exception {
    var browser = Browser.loggedIn(server.open());
    try (PageServer next = server()) {
      var later = new Browser(next.open().getPort());
      later.cookie = browser.cookie.replace("gpush-" + browser.port, "gpush-" + later.port);

      String answer = later.get("/");

      refuses(PageRefusal.NO_LOGIN, answer);
      assertTrue(answer.contains("Sessions and runs go on. Type gpush gateway page"), answer);
      later.header = "Accept: text/html,application/xhtml+xml";
      String page = later.get("/");
      assertTrue(page.contains("<p role=\"alert\">" + PageRefusal.NO_LOGIN.sentence()), page);
    }
  }

  @Test
  void refusesWrongMethodsAndAddresses() throws Exception {
    var browser = Browser.loggedIn(server.open());

    for (String line : List.of("POST /", "HEAD /", "PUT /do", "DELETE /live", "GET /do")) {
      String answer = browser.request(line, "");
      assertTrue(answer.startsWith("HTTP/1.1 405 "), line + ": " + answer);
    }
    for (String path : List.of("/other", "/page.html", "/../etc/passwd", "/page.js/..", "//do")) {
      String answer = browser.get(path);
      assertTrue(answer.startsWith("HTTP/1.1 404 "), path + ": " + answer);
    }
    refuses(PageRefusal.MALFORMED, browser.get("/live?session=../etc"));
    refuses(PageRefusal.MALFORMED, browser.get("/live?session=devbox&run=seven"));
  }

  @Test
  void refusesHugeRequests() throws Exception {
    var browser = Browser.loggedIn(server.open());

    refuses(PageRefusal.TOO_LARGE, browser.act("x".repeat(PageServer.MOST_BYTES + 1)));
    browser.header = "X-Gpush: " + "x".repeat(100_000);
    assertFalse(isServed(browser, "GET /live"));
    browser.header = "X-Gpush: page" + "\r\nX: y".repeat(1000);
    assertFalse(isServed(browser, "GET /live"));
    browser.header = "X-Gpush: page";
    assertFalse(isServed(browser, "GET /?" + "x".repeat(1_000_000)));
    accepted(browser.get("/"));
  }

  /** A connection that is closed while it sends is an answer, too. */
  private static boolean isServed(Browser browser, String line) {
    try {
      return browser.request(line, "").startsWith("HTTP/1.1 200");
    } catch (IOException closed) {
      return false;
    }
  }

  /** Of one that stops in its head, and of one whose body never comes. It takes five seconds. */
  @Test
  @Tag("local")
  void closesConnectionsOfSlowRequests() throws Exception {
    var browser = Browser.loggedIn(server.open());

    try (Socket head = browser.raw("GET /live HTTP/1.1\r\nHost: 127");
        Socket body = browser.raw(slowBody(browser))) {
      assertTrue(isClosed(head));
      assertTrue(isClosed(body));
    }
    accepted(browser.get("/"));
  }

  private static String slowBody(Browser browser) {
    return ("POST /do HTTP/1.1\r\nHost: %s\r\nOrigin: %s\r\nX-Gpush: page\r\nCookie: %s\r\n"
            + "Content-Length: 10\r\n\r\n{")
        .formatted(browser.host, browser.origin, browser.cookie);
  }

  private static boolean isClosed(Socket socket) {
    try {
      return socket.getInputStream().read() < 0;
    } catch (SocketTimeoutException stillOpen) {
      return false;
    } catch (IOException reset) {
      return true;
    }
  }

  @Test
  void refusesMorePagesThanItServes() throws Exception {
    var browser = Browser.loggedIn(server.open());
    var open = new ArrayList<Watched>();
    try {
      for (int i = 0; i < PageServer.MOST_STREAMS; i++) {
        open.add(Watched.of(browser, ""));
      }
      for (Watched each : open) {
        each.next("sessions");
      }

      refuses(PageRefusal.TOO_MANY, browser.get("/live"));
      accepted(browser.get("/"));
    } finally {
      for (Watched each : open) {
        each.close();
      }
    }
  }

  @Test
  void asksBeforeRunsAndFilesAreLost() throws Exception {
    String running = "run 7 (train.py) is in progress on devbox; stop it and give the nodes back?";
    String files = "3 files, 14 GB, exist only on the nodes of devbox; give the nodes back?";
    desk.sessions.runInProgress = Optional.of(running);
    desk.sessions.questionOnDown = Optional.of(files);
    var browser = Browser.loggedIn(server.open());

    Json first = answer(browser, DOWN);
    Json second = answer(browser, reply(first, true));
    // A yes to the question before, sent again, is no yes to this one.
    refuses(PageRefusal.NOT_ASKED, browser.act(reply(first, true)));
    assertEquals(List.of(), desk.sessions.calls);
    Json third = answer(browser, reply(second, true));

    assertEquals(Optional.of(running), first.text("question"));
    assertEquals(Optional.of(files), second.text("question"));
    assertTrue(third.flag("done"), third.write());
    assertEquals("devbox is given back", third.text("said").orElse(""));
    assertEquals(List.of("down devbox"), desk.sessions.calls);
    refuses(PageRefusal.NOT_ASKED, browser.act(reply(second, true)));
  }

  @Test
  void aNoEndsNothing() throws Exception {
    desk.sessions.questionOnDown = Optional.of("3 files exist only there; give them back?");
    var browser = Browser.loggedIn(server.open());

    Json asked = answer(browser, DOWN);
    Json declined = answer(browser, reply(asked, false));

    assertFalse(declined.flag("done"));
    assertEquals(Optional.empty(), declined.text("question"));
    refuses(PageRefusal.NOT_ASKED, browser.act(reply(asked, true)));
    assertEquals(List.of(), desk.sessions.calls);
  }

  @Test
  void aQuestionWithoutAnAnswerEndsNothing() throws Exception {
    desk.sessions.questionOnDown = Optional.of("3 files exist only there; give them back?");
    var conversation = new PageConversation(1, Duration.ofNanos(1));

    conversation.run(
        new PageCommands(desk.handler, Desk.PROJECT, changes), List.of("down", "devbox"));

    assertEquals(desk.sessions.questionOnDown, conversation.next().text("question"));
    Json end = conversation.next();
    assertFalse(end.flag("done"));
    assertTrue(end.text("said").orElse("").contains("--discard"), end.write());
    assertFalse(conversation.answer(1, true));
    assertEquals(List.of(), desk.sessions.calls);
  }

  /** An open question holds no other build of the gateway back, and a command does. */
  @Test
  void isInUseByACommandThatDoesNotAsk() throws Exception {
    var isWorking = new CountDownLatch(1);
    var end = new CountDownLatch(1);
    Handler slow =
        client -> {
          client.ask("give it back? [y/N] ", false);
          isWorking.countDown();
          end.await();
          return 0;
        };
    try (PageServer slowly = server(slow)) {
      var browser = Browser.loggedIn(slowly.open());
      Json asked = answer(browser, DOWN);
      assertFalse(slowly.isInUse());

      Task<Json, IOException> ended = tasks.fork("yes", () -> answer(browser, reply(asked, true)));
      isWorking.await();
      assertTrue(slowly.isInUse());
      end.countDown();
      assertTrue(ended.get().flag("done"));
    }
  }

  /** Words and passwords come from a terminal. */
  @Test
  void asksForYesAndNoOnly() throws Exception {
    var client =
        new PageClient(
            List.of("down"),
            Desk.PROJECT,
            OutputStream.nullOutputStream(),
            question -> Optional.of("yes to " + question));

    assertEquals(Optional.of("yes to stop it?"), client.ask("stop it? [y/N] ", false));
    assertEquals(Optional.empty(), client.ask("stop it? [y/N] ", true));
    assertEquals(Optional.empty(), client.ask("your name: ", false));
  }

  /** What is sampled and followed for it would go on for ever. */
  @Test
  void leavesABrowserThatDoesNotRead() throws Exception {
    desk.runs.untilKilled = Optional.of(new CountDownLatch(1));
    desk.runs.output =
        to -> {
          for (int i = 0; i < PageStream.MOST_LINES; i++) {
            to.line(0, 0, false, "x".repeat(500).getBytes(StandardCharsets.UTF_8));
          }
        };
    var commands = new PageCommands(desk.handler, Desk.PROJECT, changes);
    var stream =
        new PageStream(commands, PageView.parse("session=devbox&run=7"), Duration.ofMillis(200));
    try (var listener = ServerSocketChannel.open().bind(new InetSocketAddress("127.0.0.1", 0));
        var browser = SocketChannel.open()) {
      browser.setOption(StandardSocketOptions.SO_RCVBUF, 4096);
      browser.connect(listener.getLocalAddress());
      try (SocketChannel own = listener.accept()) {
        own.setOption(StandardSocketOptions.SO_SNDBUF, 4096);

        assertThrows(IOException.class, () -> stream.copyTo(Channels.newOutputStream(own), tasks));
      }
    }
  }

  @Test
  void refusesMoreOpenQuestionsThanItKeeps() throws Exception {
    desk.sessions.questionOnDown = Optional.of("3 files exist only there; give them back?");
    var browser = Browser.loggedIn(server.open());
    for (int i = 0; i < PageActions.MOST; i++) {
      answer(browser, DOWN);
    }

    refuses(PageRefusal.TOO_MANY, browser.act(DOWN));
  }

  private static String reply(Json asked, boolean isYes) {
    return asked.number("asked").isEmpty()
        ? "{}"
        : Json.object(
                "do",
                "answer",
                "id",
                asked.number("id").orElseThrow(),
                "asked",
                asked.number("asked").orElseThrow(),
                "yes",
                isYes)
            .write();
  }

  private static Json answer(Browser browser, String body) throws IOException {
    String answer = accepted(browser.act(body));
    return Json.parse(answer.substring(answer.indexOf("\r\n\r\n") + 4));
  }

  @Test
  void extendsAndStops() throws Exception {
    var browser = Browser.loggedIn(server.open());

    Json extended = answer(browser, "{\"do\":\"extend\",\"session\":\"devbox\",\"for\":\"2h\"}");
    Json stopped = answer(browser, "{\"do\":\"stop\",\"session\":\"devbox\",\"run\":7}");

    assertTrue(extended.flag("done"), extended.write());
    assertEquals("devbox: 2h, 1h idle left", extended.text("said").orElse(""));
    assertTrue(stopped.text("said").orElse("").startsWith("run 7 is "), stopped.write());
    assertEquals(List.of("extend devbox Optional[PT2H]"), desk.sessions.calls);
    assertEquals(List.of("7 INT 10s"), List.copyOf(desk.runs.stops));
  }

  @Test
  void saysWhyItFailed() throws Exception {
    var browser = Browser.loggedIn(server.open());

    Json said = answer(browser, "{\"do\":\"down\",\"session\":\"other\"}");

    assertFalse(said.flag("done"));
    assertTrue(said.text("said").orElse("").contains("no session 'other'"), said.write());
  }

  @Test
  void doesNothingElse() throws Exception {
    var browser = Browser.loggedIn(server.open());
    for (String body :
        List.of(
            "",
            "{",
            "[]",
            "{\"do\":\"exec\",\"session\":\"devbox\"}",
            "{\"do\":\"run\",\"session\":\"devbox\"}",
            "{\"do\":\"answer\"}",
            "{\"do\":\"down\"}",
            "{\"do\":\"down\",\"session\":\"--discard\"}",
            "{\"do\":\"stop\",\"session\":\"devbox\",\"run\":\"--kill\"}",
            "{\"do\":\"stop\",\"session\":\"devbox\"}")) {
      String answer = browser.act(body);
      assertTrue(answer.startsWith("HTTP/1.1 40"), body + ": " + answer);
    }
    Json said = answer(browser, "{\"do\":\"extend\",\"session\":\"devbox\",\"for\":\"--json\"}");
    assertEquals("devbox: 1h idle left", said.text("said").orElse(""));
  }

  /** The page may use nothing but its own files, and lies in no frame of another page. */
  @Test
  void forbidsTheBrowserEverythingElse() throws Exception {
    var browser = Browser.loggedIn(server.open());
    String page = accepted(browser.get("/"));

    for (String each :
        List.of("default-src 'none'", "script-src 'self'", "frame-ancestors 'none'", "no-store")) {
      assertTrue(page.contains(each), each);
    }
    assertTrue(page.contains("X-content-type-options: nosniff"), page);
    assertFalse(page.contains("style="), "an inline style");
    assertFalse(page.contains("<script>"), "an inline script");
    String script = accepted(browser.get("/page.js"));
    for (String each : List.of("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(")) {
      assertFalse(script.contains(each), each);
    }
  }
}
