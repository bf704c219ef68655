package dev.gpush.shell.command;

import dev.gpush.core.file.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;

/**
 * What the Python package has in {@code share}, where man and the shells look beside {@code bin}:
 * manual pages, completions, and the skill for coding agents.
 */
public final class PackageFiles {
  private static final String MODE = "rw-r--r--";

  private PackageFiles() {}

  /** Writes them to a folder: the build of the package calls it. */
  public static void main(String[] words) throws IOException {
    write(Path.of(words[0]), all());
  }

  /** By their paths below the folder. */
  static void write(Path folder, Map<String, String> files) throws IOException {
    for (Map.Entry<String, String> file : files.entrySet()) {
      Path to = folder.resolve(file.getKey());
      Files.createDirectories(to.resolveSibling("."));
      WholeFile.write(to, file.getValue(), MODE);
    }
  }

  /** By their paths below {@code share}. */
  private static Map<String, String> all() {
    Map<String, String> files = new TreeMap<>();
    ManPages.all().forEach((name, page) -> files.put("man/man1/" + name, page));
    files.put("bash-completion/completions/gpush", CompletionCommand.BASH);
    files.put("zsh/site-functions/_gpush", CompletionCommand.ZSH);
    files.put("fish/vendor_completions.d/gpush.fish", CompletionCommand.FISH);
    files.put("gpush/SKILL.md", HelpTopic.AGENTS.text());
    return files;
  }
}
