package dev.gpush.shell.page;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Sends requests byte by byte as no browser would: each on a connection of its own. What is set is
 * sent instead of what the page itself would send; empty is left out.
 */
final class Browser {
  private static final Pattern COOKIE = Pattern.compile("(?im)^set-cookie: ([^;]+)");

  /** Ends a test that hangs; an answer comes at once. */
  private static final int ANSWER_LIMIT_MS = 60_000;

  final int port;
  String host;
  String origin;
  String site = "same-origin";
  String header = "X-Gpush: page";
  String cookie = "";

  Browser(int port) {
    this.port = port;
    this.host = "127.0.0.1:" + port;
    this.origin = "http://" + host;
  }

  /** A browser that has opened the address. */
  static Browser loggedIn(URI address) throws IOException {
    var browser = new Browser(address.getPort());
    browser.logIn(address);
    return browser;
  }

  void logIn(URI address) throws IOException {
    Matcher set = COOKIE.matcher(get("/?" + address.getQuery()));
    cookie = set.find() ? set.group(1) : "none=";
  }

  String get(String path) throws IOException {
    return request("GET " + path, "");
  }

  String act(String body) throws IOException {
    return request("POST /do", body);
  }

  /** The whole answer. */
  String request(String line, String body) throws IOException {
    try (Socket socket = begin(line, body)) {
      return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Sends it and reads nothing; a line without a version is of HTTP/1.1. */
  Socket begin(String line, String body) throws IOException {
    var head =
        new ArrayList<>(
            List.of(line + (line.contains(" HTTP/") ? "" : " HTTP/1.1"), "Connection: close"));
    field("Host", host).ifPresent(head::add);
    field("Origin", origin).ifPresent(head::add);
    field("Sec-Fetch-Site", site).ifPresent(head::add);
    field("Cookie", cookie).ifPresent(head::add);
    if (!header.isEmpty()) {
      head.add(header);
    }
    if (!body.isEmpty()) {
      head.add("Content-Length: " + body.length());
    }
    return raw(String.join("\r\n", head) + "\r\n\r\n" + body);
  }

  private static Optional<String> field(String name, String value) {
    return value.isEmpty() ? Optional.empty() : Optional.of(name + ": " + value);
  }

  Socket raw(String bytes) throws IOException {
    var socket = new Socket("127.0.0.1", port);
    socket.setSoTimeout(ANSWER_LIMIT_MS);
    socket.getOutputStream().write(bytes.getBytes(StandardCharsets.UTF_8));
    socket.getOutputStream().flush();
    return socket;
  }
}
