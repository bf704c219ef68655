package dev.gpush.shell.command.session;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The facts of an imagined gang, from a file of the user. */
final class FactsFile {
  /** 256 nodes with 100 kB each: far more than a node says. */
  private static final int MOST_BYTES = 32 << 20;

  private FactsFile() {}

  static Json read(Path folder, String file) {
    Path path = folder.resolve(file);
    if (!Files.isRegularFile(path)) {
      throw bad(file, "a file with a JSON list of node facts");
    }
    Json json = parsed(file, text(path, file));
    boolean isList = json instanceof Json.Arr || !json.items("nodes").isEmpty();
    if (!isList) {
      throw bad(file, "a JSON list with the facts of each node, or an object with such \"nodes\"");
    }
    return json;
  }

  private static Json parsed(String file, String text) {
    try {
      return Json.parse(text);
    } catch (JsonSyntaxException broken) {
      throw bad(file, "JSON; this file is not: " + broken.getMessage());
    }
  }

  private static String text(Path path, String file) {
    try (InputStream input = Files.newInputStream(path)) {
      byte[] bytes = input.readNBytes(MOST_BYTES + 1);
      if (bytes.length > MOST_BYTES) {
        throw bad(file, "a file of at most 32 MB");
      }
      return new String(bytes, StandardCharsets.UTF_8);
    } catch (AccessDeniedException denied) {
      throw new GpushException(new ConfigFailure.Unreadable(file, "permission denied"), denied);
    } catch (IOException broken) {
      throw new GpushException(
          new ConfigFailure.Unreadable(file, String.valueOf(broken.getMessage())), broken);
    }
  }

  private static GpushException bad(String file, String rule) {
    return new GpushException(new UsageFailure.BadValue("--facts", file, rule));
  }
}
