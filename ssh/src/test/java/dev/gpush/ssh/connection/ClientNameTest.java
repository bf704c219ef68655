package dev.gpush.ssh.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClientNameTest {
  @ParameterizedTest
  @CsvSource({
    "SSH-2.0-OpenSSH_9.9p1 Debian-3, ssh",
    "SSH-2.0-SSHJ_0.38.0, JetBrains",
    "SSH-2.0-ssh2js1.15.0, an editor",
    "SSH-2.0-JSCH_0.2.17, JSch",
    "SSH-2.0-PuTTY_Release_0.81, PuTTY",
    "SSH-2.0-paramiko_3.4.0, paramiko",
    "SSH-2.0-AsyncSSH_2.14, AsyncSSH",
    "SSH-2.0-dropbear_2022.83, dbclient",
    "SSH-2.0-Go, Go",
    "SSH-2.0-libssh_0.10.6, libssh",
    "SSH-2.0-, ssh"
  })
  void isWhatUsersCallIt(String version, String name) {
    assertEquals(name, ClientName.of(version));
  }
}
