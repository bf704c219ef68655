package dev.gpush.app;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.session.Holder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who a home is on a machine: the same after every restart, another one everywhere else. */
final class HolderFileTest {
  private static final String LAPTOP = "0a1b2c3d4e5f";
  private static final String LOGIN = "5f4e3d2c1b0a";

  @TempDir Path folder;
  private final Random random = new Random(7);

  private Holder holder(String home, String machine, String words) throws IOException {
    try (HolderFile file = take(home, machine, words)) {
      return file.holder();
    }
  }

  private HolderFile take(String home, String machine, String words) throws IOException {
    return HolderFile.take(new Home(folder.resolve(home)), words, machine, random);
  }

  @Test
  void isTheSameAfterARestartUnderAnotherName() throws Exception {
    Holder before = holder("home", LAPTOP, "ann@here:/h");

    Holder after = holder("home", LAPTOP, "ann@there:/h");

    assertTrue(before.isSame(after));
    assertEquals("ann@there:/h", after.words());
    assertEquals(Optional.of(LAPTOP), after.machine());
  }

  @Test
  void isAnotherOneOnEveryMachineThatSharesTheHome() throws Exception {
    Holder one = holder("home", LAPTOP, "ann@login1:/h");
    Holder two = holder("home", LOGIN, "ann@login2:/h");

    assertNotEquals(one.id(), two.id());
    assertEquals(one, holder("home", LAPTOP, "ann@login1:/h"));
  }

  @Test
  void isAnotherOneOnAMachineThatWasClonedWithItsIdWhileTheFirstIsAtWork() throws Exception {
    try (HolderFile one = take("home", LOGIN, "ann@login1:/h");
        HolderFile two = take("home", LOGIN, "ann@login2:/h")) {
      assertNotEquals(one.holder().id(), two.holder().id());
    }
  }

  @Test
  void isAnotherOneInACopyOfTheHome() throws Exception {
    Holder original = holder("home", LAPTOP, "ann@here:/h");
    Path copy = Files.createDirectories(folder.resolve("copy/holders"));
    try (Stream<Path> files = Files.list(folder.resolve("home/holders"))) {
      for (Path file : files.toList()) {
        Files.copy(file, copy.resolve(file.getFileName().toString()));
      }
    }

    assertNotEquals(original.id(), holder("copy", LAPTOP, "ann@here:/c").id());
  }

  @Test
  void tellsWhenTheHomeWasRemovedOrIsAnotherFolderNow() throws Exception {
    try (HolderFile file = take("home", LAPTOP, "ann@here:/h")) {
      assertFalse(file.isGone());
      Files.move(folder.resolve("home"), folder.resolve("away"));
      assertTrue(file.isGone());
      holder("home", LAPTOP, "ann@here:/h");
      assertTrue(file.isGone());
      Files.move(folder.resolve("home"), folder.resolve("other"));
      Files.move(folder.resolve("away"), folder.resolve("home"));
      assertFalse(file.isGone());
    }
  }

  @Test
  void aDamagedFileIsWrittenAgain() throws Exception {
    holder("home", LAPTOP, "ann@here:/h");
    try (Stream<Path> files = Files.list(folder.resolve("home/holders"))) {
      Files.writeString(files.findFirst().orElseThrow(), "");
    }

    Holder again = holder("home", LAPTOP, "ann@here:/h");

    assertEquals(again, holder("home", LAPTOP, "ann@here:/h"));
  }

  @Test
  void theMachineIsKnownByTheSystemsIdWhichIsNotGivenAway() throws Exception {
    Path none = folder.resolve("none");
    Path uninitialized = Files.writeString(folder.resolve("early"), "uninitialized\n");
    String id = "3d1219c7c4c5404aaa1f6d2a48adfda4";
    Path system = Files.writeString(folder.resolve("machine-id"), id + "\n");

    String known = MachineId.ofSystem(List.of(none, uninitialized, system)).orElseThrow();

    assertTrue(known.matches("[0-9a-f]{12}"), known);
    assertTrue(!id.contains(known));
    assertEquals(Optional.empty(), MachineId.ofSystem(List.of(none, uninitialized)));
  }

  @Test
  void aMachineWithoutAnIdGetsOneThatStays() throws Exception {
    Path stored = folder.resolve("machine-id");

    String made = MachineId.stored(stored, random);

    assertTrue(made.matches("[0-9a-f]{12}"), made);
    assertEquals(made, MachineId.stored(stored, random));
  }
}
