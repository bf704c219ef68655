package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import dev.gpush.core.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

/**
 * {@code gpush gateway page} in a real browser. With {@code -Dgpush.golden=write} it also writes
 * the pictures of the guide, of a gang that is made up.
 */
@Timeout(600)
@Execution(ExecutionMode.SAME_THREAD)
@Tag("editors")
final class PageIT {
  private static final String LOOP =
      """
      import itertools, time
      for step in itertools.count():
          print("step", step, flush=True)
          time.sleep(0.2)
      """;

  /** A page of another site that tries what a page can try, and says when it has. */
  private static final String HOSTILE =
      """
      <!doctype html><title>evil</title><form id=f method=post target=hidden action="PAGE/do"
      enctype="text/plain"><input name='{"do":"stop","session":"devbox","run":1,"a":"' value='"}'></form>
      <iframe name=hidden></iframe><iframe id=frame src="PAGE/"></iframe><img src="PAGE/icon.svg">
      <script>
      const body = '{"do":"stop","session":"devbox","run":1}';
      const read = async (path, options) => {
        try {
          const answer = await fetch('PAGE' + path, { credentials: 'include', ...options });
          return 'answered ' + answer.type + await answer.text();
        } catch (refused) {
          return 'refused';
        }
      };
      (async () => {
        document.getElementById('f').submit();
        const said = [
          await read('/do', { method: 'POST', body, mode: 'no-cors' }),
          await read('/do', { method: 'POST', body, headers: { 'X-Gpush': 'page' } }),
          await read('/live', { headers: { 'X-Gpush': 'page' } }),
          await read('/'),
        ];
        await fetch('/said', { method: 'POST', body: said.join(',') });
        document.title = 'tried';
      })();
      </script>
      """;

  private Path rig;

  @BeforeEach
  void begin() throws Exception {
    Optional<String> made = World.rig("editors");
    Assumptions.assumeTrue(made.isPresent(), "the editors rig is down");
    rig = Path.of(made.orElseThrow());
  }

  private static URI address(World world) throws Exception {
    return URI.create(world.json("gateway", "page", "--json").text("url").orElseThrow());
  }

  /** A session of two nodes, on which run 1 prints lines until it is ended. */
  private static World working() throws Exception {
    World world = World.fresh();
    world.file("train.py", LOOP);
    world.gpush("up", "--nodes", "2").succeeded();
    world.gpush("run", "--detach", "train.py").succeeded();
    return world;
  }

  @Test
  void showsAndEndsByKeyboardAlone() throws Exception {
    try (World world = working();
        var page = Page.open(world, rig, address(world))) {
      page.shows("#sessions tr[aria-current]", "devbox");
      assertFalse(page.text("address").contains("token"), "the token is in the address");
      page.shows("#runs", "train.py");
      page.step("tabTo", "1");
      page.step("press", "Enter");
      page.shows("#output", "[1] step 3");
      page.shows("#nodes", "%");
      String read = page.text("read");
      for (String each :
          List.of(
              "heading \"Sessions\" [level=2]",
              "table \"Nodes\"",
              "button \"Give back…\"",
              "checkbox \"sample their use\" [checked]",
              "region \"Output of the run\"",
              "log \"Changes since you opened the page\"")) {
        assertTrue(read.contains(each), () -> each + " is not in " + read);
      }
      page.step("tabTo", "Give back…");
      page.step("press", "Enter");
      page.shows("#ask-title", "Give devbox back?");
      assertEquals("Cancel", page.text("focused"), "what a hasty Enter does");
      page.step("press", List.of("Tab", "Enter"));
      page.shows("#ask-text", "is in progress on devbox; stop it and give the nodes back?");
      page.step("press", "Escape");
      page.step("hides", "#ask");
      assertEquals("Give back…", page.text("focused"), "where the keyboard was before");
      assertEquals(1, world.json("ps", "--json").items().size());
      page.step("press", List.of("Enter", "Tab", "Enter"));
      page.shows("#ask-text", "is in progress on devbox");
      page.step("press", List.of("Tab", "Enter"));
      page.shows("#news", "devbox is given back");
      page.shows("#sessions-empty", "No sessions.");
      assertEquals(List.of(), world.json("ps", "--json").items());
    }
  }

  @Test
  void isReadableInEachLight() throws Exception {
    Path pictures = World.repository().resolve("docs/guide/pictures");
    boolean isWriting = "write".equals(System.getProperty("gpush.golden"));
    try (World world = working();
        var page = Page.open(world, rig, address(world))) {
      page.shows("#sessions", "devbox");
      page.step("madeUp", true);
      page.shows("#gpus", "61%");
      for (String scheme : List.of("light", "dark")) {
        page.step("scheme", scheme);
        assertEquals("[]", page.raw("faint", true), scheme);
        if (isWriting) {
          Files.createDirectories(pictures);
          page.step("picture", pictures.resolve("page-" + scheme + ".png").toString());
        }
      }
      page.step("width", 400);
      assertEquals("0", page.raw("beside", true), "pixels beside a window of 400");
    }
  }

  /** Its cookies are the user's, and its requests come from the user's own machine. */
  @Test
  void refusesAnotherSiteOfTheSameBrowser() throws Exception {
    try (World world = working()) {
      URI address = address(world);
      String own = "http://127.0.0.1:" + address.getPort();
      try (var hostile = new Hostile(HOSTILE.replace("PAGE", own));
          var page = Page.open(world, rig, address)) {
        page.shows("#sessions", "devbox");

        // Of another site, and of another port of the same host, to which cookies are sent.
        for (String host : List.of("localhost", "127.0.0.1")) {
          page.step("goto", "http://" + host + ":" + hostile.port() + "/");
          page.step("titled", "tried");
          assertEquals("refused,refused,refused,refused", hostile.said(), host);
        }
        // A name of another site that leads here: its pages and ours would be one origin.
        String rebound = page.text("tab", "http://rebound.example:" + address.getPort() + "/");
        assertTrue(rebound.contains("gpush answers under 127.0.0.1 and localhost only"), rebound);

        Json run = world.json("runs", "--json").items().getFirst();
        assertEquals("running", run.text("state").orElse(""), "what needs no question to end");
        page.step("goto", own + "/");
        page.shows("#sessions", "devbox");
      }
    }
  }

  @Test
  void saysWhatToDoWithoutALogin() throws Exception {
    try (World world = working()) {
      URI address = address(world);
      try (var page = Page.open(world, rig, address)) {
        page.shows("#sessions", "devbox");
        String again = page.text("tab", address.toString());
        assertTrue(again.contains("Changes since you opened the page"), again);

        world.killGateway();
        page.shows("#warning", "Sessions and runs go on. Type gpush gateway page");

        URI next = address(world);
        String old = page.text("tab", "http://127.0.0.1:" + next.getPort() + "/");
        assertTrue(old.contains("not logged in, or the gateway was started again"), old);
        // As gateway page opens a browser: the token is in a file, and in no command line.
        Path file = world.project().resolveSibling("page.html");
        Files.writeString(file, "<meta http-equiv=\"refresh\" content=\"0; url=" + next + "\">");
        page.step("goto", file.toUri().toString());
        page.shows("#sessions", "devbox");
        assertFalse(page.text("address").contains("token"), "the token is in the address");
      }
    }
  }

  /** A site that is not gpush's. */
  private static final class Hostile implements AutoCloseable {
    private final HttpServer server;
    private volatile String said = "";

    Hostile(String page) throws IOException {
      InetAddress loopback = InetAddress.getByAddress(new byte[] {127, 0, 0, 1});
      server = HttpServer.create(new InetSocketAddress(loopback, 0), 0);
      server.createContext(
          "/",
          exchange -> {
            try (exchange) {
              byte[] sent = exchange.getRequestBody().readAllBytes();
              if (exchange.getRequestURI().getPath().equals("/said")) {
                said = new String(sent, StandardCharsets.UTF_8);
              }
              byte[] html = page.getBytes(StandardCharsets.UTF_8);
              exchange.getResponseHeaders().set("Content-Type", "text/html");
              exchange.sendResponseHeaders(200, html.length);
              exchange.getResponseBody().write(html);
            }
          });
      server.start();
    }

    int port() {
      return server.getAddress().getPort();
    }

    /** What its page could do at its last visit. */
    String said() {
      return said;
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  /** A browser with the page. A step returns once its result is visible. */
  private record Page(Process browser, BufferedReader answers, Writer steps)
      implements AutoCloseable {
    static Page open(World world, Path rig, URI address) throws Exception {
      Process browser =
          world.start(
              world.project(),
              List.of(
                  "node",
                  World.repository().resolve("src/test/resources/clients/page.js").toString(),
                  rig.resolve("node_modules").toString(),
                  "/usr/bin/chromium",
                  address.toString(),
                  World.repository().resolve("target/page.png").toString()));
      var page =
          new Page(
              browser,
              browser.inputReader(StandardCharsets.UTF_8),
              browser.outputWriter(StandardCharsets.UTF_8));
      assertEquals("ok", page.answer("open"));
      return page;
    }

    void step(String name, Object argument) throws IOException {
      assertEquals("ok", raw(name, argument), () -> name + " " + argument);
    }

    void shows(String selector, String text) throws IOException {
      step("shows", List.of(selector, text));
    }

    /** What a step answers. */
    String raw(String name, Object argument) throws IOException {
      steps.write(Json.object(name, argument).write() + "\n");
      steps.flush();
      return answer(name + " " + argument);
    }

    String text(String name) throws IOException {
      return text(name, "");
    }

    String text(String name, String argument) throws IOException {
      return Json.parse("{\"said\":" + raw(name, argument) + "}").text("said").orElseThrow();
    }

    private String answer(String step) throws IOException {
      return Optional.ofNullable(answers.readLine())
          .orElseThrow(() -> new AssertionError("the browser ended: " + step + ": " + why()));
    }

    private String why() {
      return String.join("\n", browser.errorReader(StandardCharsets.UTF_8).lines().toList());
    }

    @Override
    public void close() throws IOException {
      steps.close();
      browser.onExit().join();
    }
  }
}
