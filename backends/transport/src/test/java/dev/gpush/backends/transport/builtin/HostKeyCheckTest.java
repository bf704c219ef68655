package dev.gpush.backends.transport.builtin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.backends.transport.Destination;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.talk.Person;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyPairGenerator;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.KeyType;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class HostKeyCheckTest {
  private static final PublicKey KEY = key("Ed25519");
  private static final PublicKey OTHER = key("Ed25519");
  private static final PublicKey OF_OTHER_KIND = key("EC");

  @TempDir private Path folder;

  private static PublicKey key(String algorithm) {
    try {
      return KeyPairGenerator.getInstance(algorithm).generateKeyPair().getPublic();
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /** As it stands in known_hosts. */
  private static String text(PublicKey key) {
    byte[] bytes = new Buffer.PlainBuffer().putPublicKey(key).getCompactData();
    return KeyType.fromKey(key) + " " + Base64.getEncoder().encodeToString(bytes);
  }

  private HostConfig config(String destination, String... strict) {
    Map<String, String> values =
        Map.of(
            "userknownhostsfile",
            folder.resolve("known") + " " + folder.resolve("none"),
            "globalknownhostsfile",
            "none",
            "stricthostkeychecking",
            strict.length == 0 ? "ask" : strict[0]);
    return new HostConfig(Destination.parse(destination), values, List.of(), folder, "me");
  }

  private Optional<MachineFailure> check(String known, String destination) throws IOException {
    Files.writeString(folder.resolve("known"), known);
    return check(config(destination), Optional.empty());
  }

  private static Optional<MachineFailure> check(HostConfig config, Optional<UserAnswers> user)
      throws IOException {
    var check = new HostKeyCheck(config, "rack", user);
    assertEquals(check.verify("ignored", 1, KEY), check.failure().isEmpty());
    return check.failure();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      value = {
        "gpu01; gpu01; yes",
        "gpu01; GPU01; yes",
        "gpu01,10.0.0.1; 10.0.0.1; yes",
        "*.lab; gpu01.lab; yes",
        "*.lab,!gpu01.lab; gpu01.lab; no",
        "!gpu01; gpu02; no",
        "[gpu01]:2222; gpu01:2222; yes",
        "gpu01; gpu01:2222; no",
        "gpu; gpu01; no"
      })
  void linesAreAboutTheHostsThatTheyName(String names, String destination, String isKnown)
      throws IOException {
    String known = "# comment\n\nbroken\n" + names + " " + text(KEY) + " comment!\n";

    Optional<MachineFailure> refused = check(known, destination);

    assertEquals(isKnown.equals("yes"), refused.isEmpty());
    refused.ifPresent(failure -> assertInstanceOf(MachineFailure.HostKeyUnknown.class, failure));
  }

  @Test
  void hashedNamesAreFound() throws Exception {
    byte[] salt = "twenty bytes of salt".getBytes(StandardCharsets.US_ASCII);
    Mac mac = Mac.getInstance("HmacSHA1");
    mac.init(new SecretKeySpec(salt, "HmacSHA1"));
    byte[] hash = mac.doFinal("[gpu01]:2222".getBytes(StandardCharsets.US_ASCII));
    Base64.Encoder encoder = Base64.getEncoder();
    String name = "|1|" + encoder.encodeToString(salt) + "|" + encoder.encodeToString(hash);

    assertTrue(check(name + " " + text(KEY) + "\n", "gpu01:2222").isEmpty());
    assertTrue(check(name + " " + text(KEY) + "\n", "gpu02:2222").isPresent());
    assertInstanceOf(
        MachineFailure.HostKeyChanged.class,
        check(name + " " + text(OTHER) + "\n", "gpu01:2222").orElseThrow());
  }

  @Test
  void anotherKeyOfTheKindIsAChangeAndOneOfAnotherKindIsNot() throws IOException {
    String known = "gpu01 " + text(OF_OTHER_KIND) + "\ngpu01 " + text(OTHER) + "\n";

    assertEquals(
        Optional.of(
            new MachineFailure.HostKeyChanged(
                "gpu01", "the ed25519 key it had is in " + folder.resolve("known"))),
        check(known, "gpu01"));
    assertInstanceOf(
        MachineFailure.HostKeyUnknown.class,
        check("gpu01 " + text(OF_OTHER_KIND) + "\n", "gpu01").orElseThrow());
    assertTrue(check(known + "gpu01 " + text(KEY) + "\n", "gpu01").isEmpty());
  }

  @Test
  void aRevokedKeyIsWrongWhateverOtherLinesSay() throws IOException {
    String known = "gpu01 " + text(KEY) + "\n@revoked * " + text(KEY) + "\n";

    assertInstanceOf(MachineFailure.HostKeyChanged.class, check(known, "gpu01").orElseThrow());
    assertTrue(
        check("gpu01 " + text(KEY) + "\n@revoked * " + text(OTHER) + "\n", "gpu01").isEmpty());
  }

  @Test
  void aLineThatNobodyCanReadIsNamed() {
    IOException refused = assertThrows(IOException.class, () -> check("*( " + text(KEY), "gpu01"));

    assertEquals("cannot read " + folder.resolve("known"), refused.getMessage());
  }

  /** An authority signs certificates; its own key is no host's. */
  @Test
  void theKeyOfAnAuthorityIsNoHosts() throws IOException {
    assertInstanceOf(
        MachineFailure.HostKeyUnknown.class,
        check("@cert-authority gpu01 " + text(KEY) + "\n", "gpu01").orElseThrow());
  }

  @Test
  void aKeyThatTheUserConfirmsIsKnownFromThenOn() throws IOException {
    Path known = Files.writeString(folder.resolve("known"), "gpu02 " + text(OTHER));
    HostConfig config = config("gpu01:2222");

    assertTrue(check(config, Optional.of(user(config, "no"))).isPresent());
    assertTrue(check(config, Optional.of(user(config, "yes"))).isEmpty());

    assertEquals(
        List.of("gpu02 " + text(OTHER), "[gpu01]:2222 " + text(KEY)), Files.readAllLines(known));
    assertTrue(check(config, Optional.empty()).isEmpty());
  }

  @Test
  void nobodyIsAskedAboutAChangedKeyOrWhereTheConfigurationIsStrict() throws IOException {
    HostConfig strict = config("gpu01", "yes");
    assertInstanceOf(
        MachineFailure.HostKeyUnknown.class,
        check(strict, Optional.of(user(strict, "yes"))).orElseThrow());

    Files.writeString(folder.resolve("known"), "gpu01 " + text(OTHER) + "\n");
    HostConfig config = config("gpu01");
    assertInstanceOf(
        MachineFailure.HostKeyChanged.class,
        check(config, Optional.of(user(config, "yes"))).orElseThrow());
  }

  private static UserAnswers user(HostConfig config, String answer) {
    return new UserAnswers(new Says(answer), config, "rack");
  }

  /** Gives the same answer to everything. */
  private record Says(String answer) implements Person {
    @Override
    public void say(String line) {}

    @Override
    public Optional<String> ask(String question, boolean hidden) {
      return Optional.of(answer);
    }

    @Override
    public int run(List<String> command, Map<String, String> environment) {
      throw new IllegalStateException("there is no program to run");
    }
  }
}
