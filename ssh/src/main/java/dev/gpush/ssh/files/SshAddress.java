package dev.gpush.ssh.files;

import java.nio.file.Path;

/** Where clients reach the SSH server. */
public sealed interface SshAddress {
  /** A port of 127.0.0.1, which every client can reach, and every user of the machine can try. */
  record Port(int number) implements SshAddress {}

  /** A socket that only this user can open; clients reach it through {@link ProxyFiles}. */
  record Socket(Path path) implements SshAddress {}
}
