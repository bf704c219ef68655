package dev.gpush.shell.loop;

import dev.gpush.control.client.Captured;
import dev.gpush.control.place.Origin;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedTransferQueue;
import java.util.concurrent.TransferQueue;
import java.util.function.Consumer;

/** Remembers what it was given, and gives the answers it has. */
final class FakeCommandRunner implements CommandRunner {
  final List<String> done = new ArrayList<>();
  final Map<String, Integer> statuses = new HashMap<>();
  final Map<String, Captured> answers = new ConcurrentHashMap<>();

  /** What would have started a gateway, or replaced one of another build. */
  final List<String> entered = new CopyOnWriteArrayList<>();

  /** The words of each watch. */
  final List<String> watches = new CopyOnWriteArrayList<>();

  /** What a watch hears; {@link #GONE} ends it. */
  final TransferQueue<String> said = new LinkedTransferQueue<>();

  static final String GONE = "gone";

  /** Called when a watch has ended. */
  volatile Runnable whenLeft = () -> {};

  /** Called while a command has the terminal. */
  Runnable during = () -> {};

  /** Where the commands are carried out, one folder after the other. */
  final List<Path> folders = new CopyOnWriteArrayList<>();

  FakeCommandRunner in(Origin origin) {
    folders.add(origin.folder());
    return this;
  }

  @Override
  public int run(List<String> words) {
    done.add(words.toString());
    if (!words.getFirst().startsWith("__")) {
      during.run();
    }
    return statuses.getOrDefault(words.toString(), 0);
  }

  @Override
  public Captured ask(List<String> words) {
    entered.add(words.toString());
    return answers.getOrDefault(String.join(" ", words), new Captured(3, "", "no gateway"));
  }

  @Override
  public Optional<Captured> askIfRunning(List<String> words) {
    return Optional.ofNullable(answers.get(String.join(" ", words)));
  }

  /** Sends the present prompt first, as a gateway does. */
  @Override
  public void follow(List<String> words, Consumer<String> lines) {
    watches.add(String.join(" ", words));
    askIfRunning(List.of("__prompt"))
        .ifPresent(answer -> lines.accept("prompt\t" + answer.out().strip()));
    try {
      for (String line = said.take(); !line.equals(GONE); line = said.take()) {
        lines.accept(line);
      }
    } catch (InterruptedException left) {
      Thread.currentThread().interrupt();
    } finally {
      whenLeft.run();
    }
  }

  @Override
  public int local(String line) {
    done.add("! " + line);
    return 0;
  }
}
