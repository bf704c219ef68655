package dev.gpush.link.agent;

import dev.gpush.core.text.Resource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.LocalDateTime;
import java.util.List;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/** Packages of the agent as an archive that Python runs as a program on this machine. */
public final class AgentArchive {
  /** The archive's own bytes must not depend on when it is made. */
  private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  private AgentArchive() {}

  /**
   * Makes one.
   *
   * @param packages below {@code gpush_agent}, with all that they import
   * @param main the module whose {@code main} gets the arguments, such as {@code copies/near}
   */
  public static byte[] of(List<String> packages, String main) {
    var bytes = new ByteArrayOutputStream();
    try (var archive = new ZipOutputStream(bytes, StandardCharsets.UTF_8)) {
      String module = main.replace('/', '.');
      add(
          archive,
          "__main__.py",
          "import sys\nfrom gpush_agent."
              + module
              + " import main\nif __name__ == \"__main__\":\n    main(sys.argv[1:])\n");
      for (String name : AgentImage.modules()) {
        int slash = name.indexOf('/');
        boolean isWanted =
            slash < 0 ? name.equals("__init__") : packages.contains(name.substring(0, slash));
        if (isWanted) {
          add(
              archive,
              "gpush_agent/" + name + ".py",
              Resource.text(AgentImage.class, name + ".py"));
        }
      }
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return bytes.toByteArray();
  }

  private static void add(ZipOutputStream archive, String name, String text) throws IOException {
    var entry = new ZipEntry(name);
    entry.setTimeLocal(NO_TIME);
    archive.putNextEntry(entry);
    archive.write(text.getBytes(StandardCharsets.UTF_8));
    archive.closeEntry();
  }
}
