package dev.gpush.backends.transport.builtin.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import dev.gpush.backends.transport.builtin.config.KnownHosts.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class KnownHostsTest {
  private static final String KIND = "ssh-ed25519";

  @TempDir private Path folder;

  private Verdict verdict(String text, String name, String key) throws IOException {
    return verdict(text, name, key, Optional.empty());
  }

  private Verdict verdict(String text, String name, String key, Optional<String> authority)
      throws IOException {
    Path file = Files.writeString(folder.resolve("known"), text);
    return KnownHosts.read(List.of(file, folder.resolve("none")), name)
        .verdict(KIND, key, authority);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "gpu01; gpu01; Right",
        "gpu01,10.0.0.1; 10.0.0.1; Right",
        "*.lab; gpu01.lab; Right",
        "*.lab,!gpu01.lab; gpu01.lab; Unknown",
        "!gpu01; gpu02; Unknown",
        "[gpu01]:2222; [gpu01]:2222; Right",
        "gpu01; [gpu01]:2222; Unknown",
        "gpu; gpu01; Unknown"
      })
  void linesAreAboutTheHostsThatTheyName(String names, String name, String verdict)
      throws IOException {
    String text = "# comment\n\nbroken\n" + names + " " + KIND + " AAAA comment\n";

    assertEquals(verdict, verdict(text, name, "AAAA").getClass().getSimpleName());
  }

  @Test
  void anotherKeyOfTheKindIsAChangeAndOneOfAnotherKindIsNot() throws IOException {
    String text = "gpu01 ssh-rsa RRRR\ngpu01 ssh-ed25519 AAAA\n";

    Verdict.Wrong wrong = assertInstanceOf(Verdict.Wrong.class, verdict(text, "gpu01", "BBBB"));
    assertEquals("the ed25519 key it had is in " + folder.resolve("known") + ":2", wrong.reason());
    assertInstanceOf(Verdict.OtherKind.class, verdict("gpu01 ssh-rsa RRRR\n", "gpu01", "AAAA"));
  }

  @Test
  void aRevokedKeyIsWrongWhateverOtherLinesSay() throws IOException {
    String text = "gpu01 ssh-ed25519 AAAA\n@revoked * ssh-ed25519 AAAA\n";

    assertInstanceOf(Verdict.Wrong.class, verdict(text, "gpu01", "AAAA"));
  }

  @Test
  void anAuthorityVouchesForItsHostsOnly() throws IOException {
    String text = "@cert-authority *.lab ssh-ed25519 CCCC\n";

    assertInstanceOf(Verdict.Right.class, verdict(text, "gpu01.lab", "AAAA", Optional.of("CCCC")));
    assertInstanceOf(
        Verdict.Unknown.class, verdict(text, "gpu01.lab", "AAAA", Optional.of("DDDD")));
    assertInstanceOf(
        Verdict.Unknown.class, verdict(text, "gpu01.net", "AAAA", Optional.of("CCCC")));
    assertInstanceOf(Verdict.Unknown.class, verdict(text, "gpu01.lab", "CCCC"));
  }

  @Test
  void whatIsAddedIsFoundAgainHashedOrNot() throws IOException {
    Path file = folder.resolve("new/known");
    for (boolean isHashed : List.of(false, true)) {
      String name = "[gpu0" + isHashed + "]:22";
      KnownHosts.read(List.of(file), name).add(file, KIND, "AAAA", isHashed, new SecureRandom());

      assertInstanceOf(
          Verdict.Right.class,
          KnownHosts.read(List.of(file), name).verdict(KIND, "AAAA", Optional.empty()));
      assertEquals(!isHashed, Files.readString(file).contains(name));
    }
    assertEquals(2, Files.readAllLines(file).size());
  }
}
