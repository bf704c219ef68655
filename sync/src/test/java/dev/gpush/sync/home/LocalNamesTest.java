package dev.gpush.sync.home;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Optional;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class LocalNamesTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        ".git",
        ".GIT",
        ".gIt",
        ".git.",
        ".git ",
        ".git . .",
        ".GIT...",
        "git~1",
        "GIT~1",
        "GiT~12",
        "git~1.",
        "git~1 ",
        ".git::$INDEX_ALLOCATION",
        ".git:x",
        ".git :x",
        ".git. ::$DATA",
        "git~1:y",
        ".git\\hooks",
        "a\\.GIT",
        "a\\b\\git~1\\hooks",
        "x:.git",
        ".g\u200cit",
        ".\u200dgit",
        ".git\u200e",
        ".gi\u200ft",
        ".g\u202ait",
        ".g\u202eit",
        ".g\u206ait",
        ".g\u206fit",
        "\ufeff.git",
        ".G\u00adIT",
        ".gi\ufe0ft",
        ".g\u034fit",
        ".git\u200c.",
      })
  void refusesWhatSomeDiskTakesForGit(String name) {
    assertTrue(LocalNames.isGit(name));
    assertTrue(LocalNames.refusal(name).isPresent());
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "a/b", "a\0b", "\ud800", "x\udc00y"})
  void refusesWhatIsNoName(String name) {
    assertTrue(LocalNames.refusal(name).isPresent());
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        ".gitignore",
        ".gitmodules",
        ".github",
        ".gitt",
        "git",
        "git~",
        "git~x",
        "digit~1",
        "my.git",
        "x.git",
        ". git",
        "..git",
        "..foo",
        "a:b",
        "a\\b",
        "Ünïcode ",
        "file.",
        " ",
        "π",
        "git.~1~"
      })
  void takesOtherNames(String name) {
    assertFalse(LocalNames.isGit(name));
    assertEquals(Optional.empty(), LocalNames.refusal(name));
  }

  @Test
  void knowsTheNamesOfGitmodules() {
    for (String name : new String[] {".gitmodules", ".GitModules ", "gitmod~1", "GI7EBA~1"}) {
      assertTrue(LocalNames.isGitModules(name), name);
    }
    assertFalse(LocalNames.isGitModules("gitmodules"));
  }

  @Test
  void foldsWhatADiskMayTakeForOneName() {
    for (String[] same :
        new String[][] {
          {"Makefile", "makefile"},
          {"a", "a."},
          {"a", "a  "},
          {"\u00e9", "e\u0301"},
          {"\u00c9", "e\u0301"},
          {"stra\u00dfe", "STRASSE"},
          {"\u03c3", "\u03c2"},
          {"a\u200db", "AB"},
          {"\u212a", "k"},
        }) {
      assertEquals(LocalNames.folded(same[0]), LocalNames.folded(same[1]), same[0]);
    }
    assertNotEquals(LocalNames.folded("a"), LocalNames.folded("b"));
    assertNotEquals(LocalNames.folded(".a"), LocalNames.folded("a"));
  }

  /** Whatever is put between the letters and behind them, in whatever case. */
  @RepeatedTest(20)
  void refusesGitInEveryDisguise() {
    long seed = Long.getLong("gpush.seed", System.nanoTime());
    var random = new java.util.Random(seed);
    int[] unseen = {0x200c, 0x200d, 0x200e, 0x200f, 0x202a, 0x202e, 0x206a, 0x206f, 0xfeff, 0xad};
    for (int round = 0; round < 500; round++) {
      var name = new StringBuilder();
      for (char letter : ".git".toCharArray()) {
        name.append(random.nextBoolean() ? Character.toUpperCase(letter) : letter);
        for (int i = random.nextInt(3); i > 0; i--) {
          name.appendCodePoint(unseen[random.nextInt(unseen.length)]);
        }
      }
      for (int i = random.nextInt(3); i > 0; i--) {
        name.append(random.nextBoolean() ? '.' : ' ');
      }
      name.append(random.nextInt(3) == 0 ? ":stream" : "");
      assertTrue(LocalNames.isGit(name.toString()), () -> name + " gpush.seed=" + seed);
    }
  }
}
