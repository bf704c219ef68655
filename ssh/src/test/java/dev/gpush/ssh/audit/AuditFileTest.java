package dev.gpush.ssh.audit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.time.Clock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditFileTest {
  @TempDir private Path home;

  private void write(Path folder, long limit, int records) {
    try (Tasks tasks = Tasks.named("audit", (_, failure) -> failure.printStackTrace());
        AuditFile file = AuditFile.start(folder, limit, Clock.system(), tasks)) {
      for (int i = 0; i < records; i++) {
        file.write(Json.object("event", "begin", "number", i));
      }
    }
  }

  private static List<Long> numbers(Path folder) throws IOException {
    var numbers = new ArrayList<Long>();
    for (int file = AuditFile.KEPT; file >= 0; file--) {
      Path path = folder.resolve(AuditFile.NAME + (file == 0 ? "" : "." + file));
      if (Files.exists(path)) {
        for (String line : Files.readAllLines(path)) {
          numbers.add(Json.parse(line).number("number").orElseThrow());
        }
      }
    }
    return numbers;
  }

  @Test
  void losesNothingWhenItRotates() throws Exception {
    Path folder = home.resolve("logs");

    write(folder, 1_000, 60);

    assertTrue(Files.exists(folder.resolve(AuditFile.NAME + ".1")));
    assertEquals(IntStream.range(0, 60).mapToObj(Long::valueOf).toList(), numbers(folder));
  }

  @Test
  void keepsSoManyFilesOfALimitedSize() throws Exception {
    Path folder = home.resolve("logs");

    write(folder, 1_000, 1_000);

    try (Stream<Path> files = Files.list(folder)) {
      assertEquals(
          AuditFile.KEPT + 1, files.filter(each -> each.toFile().length() <= 1_000).count());
    }
    assertEquals(999L, numbers(folder).getLast());
  }

  @Test
  void goesOnWhereTheLastGatewayStopped() throws Exception {
    write(home, 1_000_000, 2);
    write(home, 1_000_000, 1);

    assertEquals(List.of(0L, 1L, 0L), numbers(home));
  }

  @Test
  void reportsTheRecordsThatFoundNoRoom() throws Exception {
    Path full = Files.createDirectory(home.resolve("logs"));
    // As a disk that is full: the file cannot be opened until the folder in its place is gone.
    Path inTheWay = Files.createDirectory(full.resolve(AuditFile.NAME));
    var file = new AuditFile(full, 1_000, Clock.system());

    file.append(Json.object("event", "begin", "number", 1));
    file.append(Json.object("event", "begin", "number", 2));
    Files.delete(inTheWay);
    file.append(Json.object("event", "begin", "number", 3));

    List<String> lines = Files.readAllLines(inTheWay).stream().filter(l -> !l.isEmpty()).toList();
    assertEquals("lost", Json.parse(lines.getFirst()).text("event").orElseThrow());
    assertEquals(2, Json.parse(lines.getFirst()).number("records").orElseThrow());
    assertEquals(3, Json.parse(lines.get(1)).number("number").orElseThrow());
  }

  @Test
  void doesNotBringBackAHomeThatWasRemoved() {
    write(home.resolve("removed/logs"), 1_000, 3);

    assertFalse(Files.exists(home.resolve("removed")));
  }
}
