package dev.gpush.ssh.files;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.file.WholeFile;
import dev.gpush.core.talk.Talk;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;

/**
 * One line at the top of the user's ssh config. At the top, because an Include further down would
 * belong to the Host above it, and because ssh takes the first value that it finds. Nothing else in
 * the file changes, and it stays, also when nothing is left in it: it may be a link.
 */
final class IncludeLine {
  private static final String NEW_FILE_MODE = "rw-------";

  private final Path userConfig;
  private final byte[] line;
  private final String target;

  IncludeLine(Path userConfig, Path target) {
    this.userConfig = userConfig;
    this.target = target.toString();
    this.line = ("Include \"" + target + "\"\n").getBytes(StandardCharsets.UTF_8);
  }

  boolean isThere() {
    return content().map(bytes -> find(bytes) >= 0).orElse(false);
  }

  void add(Talk talk) {
    Optional<byte[]> before = content();
    if (before.map(bytes -> find(bytes) >= 0).orElse(false)) {
      talk.say("already linked: " + userConfig + " includes " + target);
      return;
    }
    talk.confirm("Add one Include line to the top of " + userConfig + "?", "--yes");
    addConfirmed();
    talk.say("linked: ssh and editors now find your sessions by name (undo: gpush link --remove)");
  }

  /** The user has agreed; does nothing where the line is there. */
  void addConfirmed() {
    Optional<byte[]> before = content();
    if (before.map(bytes -> find(bytes) < 0).orElse(true)) {
      write(joined(line, before.orElse(new byte[0])));
    }
  }

  void remove(Talk talk) {
    byte[] before = content().orElseGet(() -> new byte[0]);
    int at = find(before);
    if (at < 0) {
      talk.say("not linked: " + userConfig + " does not include " + target);
      return;
    }
    byte[] after =
        joined(
            Arrays.copyOfRange(before, 0, at),
            Arrays.copyOfRange(before, at + line.length, before.length));
    write(after);
    talk.say("unlinked: removed the Include line from " + userConfig);
  }

  private static byte[] joined(byte[] first, byte[] second) {
    var all = new ByteArrayOutputStream();
    all.writeBytes(first);
    all.writeBytes(second);
    return all.toByteArray();
  }

  /**
   * The position of the Include line, exactly as gpush wrote it and at the beginning of a line; -1
   * if there is none.
   */
  private int find(byte[] content) {
    for (int at = 0; at + line.length <= content.length; at++) {
      boolean begins = at == 0 || content[at - 1] == '\n';
      if (begins && Arrays.equals(content, at, at + line.length, line, 0, line.length)) {
        return at;
      }
    }
    return -1;
  }

  private Optional<byte[]> content() {
    try {
      return Optional.of(Files.readAllBytes(userConfig));
    } catch (NoSuchFileException none) {
      return Optional.empty();
    } catch (IOException failed) {
      throw unusable(failed);
    }
  }

  private void write(byte[] content) {
    try {
      WholeFile.makeFolder(userConfig.toAbsolutePath().resolve("..").normalize());
      WholeFile.rewrite(userConfig, content, NEW_FILE_MODE);
    } catch (IOException failed) {
      throw unusable(failed);
    }
  }

  private GpushException unusable(IOException failed) {
    return new GpushException(
        new ConfigFailure.Unreadable(
            userConfig.toString(), "cannot be changed: " + FileReason.of(failed)),
        failed);
  }
}
