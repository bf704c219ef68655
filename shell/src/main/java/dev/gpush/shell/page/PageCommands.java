package dev.gpush.shell.page;

import dev.gpush.control.server.Handler;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.ChangeSignal;
import dev.gpush.shell.text.LineStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * Runs command lines for the page, as a terminal does, so that both show the same.
 *
 * @param folder of the command lines; sessions are named, so it decides nothing
 * @param changes signalled when something changes that users see
 */
public record PageCommands(Handler handler, Path folder, ChangeSignal changes) {

  /** In bytes: a sample of 256 nodes with 8 GPUs each takes a third of it. */
  private static final int LONGEST_LINE = 4 * 1024 * 1024;

  /** What a command prints with {@code --json}, or what it said instead. */
  Json.Obj json(String of, List<String> words) throws InterruptedException {
    var out = new ByteArrayOutputStream();
    var client = new PageClient(words, folder, out, PageCommands::none);
    int status = carryOut(client);
    return status == 0
        ? Json.object("of", of, "data", Json.parse(out.toString(StandardCharsets.UTF_8)))
        : Json.object("of", of, "problem", client.said());
  }

  /** Gives each line that a command prints until it ends; returns what it said. */
  String follow(List<String> words, Consumer<String> lines) throws InterruptedException {
    var client =
        new PageClient(words, folder, new LineStream(LONGEST_LINE, lines), PageCommands::none);
    carryOut(client);
    return client.said();
  }

  /** A handler clears the interrupt of its thread. */
  private int carryOut(PageClient client) throws InterruptedException {
    int status = handler.handle(client);
    if (status == ExitStatus.INTERRUPTED.number()) {
      throw new InterruptedException();
    }
    return status;
  }

  /** What only shows something asks nothing. */
  private static Optional<String> none(String question) {
    return Optional.empty();
  }
}
