package dev.gpush.launch.fabric.facts;

import java.util.Optional;
import java.util.regex.Pattern;

/** A version of NCCL or torch, as rules compare and show it. */
public record SoftwareVersion(String text) {
  private static final Pattern FORM = Pattern.compile("[0-9]{1,4}\\.[0-9]{1,4}([.+a-z-].*)?");

  static Optional<SoftwareVersion> parse(String text) {
    return FORM.matcher(text).matches() ? Optional.of(new SoftwareVersion(text)) : Optional.empty();
  }
}
