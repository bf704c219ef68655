package dev.gpush.control.place;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Issue 14, line 21: a home that exists and is open to others. */
class HomeFolderTest {
  private static final String OPEN = "rwxr-xr-x";
  private static final int NOBODY = 65_534;

  @TempDir private Path folder;

  private Path home() {
    return folder.resolve("home");
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private Path open() throws IOException {
    Files.createDirectory(home());
    return Files.setPosixFilePermissions(home(), PosixFilePermissions.fromString(OPEN));
  }

  @Test
  void makesOneForItsUserAlone() throws IOException {
    HomeFolder.make(home());

    assertEquals("rwx------", mode(home()));
  }

  /** Others work in them: {@code /data/team}. */
  @Test
  void leavesTheFoldersAboveItToOthers() throws IOException {
    Path usual = Files.createDirectory(folder.resolve("usual"));

    HomeFolder.make(folder.resolve("data/team/ann"));

    assertEquals(mode(usual), mode(folder.resolve("data")));
    assertEquals(mode(usual), mode(folder.resolve("data/team")));
    assertEquals("rwx------", mode(folder.resolve("data/team/ann")));
  }

  @Test
  void leavesAStricterOneAsItIs() throws IOException {
    Files.createDirectory(home());
    Files.setPosixFilePermissions(home(), PosixFilePermissions.fromString("r-x------"));

    HomeFolder.make(home());

    assertEquals("r-x------", mode(home()));
  }

  @Test
  void closesAnEmptyOne() throws IOException {
    open();

    HomeFolder.make(home());

    assertEquals("rwx------", mode(home()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"config.yaml", "ledger", "keys"})
  void closesOneOfGpush(String name) throws IOException {
    Files.createFile(open().resolve(name));

    HomeFolder.make(home());

    assertEquals("rwx------", mode(home()));
  }

  /** Such as a patch for pods, which the configuration beside it names. */
  @Test
  void closesOneWithFilesOfTheUserBesideItsConfiguration() throws IOException {
    Files.createFile(open().resolve("config.yaml"));
    Files.createFile(home().resolve("pod.yaml"));

    HomeFolder.make(home());

    assertEquals("rwx------", mode(home()));
  }

  @Test
  void refusesAFolderThatServesAnotherPurpose() throws IOException {
    Files.createFile(open().resolve("index.html"));

    var refused = assertThrows(IOException.class, () -> HomeFolder.make(home()));

    assertEquals(
        home() + " is open to others (rwxr-xr-x), and has files that are not gpush's",
        refused.getMessage());
    assertEquals(OPEN, mode(home()));
  }

  @Test
  void refusesAnotherUsersThatIsOpen() throws IOException {
    assumeTrue(RunFolder.userId() == 0, "only root gives folders away");
    Files.setAttribute(open(), "unix:uid", NOBODY);

    var refused = assertThrows(IOException.class, () -> HomeFolder.make(home()));

    assertTrue(refused.getMessage().contains("belongs to another user"), refused.getMessage());
    assertEquals(OPEN, mode(home()));
  }
}
