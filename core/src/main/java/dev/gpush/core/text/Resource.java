package dev.gpush.core.text;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** A file in the jars, beside a class. */
public final class Resource {
  private Resource() {}

  public static String text(Class<?> beside, String name) {
    return new String(bytes(beside, name), StandardCharsets.UTF_8);
  }

  public static byte[] bytes(Class<?> beside, String name) {
    try (InputStream file = beside.getResourceAsStream(name)) {
      if (file == null) {
        throw new IllegalStateException("not in the jar: " + name);
      }
      return file.readAllBytes();
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
