package dev.gpush.control.client.terminal;

import dev.gpush.control.wire.Facts;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Passes on what a request prints, and keeps its messages; has no input and no terminal to ask on.
 * For requests that a program makes.
 */
public final class CapturedConsole implements Console {
  private final OutputStream out;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  /**
   * @param out gets what the request prints
   */
  public CapturedConsole(OutputStream out) {
    this.out = out;
  }

  public String said() {
    return err.toString(StandardCharsets.UTF_8);
  }

  @Override
  public Facts facts() {
    return Facts.NONE;
  }

  @Override
  public OutputStream out() {
    return out;
  }

  @Override
  public OutputStream err() {
    return err;
  }

  @Override
  public int read(byte[] buffer, int length) {
    return -1;
  }

  @Override
  public void raw(boolean on) {}

  @Override
  public Optional<String> ask(String question, boolean hidden) {
    return Optional.empty();
  }

  @Override
  public int spawn(List<String> command, Map<String, String> environment) {
    return 127;
  }

  @Override
  public Signals listen(Consumer<String> listener) {
    return () -> {};
  }

  @Override
  public void giveUp() {}
}
