package dev.gpush.sync;

import dev.gpush.sync.tree.Hashes;
import dev.gpush.testkit.fixture.FolderTree;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** A folder that a test writes to, looks at as a map, and runs git in. */
public record WorkFolder(Path path) {
  public WorkFolder write(String name, String text) {
    return write(name, text.getBytes(StandardCharsets.UTF_8));
  }

  public WorkFolder write(String name, byte[] bytes) {
    try {
      Path file = path.resolve(name);
      Files.createDirectories(file.getParent());
      Files.write(file, bytes);
      return this;
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  public void executable(String name, boolean is) throws IOException {
    Files.setPosixFilePermissions(
        path.resolve(name), PosixFilePermissions.fromString(is ? "rwxr-xr-x" : "rw-r--r--"));
  }

  public WorkFolder link(String name, String target) throws IOException {
    Path link = path.resolve(name);
    Files.createDirectories(link.getParent());
    Files.createSymbolicLink(link, Path.of(target));
    return this;
  }

  public void move(String from, String to) {
    try {
      Files.move(path.resolve(from), path.resolve(to));
    } catch (IOException broken) {
      throw new UncheckedIOException(broken);
    }
  }

  public WorkFolder delete(String name) throws IOException {
    Path file = path.resolve(name);
    if (Files.isDirectory(file, LinkOption.NOFOLLOW_LINKS)) {
      FolderTree.delete(file);
    } else {
      Files.delete(file);
    }
    return this;
  }

  /** A folder, if it is there. */
  static void remove(Path folder) throws IOException {
    if (Files.isDirectory(folder)) {
      new WorkFolder(folder.getParent()).delete(folder.getFileName().toString());
    }
  }

  public String read(String name) throws IOException {
    return Files.readString(path.resolve(name));
  }

  /** path → "x" or "-" and the content's hash, or "→" and the target; the .git folder left out. */
  public Map<String, String> tree() throws IOException {
    var found = new TreeMap<String, String>();
    if (!Files.exists(path)) {
      return found;
    }
    try (Stream<Path> all = Files.walk(path)) {
      for (Path file : all.toList()) {
        String name = path.relativize(file).toString();
        if (name.equals(".git") || name.startsWith(".git/")) {
          continue;
        }
        if (Files.isSymbolicLink(file)) {
          found.put(name, "→ " + Files.readSymbolicLink(file));
        } else if (Files.isRegularFile(file)) {
          found.put(
              name,
              (Files.isExecutable(file) && isX(file) ? "x " : "- ")
                  + Hashes.of(Files.readAllBytes(file)));
        }
      }
    }
    return found;
  }

  private static boolean isX(Path file) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(file)).charAt(2) == 'x';
  }

  /** Path → text of the files; links are not followed. */
  public Map<String, String> texts() throws IOException {
    var found = new TreeMap<String, String>();
    if (Files.isDirectory(path)) {
      try (Stream<Path> all = Files.walk(path)) {
        for (Path file : all.toList()) {
          if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            found.put(path.relativize(file).toString(), Files.readString(file));
          }
        }
      }
    }
    return found;
  }

  /** Runs git with a home of its own; returns what it printed, split at NUL. */
  public List<String> git(Path home, String... arguments) throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("git", "-c", "protocol.file.allow=always"));
    command.addAll(List.of(arguments));
    var builder = new ProcessBuilder(command).directory(path.toFile());
    builder.environment().clear();
    builder.environment().put("PATH", System.getenv("PATH"));
    builder.environment().put("HOME", home.toString());
    builder.environment().put("GIT_CONFIG_NOSYSTEM", "1");
    builder.environment().put("GIT_AUTHOR_NAME", "t");
    builder.environment().put("GIT_AUTHOR_EMAIL", "t@example.org");
    builder.environment().put("GIT_COMMITTER_NAME", "t");
    builder.environment().put("GIT_COMMITTER_EMAIL", "t@example.org");
    Process process = builder.redirectErrorStream(true).start();
    process.getOutputStream().close();
    var out = new ByteArrayOutputStream();
    process.getInputStream().transferTo(out);
    String text = out.toString(StandardCharsets.UTF_8);
    if (process.waitFor() != 0) {
      throw new IOException(command + ": " + text);
    }
    return Stream.of(text.split("\0")).filter(part -> !part.isEmpty()).toList();
  }

  public static boolean exists(Path file) {
    return Files.exists(file, LinkOption.NOFOLLOW_LINKS);
  }
}
