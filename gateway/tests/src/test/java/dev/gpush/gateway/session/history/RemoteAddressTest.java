package dev.gpush.gateway.session.history;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

final class RemoteAddressTest {
  @ParameterizedTest
  @CsvSource({
    "https://example.org/a/b.git, https://example.org/a/b.git",
    "https://ann@example.org/a/b.git, https://example.org/a/b.git",
    "https://ann:secret@example.org:8443/a/b, https://example.org:8443/a/b",
    "https://x:a/b@c@example.org/a/b, -",
    "https://example.org/a/b?token=secret, -",
    "https://example.org/a/b#secret, -",
    "ssh://git@example.org:22/a/b.git, ssh://git@example.org:22/a/b.git",
    "ssh://git:secret@example.org/a/b.git, -",
    "git@example.org:a/b.git, git@example.org:a/b.git",
    "ann:secret@example.org:a/b.git, -",
    "/srv/git/a.git, -",
    "ext::sh -c secret, -",
  })
  void hasNoSecret(String address, String known) {
    assertEquals(known, RemoteAddress.withoutSecrets(address).orElse("-"));
  }
}
