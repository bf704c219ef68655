package dev.gpush.control.place;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunFolderTest {
  @TempDir private Path temporary;

  @Test
  void isShortHoweverDeepTheHome() throws IOException {
    Path home = Path.of("/" + "a-deep-folder/".repeat(30) + ".gpush");

    Path socket = RunFolder.of(home).socket();

    assertTrue(socket.toString().getBytes(StandardCharsets.UTF_8).length < 100, socket::toString);
  }

  @Test
  void isTheSameForTheSameHomeAndAnotherForAnother() throws IOException {
    assertEquals(RunFolder.of(Path.of("/a")), RunFolder.of(Path.of("/a")));
    assertNotEquals(RunFolder.of(Path.of("/a")), RunFolder.of(Path.of("/b")));
  }

  @Test
  void isForItsUserAlone() throws IOException {
    RunFolder folder = RunFolder.of(Path.of("/a"), List.of(temporary)).make();

    for (Path made : List.of(folder.path(), folder.path().resolveSibling("."))) {
      assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(made)));
    }
    assertEquals(folder, RunFolder.of(Path.of("/a"), List.of(temporary)).make());
  }

  @Test
  void knowsTheUserAlsoWhereThereIsNoProc() throws IOException {
    assertEquals(RunFolder.userId(), RunFolder.userId(temporary.resolve("proc/self")));
  }

  @Test
  void goesToTheNextPlaceWhenOthersCouldEnterTheFirst() throws IOException {
    Path first = Files.createDirectory(temporary.resolve("first"));
    Path second = Files.createDirectory(temporary.resolve("second"));
    Path base = Files.createDirectory(first.resolve("gpush-" + RunFolder.userId()));
    Files.setPosixFilePermissions(base, PosixFilePermissions.fromString("rwxrwxrwx"));

    assertTrue(RunFolder.of(Path.of("/a"), List.of(first, second)).path().startsWith(second));
    assertThrows(IOException.class, () -> RunFolder.of(Path.of("/a"), List.of(first)));
  }

  @Test
  void doesNotFollowALinkThatSomebodyLaidThere() throws IOException {
    Path elsewhere = Files.createDirectory(temporary.resolve("elsewhere"));
    Files.setPosixFilePermissions(elsewhere, PosixFilePermissions.fromString("rwx------"));
    Files.createSymbolicLink(temporary.resolve("gpush-" + RunFolder.userId()), elsewhere);

    assertThrows(IOException.class, () -> RunFolder.of(Path.of("/a"), List.of(temporary)));
  }

  @Test
  void takesAHomeByItsRealPath() throws IOException {
    Path home = Files.createDirectory(temporary.resolve("home"));
    Path link = Files.createSymbolicLink(temporary.resolve("link"), home);

    assertEquals(home.toRealPath(), RunFolder.realHome(link));
    assertEquals(temporary.resolve("none"), RunFolder.realHome(temporary.resolve("x/../none")));
  }

  @Test
  void takesAHomeThatIsNotThereYetAsItWillBe() throws IOException {
    Path disk = Files.createDirectory(temporary.toRealPath().resolve("disk"));
    Path link = Files.createSymbolicLink(temporary.resolve("link"), disk);
    Path dangling = Files.createSymbolicLink(temporary.resolve("h"), Path.of("link/later/home"));
    Files.createSymbolicLink(temporary.resolve("loop"), Path.of("loop"));
    for (Path home :
        List.of(
            link.resolve("home"),
            link.resolve("deep/er/home"),
            link.resolve("../link/other"),
            dangling)) {
      Path before = RunFolder.realHome(home);

      Files.createDirectories(before);

      assertEquals(RunFolder.realHome(home), before, home::toString);
      assertTrue(before.startsWith(disk), before::toString);
    }
    // It can never be made; what fails then says so.
    assertTrue(RunFolder.realHome(temporary.resolve("loop")).endsWith("loop"));
  }

  @Test
  void takesAHomeByANameRelativeToTheCurrentFolder() throws IOException {
    assertEquals(
        Path.of("").toRealPath().resolve("not-there-yet"),
        RunFolder.realHome(Path.of("not-there-yet")));
  }
}
