package dev.gpush.shell.command.reach;

import dev.gpush.core.talk.Streams;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;

/** Keeps what a command on a node prints, in place of the user's streams; Ctrl-C still stops it. */
final class NodeAnswer implements Streams {
  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();
  private final Streams user;

  NodeAnswer(Streams user) {
    this.user = user;
  }

  String printed() {
    return out.toString(StandardCharsets.UTF_8);
  }

  /** What it wrote to standard error. */
  String complaint() {
    return err.toString(StandardCharsets.UTF_8).strip();
  }

  @Override
  public InputStream in() {
    return InputStream.nullInputStream();
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
  public void onSignal(Consumer<String> listener) {
    user.onSignal(listener);
  }
}
