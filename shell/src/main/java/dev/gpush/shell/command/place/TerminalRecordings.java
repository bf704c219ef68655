package dev.gpush.shell.command.place;

import dev.gpush.core.json.Json;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** Reads what terminals have shown: files of asciicast v2, written by the gateway. */
final class TerminalRecordings {
  private static final String ENDING = ".cast";

  private final Path folder;

  TerminalRecordings(Path folder) {
    this.folder = folder;
  }

  /**
   * One recording.
   *
   * @param title who, and on which node
   * @param lasted until its last line
   */
  record Entry(Path file, Instant began, String title, Duration lasted, long bytes) {
    Json.Obj json() {
      return Json.object(
          "file", file.toString(),
          "time", began.toString(),
          "title", title,
          "seconds", lasted.toSeconds(),
          "bytes", bytes);
    }
  }

  Path folder() {
    return folder;
  }

  /** The oldest first. */
  List<Entry> all() throws IOException {
    if (!Files.isDirectory(folder)) {
      return List.of();
    }
    List<Path> files;
    try (Stream<Path> there = Files.list(folder)) {
      files = there.filter(each -> each.toString().endsWith(ENDING)).sorted().toList();
    }
    var entries = new ArrayList<Entry>();
    for (Path file : files) {
      entry(file).ifPresent(entries::add);
    }
    return entries;
  }

  private static Optional<Entry> entry(Path file) throws IOException {
    try (BufferedReader lines = Files.newBufferedReader(file, StandardCharsets.UTF_8)) {
      Json header = json(Optional.ofNullable(lines.readLine()).orElse(""));
      double last = 0;
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        last = Math.max(last, seconds(line));
      }
      return header.number("version").isEmpty()
          ? Optional.empty()
          : Optional.of(
              new Entry(
                  file,
                  Instant.ofEpochSecond(header.number("timestamp").orElse(0L)),
                  header.text("title").orElse(""),
                  Duration.ofMillis((long) (last * 1_000)),
                  Files.size(file)));
    }
  }

  /** Of a line that begins with its time, without a look at the rest. */
  private static double seconds(String line) {
    int comma = line.indexOf(',');
    try {
      return comma > 1 ? Double.parseDouble(line.substring(1, comma)) : 0;
    } catch (NumberFormatException cutOff) {
      return 0;
    }
  }

  /**
   * The bytes that the client received, without pauses: a line with the code {@code b} has those of
   * the line of output after it, where they are no text.
   *
   * @param name of a file in the folder, or a path
   */
  void replay(String name, Consumer<byte[]> to) throws IOException {
    boolean isExact = true;
    try (BufferedReader lines =
        Files.newBufferedReader(folder.resolve(name), StandardCharsets.UTF_8)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        if (json(line) instanceof Json.Arr(var items)
            && items.size() == 3
            && items.get(1) instanceof Json.Text(var code)
            && items.get(2) instanceof Json.Text(var data)) {
          if (code.equals("b")) {
            to.accept(Base64.getDecoder().decode(data));
            isExact = false;
          } else if (code.equals("o")) {
            if (isExact) {
              to.accept(data.getBytes(StandardCharsets.UTF_8));
            }
            isExact = true;
          }
        }
      }
    }
  }

  private static Json json(String line) {
    try {
      return Json.parse(line);
    } catch (RuntimeException cutOff) {
      return new Json.Null();
    }
  }
}
