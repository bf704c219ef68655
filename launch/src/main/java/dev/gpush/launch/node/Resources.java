package dev.gpush.launch.node;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** Texts that lie beside the classes. */
public final class Resources {
  private Resources() {}

  public static String text(String name) {
    return text(Resources.class, name);
  }

  /** The text of this name beside the class. */
  public static String text(Class<?> beside, String name) {
    try (var in = beside.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("not packed: " + name);
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
