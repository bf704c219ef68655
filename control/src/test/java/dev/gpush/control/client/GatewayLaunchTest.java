package dev.gpush.control.client;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GatewayLaunchTest {
  @TempDir private Path folder;

  @Test
  void findsTheProgramsOfHomebrewThatADesktopsPathLacks() throws IOException {
    Path none = Files.createDirectory(folder.resolve("none"));
    Path homebrew = Files.createDirectory(folder.resolve("homebrew"));
    assertTrue(Files.createFile(homebrew.resolve("brew")).toFile().setExecutable(true));
    List<Path> places = List.of(none, homebrew);

    assertEquals("/usr/bin:/bin:" + homebrew, GatewayLaunch.path("/usr/bin:/bin", places));
    assertEquals(homebrew + ":/bin", GatewayLaunch.path(homebrew + ":/bin", places));
  }
}
