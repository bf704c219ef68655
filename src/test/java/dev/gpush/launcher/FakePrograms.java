package dev.gpush.launcher;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/** Programs of a test: shell scripts below a folder. */
record FakePrograms(Path folder) {
  /**
   * The begin of a java: {@code words} are those that are not for the virtual machine. A cache that
   * it is to write is an empty file.
   */
  static final String JAVA =
      """
      words=
      for word; do
        case $word in
          -XX:AOTCacheOutput=*) : >"${word#*=}" ;;
          -*) ;;
          *) words="$words $word" ;;
        esac
      done
      """;

  void add(String name, String script) throws IOException {
    Path file = folder.resolve(name);
    Files.createDirectories(file.resolveSibling("."));
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** What they have written to a file. */
  static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException unreadable) {
      return unreadable.toString();
    }
  }
}
