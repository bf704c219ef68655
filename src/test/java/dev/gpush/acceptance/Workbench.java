package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * VS Code's workbench in a real browser on the laptop, for a folder that code-server serves on node
 * 0. A step returns once its result is visible.
 */
record Workbench(Process browser, BufferedReader answers, Writer steps) implements AutoCloseable {
  /**
   * Without what is not about the node; with text in the page, not a picture of text; and with more
   * patience than ten seconds for the login shell that it asks for variables, which a full machine
   * needs.
   */
  private static final String SETTINGS =
      "{\"terminal.integrated.gpuAcceleration\": \"off\", \"workbench.startupEditor\": \"none\","
          + " \"git.enableSmartCommit\": true, \"chat.disableAIFeatures\": true, \"files.autoSave\": \"off\","
          + " \"application.shellEnvironmentResolutionTimeout\": 120}";

  private static final String SERVE =
      """
      set -e
      cd "$(mktemp -d)"
      ws=${WS:-$PWD/ws}
      mkdir -p "$ws" data/User data/Machine
      [ -e "$ws/train.py" ] || echo "first line" >"$ws/train.py"
      tee data/Machine/settings.json >data/User/settings.json
      echo "$ws"
      export PATH="$RIG/node/bin:$PATH"
      exec "$RIG/node_modules/.bin/code-server" --auth none --disable-telemetry --disable-update-check \
        --disable-workspace-trust --user-data-dir data --extensions-dir data/extensions \
        --config data/config.yaml --bind-addr 127.0.0.1:0 "$ws" 2>&1
      """;

  private static final String LISTENING = "HTTP server listening on http://127.0.0.1:";

  /**
   * npm's code-server on node 0: VS Code's own server with a page.
   *
   * @param folder that it serves on the node; has a file train.py
   */
  record Server(Process process, String folder, int port) implements AutoCloseable {
    /** In a folder of its own. */
    static Server start(World world, Path rig) throws Exception {
      return start(world, rig.toString(), "");
    }

    /**
     * @param rig where the node has it
     */
    static Server start(World world, String rig) throws Exception {
      return start(world, rig, "");
    }

    static Server onTheWorkspace(World world, Path rig) throws Exception {
      return start(world, rig.toString(), "WS=$GPUSH_WORKSPACE ");
    }

    private static Server start(World world, String rig, String folder) throws Exception {
      Process process =
          world.start(
              world.project(),
              world.ssh("devbox", folder + "RIG='" + rig + "' bash -c '" + SERVE + "'"));
      try (Writer settings = process.outputWriter(StandardCharsets.UTF_8)) {
        settings.write(SETTINGS);
      }
      BufferedReader said = process.inputReader(StandardCharsets.UTF_8);
      String served = next(said);
      String line = next(said);
      while (!line.contains(LISTENING)) {
        line = next(said);
      }
      String port = line.substring(line.indexOf(LISTENING) + LISTENING.length()).split("/", 2)[0];
      // Nobody wants the rest, and a full pipe would stop it.
      Thread.ofVirtual().start(() -> said.lines().forEach(_ -> {}));
      return new Server(process, served, Integer.parseInt(port));
    }

    /** The port here that {@code gpush forward} keeps for it. */
    int forwarded(World world) throws Exception {
      return world
          .json("forward", Integer.toString(port), "--json")
          .items()
          .getFirst()
          .number("local")
          .orElseThrow()
          .intValue();
    }

    /** A file of its folder. */
    String read(World world, String file) throws Exception {
      List<String> line = world.ssh("devbox", "cat " + folder + "/" + file);
      return world.run(new byte[0], line.toArray(String[]::new)).succeeded().out();
    }

    @Override
    public void close() {
      process.destroy();
    }
  }

  /**
   * @param port of this machine that leads to the server
   */
  static Workbench open(World world, Path rig, Server server, int port) throws Exception {
    Process browser =
        world.start(
            world.project(),
            List.of(
                "node",
                World.repository().resolve("src/test/resources/clients/workbench.js").toString(),
                rig.resolve("node_modules").toString(),
                "/usr/bin/chromium",
                "http://127.0.0.1:" + port + "/?folder=" + server.folder(),
                World.repository().resolve("target/workbench.png").toString()));
    var workbench =
        new Workbench(
            browser,
            browser.inputReader(StandardCharsets.UTF_8),
            browser.outputWriter(StandardCharsets.UTF_8));
    assertEquals("ok", next(workbench.answers()));
    return workbench;
  }

  private static String next(BufferedReader said) throws IOException {
    return Optional.ofNullable(said.readLine())
        .orElseThrow(() -> new AssertionError("it ended before it said what was expected"));
  }

  private void step(String name, Object argument) throws IOException {
    steps.write(Json.object(name, argument).write() + "\n");
    steps.flush();
    assertEquals("ok", next(answers), () -> name + " " + argument);
  }

  void opens(String file, String text) throws IOException {
    step("open", List.of(file, text));
  }

  /** In the open file; not saved. */
  void appends(String text) throws IOException {
    step("append", text);
  }

  void asksToSave() throws IOException {
    step("press", "Control+S");
  }

  void hasSaved() throws IOException {
    step("saved", true);
  }

  /** All that has changed, as its user does in the view of the source control. */
  void commits(String message) throws IOException {
    step("commit", message);
  }

  /** Into a terminal, as a line. */
  void types(String line) throws IOException {
    step("terminal", true);
    step("type", line + "\n");
  }

  /** Into the terminal that was last typed into. */
  void typesSlowly(String text, Duration betweenKeys) throws IOException {
    step("typeSlowly", List.of(text, betweenKeys.toMillis()));
  }

  void prints(String word) throws IOException {
    step("prints", word);
  }

  @Override
  public void close() throws IOException {
    steps.close();
    browser.onExit().join();
  }
}
