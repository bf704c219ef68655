package dev.gpush.ssh.access;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.gpush.ssh.connection.Forwarding;
import java.util.Collections;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What options say; that they count as with sshd is in PlacesOfKeysTest. */
class KeyOptionsTest {
  private static Forwarding forwarding(String options) {
    return KeyOptions.parse(options).permissions().forwarding();
  }

  @Test
  void placesAddUpAndOneKindSaysNothingOfTheOther() {
    Forwarding limits = forwarding("permitopen=\"a:1\",pty,permitopen=\"[fe80::1]:2\"");

    assertEquals(Optional.empty(), limits.refusalToConnect("a", 1));
    assertEquals(Optional.empty(), limits.refusalToConnect("fe80::1", 2));
    assertEquals(
        Optional.of("your key may not connect to a:2; its permitopen is a:1, [fe80::1]:2"),
        limits.refusalToConnect("a", 2));
    assertEquals(Optional.empty(), limits.refusalToListen("a", 2));
    assertEquals(Optional.empty(), limits.refusalToListenAtSocket("/s"));
    assertEquals(
        Optional.of("your key may not connect to /s; its permitopen is a:1, [fe80::1]:2"),
        limits.refusalToConnectToSocket("/s"));
  }

  @Test
  void aBarePortListensOnAnyHost() {
    Forwarding limits = forwarding("permitlisten=\"8080\"");

    assertEquals(Optional.empty(), limits.refusalToListen("", 8080));
    assertEquals(Optional.empty(), limits.refusalToListen("0.0.0.0", 8080));
    assertEquals(
        Optional.of("your key may not listen on a:0; its permitlisten is *:8080"),
        limits.refusalToListen("a", 0));
    assertEquals(
        Optional.of("your key may not listen on /s; its permitlisten is *:8080"),
        limits.refusalToListenAtSocket("/s"));
  }

  @Test
  void aCertificateKeepsThePlacesOfItsLine() {
    Forwarding limits = Forwarding.ALL.and(forwarding("cert-authority,permitopen=\"a:1\""));

    assertEquals(
        Optional.of("your key may not connect to a:2; its permitopen is a:1"),
        limits.refusalToConnect("a", 2));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = ';',
      quoteCharacter = '`',
      value = {
        "permitopen=\"\"; permitopen is no host with a port: ",
        "permitopen=\"80\"; permitopen is no host with a port: 80",
        "permitopen=\"[a]80\"; permitopen is no host with a port: [a]80",
        "permitopen=\"[a:80\"; permitopen is no host with a port: [a:80",
        "permitopen=\"a:\"; permitopen has no port from 1 to 65535 and no *: a:",
        "permitopen=\"a:http\"; permitopen has no port from 1 to 65535 and no *: a:http",
        "permitopen=\"a:80 \"; permitopen has no port from 1 to 65535 and no *: a:80 ",
        "permitlisten=\"65536\"; permitlisten has no port from 1 to 65535 and no *: 65536",
        "permitlisten=\"[::1]\"; permitlisten is no host with a port: [::1]",
        "permitopen; the option permitopen is not supported",
        "permitopen=a:80; a value without quotes: a:80",
      })
  void saysWhatIsWrong(String options, String message) {
    var refused = assertThrows(IllegalArgumentException.class, () -> KeyOptions.parse(options));

    assertEquals(message.strip(), String.valueOf(refused.getMessage()).strip());
  }

  @Test
  void asManyPlacesAsSshdTakes() {
    String most = String.join(",", Collections.nCopies(4_096, "permitopen=\"a:1\""));

    assertEquals(Optional.empty(), forwarding(most).refusalToConnect("a", 1));
    assertThrows(
        IllegalArgumentException.class, () -> KeyOptions.parse(most + ",permitopen=\"a:1\""));
  }
}
