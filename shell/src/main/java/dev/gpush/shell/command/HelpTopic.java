package dev.gpush.shell.command;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What {@code gpush help} explains besides commands; the texts are resources. */
enum HelpTopic {
  SLURM,
  KUBERNETES,
  SKYPILOT,
  IDE,
  NCCL,
  AGENTS;

  static Optional<HelpTopic> named(String word) {
    return Arrays.stream(values()).filter(topic -> topic.word().equals(word)).findFirst();
  }

  String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The title of the text. A skill's is below the lines that programs read. */
  String summary() {
    String title =
        text().lines().filter(line -> line.matches("(# |[A-Z]).*")).findFirst().orElseThrow();
    return title.startsWith("# ") ? title.substring(2) : title;
  }

  /** At most 80 columns wide. */
  String text() {
    String name = "topics/" + word() + ".txt";
    try (InputStream text = HelpTopic.class.getResourceAsStream(name)) {
      if (text == null) {
        throw new IllegalStateException(name + " is not in the jar");
      }
      return new String(text.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }
}
