package dev.gpush.app.life;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.gpush.testkit.fake.ManualClock;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildMarkTest {
  @TempDir private Path folder;
  private final ManualClock clock = new ManualClock();
  private Path file;
  private BuildMark mark;

  @BeforeEach
  void prepare() {
    file = folder.resolve("used");
    mark = new BuildMark(file, clock);
  }

  @Test
  void isRenewedWhenItIsADayOld() throws Exception {
    Instant began = clock.now();
    Files.createFile(file);
    Files.setLastModifiedTime(file, FileTime.from(began));

    clock.advance(Duration.ofHours(23));
    mark.tick();
    assertEquals(began, time());

    clock.advance(Duration.ofDays(40));
    mark.tick();
    assertEquals(clock.now(), time());
  }

  @Test
  void isNotMade() {
    mark.tick();

    assertFalse(Files.exists(file));
  }

  private Instant time() throws IOException {
    return Files.getLastModifiedTime(file).toInstant();
  }
}
