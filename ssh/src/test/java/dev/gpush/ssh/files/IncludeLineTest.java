package dev.gpush.ssh.files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.talk.Talk;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class IncludeLineTest {
  private static final String LINE = "Include \"/home/me/.gpush/ssh_config\"\n";

  @TempDir private Path folder;
  private final List<String> said = new ArrayList<>();

  private Path file() {
    return folder.resolve("config");
  }

  private IncludeLine include() {
    return new IncludeLine(file(), Path.of("/home/me/.gpush/ssh_config"));
  }

  private Talk willing() {
    return new Talk() {
      @Override
      public void say(String line) {
        said.add(line);
      }

      @Override
      public Step step(String what) {
        return Talk.silent().step(what);
      }

      @Override
      public void confirm(String question, String flag) {
        said.add(question + " " + flag);
      }
    };
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "\n",
        "Host a\n  Port 1\n",
        "Host a\n  Port 1",
        "Host a\r\n\tPort 1\r\n",
        "# ümläut\nInclude \"/home/me/.gpush/ssh_config_too\"\n",
      })
  void leavesTheRestOfTheFileAsItIs(String before) throws IOException {
    Files.writeString(file(), before);

    include().add(willing());

    assertEquals(LINE + before, Files.readString(file()));
    assertTrue(include().isThere());

    include().remove(willing());

    assertEquals(before, Files.readString(file()));
    assertFalse(include().isThere());
  }

  @Test
  void leavesBytesThatAreNoText() throws IOException {
    byte[] before = {(byte) 0xff, '\n', (byte) 0xfe, 0, 'x'};
    Files.write(file(), before);

    include().add(willing());
    include().remove(willing());

    assertArrayEquals(before, Files.readAllBytes(file()));
  }

  @Test
  void makesTheFileAndEmptiesIt() throws IOException {
    include().add(willing());

    assertEquals(LINE, Files.readString(file()));
    assertEquals("rw-------", mode());

    include().remove(willing());

    assertEquals("", Files.readString(file()));
  }

  @Test
  void keepsAFileThatHasMoreInItNow() throws IOException {
    include().add(willing());
    Files.writeString(file(), Files.readString(file()) + "Host b\n");

    include().remove(willing());

    assertEquals("Host b\n", Files.readString(file()));
  }

  @Test
  void addsItOnce() throws IOException {
    Files.writeString(file(), "Host a\n");

    include().add(willing());
    include().add(willing());

    assertEquals(LINE + "Host a\n", Files.readString(file()));
    assertEquals("Add one Include line to the top of " + file() + "? --yes", said.getFirst());
    assertTrue(said.getLast().startsWith("already linked"), said.getLast());
  }

  @Test
  void findsTheLineWhereverItWasMoved() throws IOException {
    Files.writeString(file(), "Host a\n" + LINE + "Host b\n");

    assertTrue(include().isThere());
    include().remove(willing());

    assertEquals("Host a\nHost b\n", Files.readString(file()));
  }

  @Test
  void changesNothingWhenNobodyAgreed() throws IOException {
    Files.writeString(file(), "Host a\n");

    var declined = assertThrows(GpushException.class, () -> include().add(Talk.silent()));

    assertTrue(declined.failure() instanceof UsageFailure.NobodyToAsk);
    assertEquals("Host a\n", Files.readString(file()));
  }

  @Test
  void writesThroughALinkAndKeepsTheMode() throws IOException {
    Path real = Files.createDirectories(folder.resolve("dotfiles")).resolve("ssh");
    Files.writeString(real, "Host a\n");
    Files.setPosixFilePermissions(real, PosixFilePermissions.fromString("rw-r-----"));
    Files.createSymbolicLink(file(), real);

    include().add(willing());

    assertTrue(Files.isSymbolicLink(file()));
    assertEquals(LINE + "Host a\n", Files.readString(real));
    assertEquals("rw-r-----", mode());
  }

  private String mode() throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file()));
  }

  @Test
  void saysThatItCannotWrite() throws IOException {
    Files.createDirectory(file());

    var failed = assertThrows(GpushException.class, () -> include().add(willing()));

    assertTrue(failed.failure() instanceof ConfigFailure.Unreadable);
  }

  @Test
  void leavesADanglingLinkAlone() throws IOException {
    Files.createSymbolicLink(file(), folder.resolve("nowhere"));

    assertThrows(GpushException.class, () -> include().add(willing()));

    assertTrue(Files.isSymbolicLink(file()));
  }

  @Test
  void leavesNoOtherFileBehind() throws IOException {
    Files.writeString(file(), "Host a\n", StandardCharsets.UTF_8);

    include().add(willing());

    try (var files = Files.list(folder)) {
      assertEquals(List.of(file()), files.toList());
    }
  }
}
