package dev.gpush.app.life;

import dev.gpush.core.task.Clock;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;

/**
 * The file by which the launcher knows that a build in the cache is used: it removes those whose
 * mark is a month old. Each command of the launcher marks its build; ssh and editors come without
 * one, so the gateway marks its own too.
 */
public final class BuildMark {
  private static final Duration OLD = Duration.ofDays(1);

  private final Path file;
  private final Clock clock;

  BuildMark(Path file, Clock clock) {
    this.file = file;
    this.clock = clock;
  }

  /** Of the build whose jars this process runs: beside their folder. */
  public static BuildMark ofThisProcess(Clock clock) {
    String jar = System.getProperty("java.class.path").split(File.pathSeparator, 2)[0];
    return new BuildMark(Path.of(jar).resolve("../../used").normalize(), clock);
  }

  /** Called every few seconds, as a machine may have slept for weeks in between. */
  public void tick() {
    Instant now = clock.now();
    try {
      if (Files.getLastModifiedTime(file).toInstant().isBefore(now.minus(OLD))) {
        Files.setLastModifiedTime(file, FileTime.from(now));
      }
    } catch (IOException absent) {
      // Not a build of the launcher, or its cache was removed.
    }
  }
}
