package dev.gpush.ssh.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/**
 * Whether other people are logged in to this machine. Two things of Linux say so: the folder that
 * systemd makes for each user with a login ({@code /run/user/UID}), and the user that a process
 * belongs to since its login ({@code /proc/PID/loginuid}), also after {@code sudo}. Services have
 * neither. Other systems say nothing, and then nobody is assumed.
 */
public final class OtherPeople {
  /** Users below this are not people ({@code UID_MIN} of login.defs). */
  private static final long FIRST_PERSON = 1_000;

  /** {@code nobody}, and what the kernel says of processes without a login. */
  private static final long NOBODY = 65_534;

  private static final long NO_LOGIN = 0xffff_ffffL;

  private final Path runtime;
  private final Path processes;

  public OtherPeople() {
    this(Path.of("/run/user"), Path.of("/proc"));
  }

  OtherPeople(Path runtime, Path processes) {
    this.runtime = runtime;
    this.processes = processes;
  }

  /** Whether a user with another number than this one is logged in. */
  public boolean isAnybodyThere(long user) {
    return has(runtime, user, OtherPeople::number)
        || has(processes, user, process -> login(process));
  }

  private static boolean has(Path folder, long user, ToLongFunction<Path> owner) {
    try (Stream<Path> all = Files.list(folder)) {
      return all.mapToLong(owner)
          .anyMatch(id -> id >= FIRST_PERSON && id != NOBODY && id != NO_LOGIN && id != user);
    } catch (IOException | UncheckedIOException none) {
      return false;
    }
  }

  /** 0 where there is none. */
  private static long login(Path process) {
    if (number(process) == 0) {
      return 0;
    }
    try {
      return parsed(Files.readString(process.resolve("loginuid")).strip());
    } catch (IOException gone) {
      return 0;
    }
  }

  private static long number(Path path) {
    return parsed(String.valueOf(path.getFileName()));
  }

  private static long parsed(String text) {
    return text.matches("[0-9]{1,10}") ? Long.parseLong(text) : 0;
  }
}
