package dev.gpush.launch.fabric.facts;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A version of NCCL or torch, as far as rules look at it. */
public record SoftwareVersion(int major, int minor, String text) {
  private static final Pattern FORM = Pattern.compile("([0-9]{1,4})\\.([0-9]{1,4})([.+a-z-].*)?");

  static Optional<SoftwareVersion> parse(String text) {
    Matcher match = FORM.matcher(text);
    return match.matches()
        ? Optional.of(
            new SoftwareVersion(
                Integer.parseInt(match.group(1)), Integer.parseInt(match.group(2)), text))
        : Optional.empty();
  }

  public boolean isBelow(int otherMajor, int otherMinor) {
    return major < otherMajor || (major == otherMajor && minor < otherMinor);
  }
}
