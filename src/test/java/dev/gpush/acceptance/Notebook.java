package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.WebSocket;
import java.util.UUID;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A real Jupyter server on node 0 with a kernel, as an editor or browser on the laptop has it open
 * through {@code gpush jupyter}: one WebSocket for the kernel, for as long as this lives; the
 * server ends with the session.
 */
final class Notebook implements AutoCloseable {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final long SECONDS = 180;

  private final HttpClient client;
  private final Kernel kernel;
  private final WebSocket socket;
  private final String session = UUID.randomUUID().toString();

  private Notebook(HttpClient client, Kernel kernel, WebSocket socket) {
    this.client = client;
    this.kernel = kernel;
    this.socket = socket;
  }

  /** What comes through the socket. */
  private static final class Kernel implements WebSocket.Listener {
    private final BlockingQueue<Json> said = new LinkedBlockingQueue<>();
    private final StringBuilder part = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean isLast) {
      part.append(data);
      if (isLast) {
        said.add(Json.parse(part.toString()));
        part.setLength(0);
      }
      from.request(1);
      return java.util.concurrent.CompletableFuture.completedStage(null);
    }

    @Override
    public CompletionStage<?> onClose(WebSocket from, int status, String reason) {
      said.add(Json.object("closed", status, "reason", reason));
      return java.util.concurrent.CompletableFuture.completedStage(null);
    }

    @Override
    public void onError(WebSocket from, Throwable error) {
      said.add(Json.object("closed", -1, "reason", error.toString()));
    }
  }

  /**
   * @param python on the node, with jupyter_server
   */
  static Notebook open(World world, String python) throws Exception {
    return open(world, python, "jupyter", "server", "--json");
  }

  /**
   * @param words of {@code gpush jupyter}
   */
  static Notebook open(World world, String python, String... words) throws Exception {
    world.gpush("up", "--python", python).succeeded();
    Json server = world.json(words);
    int here = server.number("local").orElseThrow().intValue();
    String token = server.text("token").orElseThrow();
    HttpClient client = HttpClient.newHttpClient();
    HttpRequest begin =
        request(here, token, "/api/kernels")
            .POST(HttpRequest.BodyPublishers.ofString("{\"name\": \"python3\"}"))
            .build();
    String id =
        Json.parse(client.send(begin, BodyHandlers.ofString()).body()).text("id").orElseThrow();
    var kernel = new Kernel();
    WebSocket socket =
        client
            .newWebSocketBuilder()
            .header("Authorization", "token " + token)
            .buildAsync(
                URI.create("ws://127.0.0.1:%d/api/kernels/%s/channels".formatted(here, id)), kernel)
            .get(SECONDS, TimeUnit.SECONDS);
    return new Notebook(client, kernel, socket);
  }

  private static HttpRequest.Builder request(int port, String token, String path) {
    return HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .timeout(java.time.Duration.ofSeconds(SECONDS))
        .header("Authorization", "token " + token);
  }

  /** Sends a cell to the kernel and does not wait for it. */
  String send(String code) throws Exception {
    String id = UUID.randomUUID().toString();
    Json.Obj message =
        Json.object(
            "channel", "shell",
            "header",
                Json.object(
                    "msg_id", id,
                    "msg_type", "execute_request",
                    "username", "me",
                    "session", session,
                    "version", "5.3"),
            "parent_header", Json.object(),
            "metadata", Json.object(),
            "content", Json.object("code", code, "silent", false, "store_history", true));
    socket.sendText(message.write(), true).get(SECONDS, TimeUnit.SECONDS);
    return id;
  }

  /** What a cell that was sent has printed when it is done. */
  String output(String id) throws Exception {
    var printed = new StringBuilder();
    while (true) {
      Json message = kernel.said.poll(SECONDS, TimeUnit.SECONDS);
      assertNotNull(message, () -> "the kernel says no more; before that: " + printed);
      assertTrue(
          message.text("closed").isEmpty() && message.number("closed").isEmpty(), message::write);
      if (!id.equals(message.object("parent_header").text("msg_id").orElse(""))) {
        continue;
      }
      Json content = message.object("content");
      String type =
          message.text("msg_type").or(() -> message.object("header").text("msg_type")).orElse("");
      assertTrue(!type.equals("error"), message::write);
      if (type.equals("stream")) {
        printed.append(content.text("text").orElse(""));
      } else if (type.equals("status")
          && content.text("execution_state").orElse("").equals("idle")) {
        return printed.toString();
      }
    }
  }

  /** A cell and what it prints. */
  void prints(String code, String expected) throws Exception {
    assertEquals(expected, output(send(code)));
  }

  @Override
  public void close() {
    socket.abort();
    client.close();
  }
}
