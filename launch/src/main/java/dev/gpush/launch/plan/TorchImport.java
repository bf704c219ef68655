package dev.gpush.launch.plan;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * Whether a script needs torch: searches its text for imports at the left margin. For an import
 * within a function, or through another module, Python itself reports a missing torch.
 */
public final class TorchImport {
  /** Larger files are not written by hand. */
  private static final int MOST_BYTES = 1 << 20;

  private static final Pattern FROM = Pattern.compile("(?m)^from[ \\t]+torch[. \\t]");

  /** {@code import os, numpy as np, torch}, too. */
  private static final Pattern IMPORT =
      Pattern.compile("(?m)^import[ \\t]+(?:[\\w. \\t]+,[ \\t]*)*torch\\b");

  private TorchImport() {}

  public static boolean isIn(String text) {
    return FROM.matcher(text).find() || IMPORT.matcher(text).find();
  }

  public static boolean isIn(Path script) {
    try (var in = Files.newInputStream(script)) {
      return isIn(new String(in.readNBytes(MOST_BYTES), StandardCharsets.ISO_8859_1));
    } catch (IOException unreadable) {
      return false;
    }
  }
}
