package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code gpush link --windows} with stand-ins for what WSL has of Windows; no Windows was tried.
 */
@Tag("local")
final class WindowsIT {
  @TempDir private Path folder;

  private void program(String name, String text) throws Exception {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwx------"));
  }

  @Test
  void itsSshFindsSessionsUntilThatIsUndone() throws Exception {
    Path profile = Files.createDirectories(folder.resolve("ann"));
    Path version = folder.resolve("version");
    Files.writeString(version, "Linux version 5.15.167.4-microsoft-standard-WSL2\n");
    program("cmd.exe", "case $3 in *PROFILE*) printf 'C:\\\\ann\\r\\n';; *) echo ann;; esac");
    program("wslpath", "[ $1 = -m ] && echo \"$2\" || echo '" + profile + "'");
    program("wsl.exe", "shift 3; exec \"$@\"");
    program("icacls.exe", "true");
    Map<String, String> variables =
        Map.of(
            "PATH",
            folder + ":" + System.getenv("PATH"),
            "WSL_DISTRO_NAME",
            "Ubuntu",
            "GPUSH_KERNEL_VERSION",
            version.toString());
    try (World world = World.fresh(variables)) {
      world.gpush("up").succeeded();

      world.gpush("link", "--windows", "--yes").succeeded();

      String config = profile.resolve(".ssh/config").toString();
      Result in = world.run(new byte[0], "ssh", "-F", config, "devbox", "echo in; exit 7");
      assertEquals("in\n", in.exits(7).out());
      Result undone = world.gpush("link", "--windows", "--remove").succeeded();
      assertTrue(undone.err().contains("unlinked"), undone::toString);
      try (var left = Files.list(profile.resolve(".ssh"))) {
        assertEquals(List.of(Path.of(config)), left.toList());
      }
      assertEquals("", Files.readString(Path.of(config)));
    }
  }

  @Test
  void elsewhereItIsRefused() throws Exception {
    try (World world = World.fresh()) {
      Result refused = world.gpush("link", "--windows", "--yes");

      assertTrue(refused.err().contains("--windows is for WSL"), refused::toString);
      assertFalse(refused.err().contains("linked:"), refused::toString);
    }
  }
}
