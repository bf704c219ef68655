package dev.gpush.acceptance;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;

/**
 * A terminal of 100 columns and 30 lines, in tmux, with bash: what is read is what a person sees.
 * Programs there have the given environment only, and the user's home, also where they ask the
 * system for it, as ssh does, is the given folder.
 */
final class Terminal implements AutoCloseable {
  private final World world;
  private final Path base;
  private final Path statuses;
  private int typed;

  private Terminal(World world, Path base) {
    this.world = world;
    this.base = base;
    this.statuses = base.resolve("statuses");
  }

  /** Why this machine cannot open one. */
  static Optional<String> missing() throws Exception {
    Process tried =
        new ProcessBuilder("sh", "-c", "command -v tmux && unshare --mount true")
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    return tried.waitFor() == 0
        ? Optional.empty()
        : Optional.of("a terminal with an empty home needs tmux and root");
  }

  static Terminal open(World world, Path folder, Map<String, String> environment) throws Exception {
    Path base = Files.createDirectories(world.project().resolveSibling("terminal"));
    var terminal = new Terminal(world, base);
    String users = Files.readString(Path.of("/etc/passwd"));
    Path passwd =
        Files.writeString(
            base.resolve("passwd"),
            users.replaceFirst(
                "(?m)^(root:[^:]*:0:[^:]*:[^:]*):[^:]*:", "$1:" + world.person() + ":"));
    Path startup =
        Files.writeString(
            base.resolve("bashrc"),
            "PS1='$ '\nPROMPT_COMMAND='echo $? >> " + terminal.statuses + "'\n");
    Path settings =
        Files.writeString(
            base.resolve("tmux.conf"), "set -g history-limit 5000\nset -g status off\n");
    var command =
        new ArrayList<>(
            List.of(
                "unshare",
                "--mount",
                "sh",
                "-c",
                "mount --bind \"$0\" /etc/passwd && exec \"$@\"",
                passwd.toString(),
                "env",
                "-i"));
    environment.forEach((name, value) -> command.add(name + "=" + value));
    command.addAll(terminal.tmux("-u", "-f", settings.toString()));
    command.addAll(List.of("new-session", "-d", "-x", "100", "-y", "30", "-c", folder.toString()));
    command.addAll(List.of("bash", "--noprofile", "--rcfile", startup.toString()));
    world.run(new byte[0], command.toArray(String[]::new)).succeeded();
    terminal.ended();
    return terminal;
  }

  private List<String> tmux(String... words) {
    var command = new ArrayList<>(List.of("tmux", "-S", base.resolve("socket").toString()));
    command.addAll(List.of(words));
    return command;
  }

  private String called(String... words) throws Exception {
    return world.run(new byte[0], tmux(words).toArray(String[]::new)).succeeded().out();
  }

  /** Types a line or an answer. */
  void type(String line) throws Exception {
    called("send-keys", "-l", line);
    called("send-keys", "Enter");
  }

  /** Keys by their names; after {@code -l}, as they are. */
  void press(String... keys) throws Exception {
    var words = new ArrayList<>(List.of("send-keys"));
    words.addAll(List.of(keys));
    called(words.toArray(String[]::new));
  }

  /**
   * What is there at a moment.
   *
   * @param lines all since it was opened, as wide as the terminal
   * @param row of the cursor, in these lines
   * @param typed the row of the cursor, up to it
   * @param top the first row that is on the screen
   */
  record Shown(List<String> lines, int row, String typed, int top) {
    Shown {
      lines = List.copyOf(lines);
    }

    List<String> screen() {
      return lines.subList(top, lines.size());
    }
  }

  private Shown shown() throws Exception {
    String where = "#{history_size} #{cursor_y} #{cursor_x}";
    List<String> all =
        called("display", "-p", where, ";", "capture-pane", "-p", "-S", "-", "-E", "-")
            .lines()
            .toList();
    String[] at = all.getFirst().split(" ", -1);
    List<String> lines = all.subList(1, all.size());
    int top = Integer.parseInt(at[0]);
    int row = top + Integer.parseInt(at[1]);
    String line = lines.get(row);
    String typed = line.substring(0, Math.min(line.length(), Integer.parseInt(at[2])));
    return new Shown(lines, row, typed.stripTrailing(), top);
  }

  /** Waits until it shows what is awaited. */
  Shown awaits(String what, Predicate<Shown> condition) throws Exception {
    var last = new AtomicReference<>(shown());
    World.until(
        () -> what + ", but:\n" + String.join("\n", last.get().screen()),
        () -> {
          try {
            last.set(shown());
          } catch (Exception unreadable) {
            throw new AssertionError(unreadable);
          }
          return condition.test(last.get());
        });
    return last.get();
  }

  /** Waits until the last line that is not empty has a text. */
  void shows(String text) throws Exception {
    World.until(
        text,
        () -> {
          try {
            return screen().stripTrailing().lines().reduce("", (_, last) -> last).contains(text);
          } catch (Exception unreadable) {
            throw new AssertionError(unreadable);
          }
        });
  }

  /** Waits for the next prompt: the status of what was typed before. */
  int ended() throws Exception {
    typed++;
    World.until("the prompt after command " + typed, () -> lines().size() >= typed);
    return Integer.parseInt(lines().getLast());
  }

  private List<String> lines() {
    try {
      return Files.exists(statuses)
          ? Files.readString(statuses, StandardCharsets.UTF_8).lines().toList()
          : List.of();
    } catch (IOException unreadable) {
      return List.of();
    }
  }

  /** All that was seen since it was opened, in lines as wide as the terminal. */
  String seen() throws Exception {
    return called("capture-pane", "-p", "-S", "-", "-E", "-").stripTrailing() + "\n";
  }

  /** As {@link #seen}, with lines as they were printed. */
  String printed() throws Exception {
    return called("capture-pane", "-p", "-J", "-S", "-", "-E", "-");
  }

  private String screen() throws Exception {
    return called("capture-pane", "-p", "-J");
  }

  /** Writes what was seen into a file. */
  void keep(Path file) {
    try {
      Files.createDirectories(file.resolveSibling("."));
      Files.writeString(file, seen());
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }

  @Override
  public void close() {
    try {
      called("kill-server");
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (Exception failed) {
      throw new IllegalStateException(failed);
    }
  }
}
