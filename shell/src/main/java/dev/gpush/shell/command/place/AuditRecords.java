package dev.gpush.shell.command.place;

import dev.gpush.core.json.Json;
import dev.gpush.core.time.DurationText;
import dev.gpush.shell.text.Clean;
import dev.gpush.shell.text.Phrase;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/**
 * Reads the audit log, the oldest file first, then what is added. A line that is no record, because
 * the disk was full, is left out.
 */
final class AuditRecords {
  /** The gateway keeps fewer; all that are there are read. */
  private static final int MOST_FILES = 100;

  private static final int BLOCK = 64 << 10;

  static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ss").withZone(ZoneId.systemDefault());

  private final Path newest;
  private final Optional<Instant> since;
  private final Optional<Pattern> node;

  // how far the newest file was read
  private Optional<Object> file = Optional.empty();
  private long offset;

  /**
   * @param session only connections to its nodes
   */
  AuditRecords(Path newest, Optional<Instant> since, Optional<String> session) {
    this.newest = newest;
    this.since = since;
    this.node = session.map(name -> Pattern.compile(Pattern.quote(name) + "(-[0-9]+)?"));
  }

  /** All that there are; false when there is no log. */
  boolean readAll(Consumer<Json.Obj> reader) throws IOException {
    boolean isThere = false;
    for (int number = MOST_FILES; number > 0; number--) {
      Path old = newest.resolveSibling(newest.getFileName() + "." + number);
      if (Files.exists(old)) {
        isThere = true;
        read(old, 0, reader);
      }
    }
    return readNew(reader) || isThere;
  }

  /** What was added since the last call; false when there is no log. */
  boolean readNew(Consumer<Json.Obj> reader) throws IOException {
    if (!Files.exists(newest)) {
      return false;
    }
    Object key = Files.readAttributes(newest, BasicFileAttributes.class).fileKey();
    if (!file.equals(Optional.ofNullable(key))) {
      if (file.isPresent()) {
        // The rest of the file that was the newest.
        read(newest.resolveSibling(newest.getFileName() + ".1"), offset, reader);
      }
      file = Optional.ofNullable(key);
      offset = 0;
    }
    offset = read(newest, offset, reader);
    return true;
  }

  /** Returns the end of the last whole line. */
  private long read(Path path, long from, Consumer<Json.Obj> reader) throws IOException {
    long end = from;
    try (var source = new RandomAccessFile(path.toFile(), "r")) {
      source.seek(from);
      var line = new ByteArrayOutputStream();
      byte[] block = new byte[BLOCK];
      for (int count = source.read(block); count > 0; count = source.read(block)) {
        for (int i = 0; i < count; i++) {
          if (block[i] != '\n') {
            line.write(block[i]);
            continue;
          }
          end += line.size() + 1L;
          record(line.toString(StandardCharsets.UTF_8)).ifPresent(reader);
          line.reset();
        }
      }
    }
    return end;
  }

  private Optional<Json.Obj> record(String line) {
    try {
      return Json.parse(line) instanceof Json.Obj record && isWanted(record)
          ? Optional.of(record)
          : Optional.empty();
    } catch (RuntimeException cutOff) {
      return Optional.empty();
    }
  }

  private boolean isWanted(Json.Obj record) {
    Instant time = Instant.parse(record.text("time").orElse(""));
    return since.map(first -> !time.isBefore(first)).orElse(true)
        && node.map(name -> name.matcher(record.text("node").orElse("")).matches()).orElse(true);
  }

  /** One line for people. */
  static String line(Json.Obj record) {
    var what = new ArrayList<String>();
    record.text("person").ifPresent(what::add);
    if (record.text("event").orElse("").startsWith("login")) {
      record.text("key").ifPresent(what::add);
      record.text("client").ifPresent(what::add);
    }
    record.text("kind").ifPresent(kind -> what.add(kind(record, kind)));
    record.text("target").ifPresent(target -> what.add("to " + target));
    record.text("command").ifPresent(what::add);
    record.text("recording").ifPresent(file -> what.add("recorded in " + file));
    record.number("up_bytes").ifPresent(bytes -> what.add(Phrase.size(bytes) + " up"));
    record.number("down_bytes").ifPresent(bytes -> what.add(Phrase.size(bytes) + " down"));
    record
        .number("seconds")
        .ifPresent(seconds -> what.add(DurationText.of(Duration.ofSeconds(seconds))));
    record.number("records").ifPresent(count -> what.add(count + " records"));
    List<String> head =
        List.of(
            TIME.format(Instant.parse(record.text("time").orElse(""))),
            padded(record.text("event").orElse(""), 12),
            padded(record.text("node").orElse("-"), 12),
            padded(record.text("from").orElse("-"), 21));
    return Clean.line(String.join("  ", head) + "  " + String.join(", ", what));
  }

  private static String kind(Json.Obj record, String kind) {
    return record.flag("terminal") ? kind + " on a terminal" : kind;
  }

  private static String padded(String text, int width) {
    return text + " ".repeat(Math.max(0, width - text.length()));
  }
}
