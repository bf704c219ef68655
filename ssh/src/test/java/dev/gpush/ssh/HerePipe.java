package dev.gpush.ssh;

import dev.gpush.core.machine.Pipe;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A pipe through a relay that also names the agent's socket, as the pipe of a local node does.
 *
 * @param folders holds the agent's folder
 */
record HerePipe(Pipe relay, Path folders) implements Pipe {
  @Override
  public Optional<Path> agentSocket() {
    try (Stream<Path> all = Files.walk(folders)) {
      return all.filter(path -> path.endsWith("agent.sock")).findFirst();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  @Override
  public OutputStream input() {
    return relay.input();
  }

  @Override
  public InputStream output() {
    return relay.output();
  }

  @Override
  public InputStream errors() {
    return relay.errors();
  }

  @Override
  public int await() throws InterruptedException {
    return relay.await();
  }

  @Override
  public void close() throws IOException {
    relay.close();
  }
}
