package dev.gpush.shell.command;

import dev.gpush.core.text.Resource;
import dev.gpush.core.text.Worded;

/** What {@code gpush help} explains besides commands; the texts are resources. */
enum HelpTopic implements Worded {
  SLURM,
  KUBERNETES,
  SKYPILOT,
  IDE,
  NCCL,
  AGENTS;

  /** The title of the text. A skill's is below the lines that programs read. */
  String summary() {
    String title =
        text().lines().filter(line -> line.matches("(# |[A-Z]).*")).findFirst().orElseThrow();
    return title.startsWith("# ") ? title.substring(2) : title;
  }

  /** At most 80 columns wide. */
  String text() {
    return Resource.text(HelpTopic.class, "topics/" + word() + ".txt");
  }
}
