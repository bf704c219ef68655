package dev.gpush.ssh.recording;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RecordingsTest {
  private static final byte[] LINE = "0123456789\r\n".getBytes(StandardCharsets.UTF_8);

  @TempDir private Path home;

  private final Tasks tasks = Tasks.named("test", (_, failure) -> failure.printStackTrace());

  private Path folder() {
    return home.resolve("logs/recordings");
  }

  private Recordings start(Recordings.Limits limits) {
    return Recordings.start(folder(), limits, Clock.system(), tasks);
  }

  private static RecordedTerminal terminal(int channel) {
    return new RecordedTerminal(
        "dev/box", "ann", "c", channel, "xterm", RecordedTerminal.Size.of(0, 0));
  }

  private static String record(Recordings recordings, int channel, int lines) {
    TerminalRecording one = recordings.begin(terminal(channel)).orElseThrow();
    for (int i = 0; i < lines; i++) {
      one.output(LINE, 0, LINE.length);
    }
    one.end();
    return one.name();
  }

  private Cast cast(String name) throws IOException {
    return Cast.parse(Files.readAllLines(folder().resolve(name)));
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> all = Files.list(folder())) {
      return all.toList();
    }
  }

  @Test
  void writesAFileThatOnlyItsUserCanRead() throws Exception {
    String name;
    try (tasks;
        var recordings = start(Recordings.Limits.USUAL)) {
      name = record(recordings, 3, 1);
    }

    assertTrue(name.matches("[0-9]{8}T[0-9]{6}Z-dev_box-c-3\\.cast"), name);
    assertArrayEquals(LINE, cast(name).bytes());
    Path file = folder().resolve(name);
    assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
  }

  @Test
  void endsARecordingThatIsTooLarge() throws Exception {
    String name;
    try (tasks;
        var recordings = start(new Recordings.Limits(2_000, 1 << 20, 1 << 20))) {
      name = record(recordings, 0, 500);
    }

    Cast cast = cast(name);
    assertTrue(cast.marks().getLast().contains("the limit is 2000 bytes"), cast.toString());
    assertTrue(cast.bytes().length > 0 && cast.bytes().length < 2_000);
    assertTrue(Files.size(folder().resolve(name)) < 2_200);
  }

  @Test
  void deletesTheOldestThatHaveEnded() throws Exception {
    var limits = new Recordings.Limits(2_000, 5_000, 1 << 20);
    var recordings = new Recordings(folder(), limits, Clock.system());
    TerminalRecording open = recordings.begin(terminal(0)).orElseThrow();
    open.output(LINE, 0, LINE.length);
    for (int channel = 1; channel < 30; channel++) {
      record(recordings, channel, 20);
      recordings.drain();
    }
    open.end();
    recordings.drain();

    long all = files().stream().mapToLong(each -> each.toFile().length()).sum();
    assertTrue(all <= 6_000, files() + " have " + all);
    assertTrue(files().size() > 2);
    assertTrue(Files.exists(folder().resolve(open.name())), "it was not over");
  }

  @Test
  void saysWhatFoundNoRoomInMemory() throws Exception {
    String name;
    // The thread does not run: nothing leaves the queue.
    var recordings =
        new Recordings(folder(), new Recordings.Limits(9_999, 9_999, 300), Clock.system());
    TerminalRecording one = recordings.begin(terminal(0)).orElseThrow();
    name = one.name();
    for (int i = 0; i < 10; i++) {
      one.output(LINE, 0, LINE.length);
    }
    one.end();
    recordings.drain();

    assertArrayEquals(
        (new String(LINE, StandardCharsets.UTF_8).repeat(2)).getBytes(StandardCharsets.UTF_8),
        cast(name).bytes());
    assertEquals(List.of("gpush: 96 bytes are not recorded"), cast(name).marks());
  }

  @Test
  void goesOnWhenThereIsRoomAgain() throws Exception {
    // As a disk that is full: the file cannot be made until the folder in its place is gone.
    var recordings = new Recordings(folder(), Recordings.Limits.USUAL, Clock.system());
    TerminalRecording one = recordings.begin(terminal(0)).orElseThrow();
    Path inTheWay = Files.createDirectories(folder().resolve(one.name()));
    one.output(LINE, 0, LINE.length);
    recordings.drain();
    Files.delete(inTheWay);
    one.output(LINE, 0, LINE.length);
    one.end();
    recordings.drain();

    Cast cast = cast(one.name());
    assertArrayEquals(LINE, cast.bytes());
    assertEquals(List.of("gpush: 12 bytes are not recorded"), cast.marks());
  }

  @Test
  void doesNotBringBackAHomeThatWasRemoved() throws Exception {
    Path removed = home.resolve("removed/logs/recordings");
    try (tasks;
        var recordings =
            Recordings.start(removed, Recordings.Limits.USUAL, Clock.system(), tasks)) {
      record(recordings, 0, 1);
    }

    assertFalse(Files.exists(home.resolve("removed")));
  }
}
