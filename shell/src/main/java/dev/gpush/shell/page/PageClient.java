package dev.gpush.shell.page;

import dev.gpush.control.server.Invocation;
import dev.gpush.control.wire.Facts;
import dev.gpush.shell.console.Asker;
import java.io.ByteArrayOutputStream;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;

/** A client without a terminal whose command line the page has made; it answers yes or no only. */
final class PageClient implements Invocation {
  /** Far more than a failure is; the rest of a longer message is dropped. */
  private static final int MOST_SAID = 64 * 1024;

  private static final int NOT_STARTED = 127;
  private static final String YES_OR_NO = " [y/N]";

  private final List<String> words;
  private final Path folder;
  private final OutputStream out;
  private final Asker asker;
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  PageClient(List<String> words, Path folder, OutputStream out, Asker asker) {
    this.words = List.copyOf(words);
    this.folder = folder;
    this.out = out;
    this.asker = asker;
  }

  /** What the command has said so far: messages, and its failure. */
  String said() {
    synchronized (err) {
      return err.toString(StandardCharsets.UTF_8).strip();
    }
  }

  @Override
  public Optional<String> ask(String question, boolean hidden) throws InterruptedException {
    String text = question.strip();
    return hidden || !text.endsWith(YES_OR_NO)
        ? Optional.empty()
        : asker.ask(text.substring(0, text.length() - YES_OR_NO.length()));
  }

  @Override
  public List<String> arguments() {
    return words;
  }

  @Override
  public Path folder() {
    return folder;
  }

  @Override
  public Map<String, String> environment() {
    return Map.of();
  }

  @Override
  public Facts facts() {
    return Facts.NONE;
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
    return new OutputStream() {
      @Override
      public void write(int value) {
        synchronized (err) {
          if (err.size() < MOST_SAID) {
            err.write(value);
          }
        }
      }
    };
  }

  /** Only the end of its thread ends it. */
  @Override
  public void onSignal(Consumer<String> listener) {}

  @Override
  public void onDetach(Runnable listener) {}

  @Override
  public int spawn(List<String> command, Map<String, String> environment) {
    return NOT_STARTED;
  }

  @Override
  public boolean isCancelled() {
    return false;
  }

  @Override
  public void onlyWatches() {}

  @Override
  public boolean isConnected() {
    return true;
  }
}
