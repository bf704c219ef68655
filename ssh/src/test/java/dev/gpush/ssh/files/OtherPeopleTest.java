package dev.gpush.ssh.files;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OtherPeopleTest {
  private static final long USER = 1_000;

  @TempDir private Path machine;

  private boolean isAnybodyThere() {
    return new OtherPeople(machine.resolve("run/user"), machine.resolve("proc"))
        .isAnybodyThere(USER);
  }

  private void runtime(long user) throws IOException {
    Files.createDirectories(machine.resolve("run/user/" + user));
  }

  private void process(int id, String login) throws IOException {
    Path folder = Files.createDirectories(machine.resolve("proc/" + id));
    Files.writeString(folder.resolve("loginuid"), login);
  }

  @Test
  void areNotThereOnALaptop() throws Exception {
    runtime(USER);
    runtime(120);
    process(1, "4294967295");
    process(200, "1000\n");
    process(201, "0");
    process(202, "65534");
    Files.createDirectories(machine.resolve("proc/self"));
    Files.createDirectories(machine.resolve("proc/300"));

    assertFalse(isAnybodyThere());
  }

  @Test
  void haveAFolderWhileTheyAreLoggedIn() throws Exception {
    runtime(USER);
    runtime(2_410_332);

    assertTrue(isAnybodyThere());
  }

  @Test
  void ownProcessesThatBeganWithTheirLogin() throws Exception {
    process(200, "1000");
    process(201, "1001");

    assertTrue(isAnybodyThere());
  }

  @Test
  void areNotAssumedWhereTheSystemSaysNothing() {
    assertFalse(isAnybodyThere());
  }
}
