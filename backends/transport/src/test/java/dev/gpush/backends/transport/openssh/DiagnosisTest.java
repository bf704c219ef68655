package dev.gpush.backends.transport.openssh;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.MachineFailure;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class DiagnosisTest {
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "UnknownHost | ssh: Could not resolve hostname nope: Name or service not known",
        "Refused | ssh: connect to host 10.0.0.1 port 22: Connection refused",
        "Unreachable | ssh: connect to host 10.0.0.1 port 22: Connection timed out",
        "Unreachable | ssh: connect to host 10.0.0.1 port 22: Operation timed out",
        "Unreachable | ssh: connect to host 10.0.0.1 port 22: No route to host",
        "Unreachable | Connection timed out during banner exchange",
        "NeedsYou | ann@10.0.0.1: Permission denied (keyboard-interactive).",
        "NeedsYou | ann@10.0.0.1: Permission denied (publickey,password).",
        "KeyRefused | ann@10.0.0.1: Permission denied (publickey).",
        "KeyRefused | ann@10.0.0.1: Permission denied (publickey,gssapi-with-mic).",
        "KeyRefused | Received disconnect from 10.0.0.1 port 22:2: Too many authentication"
            + " failures",
        "HostKeyUnknown | Host key verification failed.",
        "HostKeyUnknown | No ED25519 host key is known for h1 and you have requested strict"
            + " checking.",
        "ProxyFailed | channel 0: open failed: administratively prohibited: open failed;stdio"
            + " forwarding failed",
        "ProxyFailed | ssh: Could not resolve hostname gate: Name or service not known;Connection"
            + " closed by UNKNOWN port 65535",
        "Broken | Unable to negotiate with 10.0.0.1 port 22: no matching host key type found",
        "Broken | Bad owner or permissions on /home/ann/.ssh/config",
        "Broken | ''",
      })
  void tellsOneFromTheOther(String expected, String said) {
    MachineFailure failure = Diagnosis.of("h1", "rack", said.replace(';', '\n'));

    assertEquals(expected, failure.getClass().getSimpleName());
  }

  @Test
  void aChangedKeyIsSeenBeforeAllElseAndItsPlaceIsTold() {
    String said =
        """
        @@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@
        @    WARNING: REMOTE HOST IDENTIFICATION HAS CHANGED!     @
        Offending ED25519 key in /home/ann/.ssh/known_hosts:7
        Host key for 10.0.0.1 has changed and you have requested strict checking.
        Host key verification failed.
        """;

    assertEquals(
        new MachineFailure.HostKeyChanged(
            "h1", "the ED25519 key it had is in /home/ann/.ssh/known_hosts:7"),
        Diagnosis.of("h1", "rack", said));
  }

  @Test
  void whatAMachineSaysIsCleanedAndCapped() {
    var failure =
        (MachineFailure.Broken) Diagnosis.of("h1", "rack", "\u001b[31m" + "x".repeat(100_000));

    assertTrue(failure.reason().length() < 400);
    assertTrue(failure.reason().chars().noneMatch(Character::isISOControl));
  }
}
