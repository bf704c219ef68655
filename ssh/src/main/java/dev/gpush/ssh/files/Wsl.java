package dev.gpush.ssh.files;

import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * The Windows below, where gpush runs inside WSL.
 *
 * @param distribution the name by which {@code wsl.exe -d} starts it
 */
public record Wsl(String distribution, Programs programs) {
  /** The names that {@code wsl --install} gives, and no sign that Windows' command lines quote. */
  private static final String NAME = "[A-Za-z0-9._-]{1,100}";

  /** Starts {@code cmd.exe}, {@code wslpath} and what else WSL offers of Windows. */
  @FunctionalInterface
  public interface Programs {
    /** What it prints, without white space at the ends; empty when it is missing or fails. */
    Optional<String> output(List<String> words);
  }

  public Wsl {
    if (!distribution.matches(NAME)) {
      throw new IllegalArgumentException("no name of a distribution: " + distribution);
    }
  }

  /**
   * The Windows below this system; empty where there is none.
   *
   * @param kernel what {@code /proc/version} says
   * @param name the value of {@code WSL_DISTRO_NAME}
   */
  public static Optional<Wsl> of(String kernel, Optional<String> name, Programs programs) {
    boolean isWsl = kernel.toLowerCase(Locale.ROOT).contains("microsoft");
    return name.filter(_ -> isWsl)
        .filter(given -> given.matches(NAME))
        .map(given -> new Wsl(given, programs));
  }

  /** A variable of the Windows user. */
  Optional<String> variable(String name) {
    return programs
        .output(List.of("cmd.exe", "/d", "/c", "echo %" + name + "%"))
        .filter(value -> !value.isEmpty() && !value.contains("%"));
  }

  /** Where a path of Windows is here. */
  Optional<String> here(String path) {
    return programs.output(List.of("wslpath", "-u", path)).filter(found -> found.startsWith("/"));
  }

  /** The path of Windows with slashes, as its ssh takes it. */
  Optional<String> there(String path) {
    return programs.output(List.of("wslpath", "-m", path)).filter(found -> !found.isEmpty());
  }
}
