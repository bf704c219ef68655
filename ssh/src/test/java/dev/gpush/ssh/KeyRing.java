package dev.gpush.ssh;

import dev.gpush.core.file.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Keys and certificates made by ssh-keygen, and ssh clients that have one of them only. */
final class KeyRing {
  private final Rig rig;

  KeyRing(Rig rig) {
    this.rig = rig;
  }

  /** A new key; returns its private file. */
  Path key(String name, String... options) throws IOException, InterruptedException {
    Path file = rig.folder().resolve(name);
    var words = new ArrayList<>(List.of(options.length == 0 ? "-ted25519" : options[0]));
    words.addAll(List.of(options).subList(Math.min(1, options.length), options.length));
    words.addAll(List.of("-q", "-N", "", "-C", name + "@laptop", "-f", file.toString()));
    keygen(words.toArray(String[]::new));
    return file;
  }

  void keygen(String... options) throws IOException, InterruptedException {
    var words = new ArrayList<>(List.of("ssh-keygen"));
    words.addAll(List.of(options));
    var result = new Command(words, rig.folder()).run();
    if (result.status() != 0) {
      throw new IOException(words + ": " + result.text() + result.errors());
    }
  }

  static String line(Path key) throws IOException {
    return Files.readString(Path.of(key + ".pub")).strip();
  }

  /** Replaces the home's {@code authorized_keys}. */
  void authorize(String... lines) throws IOException {
    WholeFile.write(
        rig.home().resolve("authorized_keys"), String.join("\n", lines) + "\n", "rw-------");
  }

  void trust(Path authority) throws IOException {
    WholeFile.write(rig.home().resolve("user_ca.pub"), line(authority) + "\n", "rw-------");
  }

  /** A client that has this key, and its certificate if there is one beside it. */
  List<String> words(Path key, String... more) {
    var words =
        new ArrayList<>(
            List.of(
                "ssh",
                "-F",
                "none",
                "-i",
                key.toString(),
                "-o",
                "IdentitiesOnly=yes",
                "-o",
                "StrictHostKeyChecking=no",
                "-o",
                "UserKnownHostsFile=/dev/null",
                "-p",
                rig.gateway().port() + "",
                "-l",
                "devbox"));
    words.addAll(List.of(more));
    return words;
  }

  Command ssh(Path key, String... more) {
    return new Command(words(key, more), rig.folder());
  }
}
