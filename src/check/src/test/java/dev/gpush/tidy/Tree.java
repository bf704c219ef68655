package dev.gpush.tidy;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Predicate;

/** The files that people write in this project: all but what is built, hidden or lent. */
record Tree(Path root, List<Path> files) {
  /** Folders of built, local or foreign files, wherever they are. */
  private static final Set<String> NOT_OURS = Set.of("target", "node_modules", "__pycache__");

  /** Hidden folders are not read, except those that hold our own scripts. */
  private static final Set<String> HIDDEN_BUT_OURS = Set.of(".ci");

  Tree {
    files = List.copyOf(files);
  }

  /** The tree around the folder the test runs in. */
  static Tree aroundHere() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("src/test/pom.xml"))) {
      folder = folder.getParent();
      if (folder == null) {
        throw new IllegalStateException("not inside the gpush source tree: " + Path.of(""));
      }
    }
    return at(folder);
  }

  static Tree at(Path root) {
    var files = new ArrayList<Path>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              return folder.equals(root) || isOurs(root, folder)
                  ? FileVisitResult.CONTINUE
                  : FileVisitResult.SKIP_SUBTREE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              if (attributes.isRegularFile()) {
                files.add(file);
              }
              return FileVisitResult.CONTINUE;
            }
          });
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    files.sort(null);
    return new Tree(root, files);
  }

  private static boolean isOurs(Path root, Path folder) {
    String name = folder.getFileName().toString();
    // CI lays shared/ beside or inside a checkout; its files are not part of the project.
    return !NOT_OURS.contains(name)
        && (!name.startsWith(".") || HIDDEN_BUT_OURS.contains(name))
        && !folder.equals(root.resolve("shared"));
  }

  /** The files whose path, relative to the root and with slashes, is wanted. */
  List<Path> files(Predicate<String> wanted) {
    return files.stream().filter(file -> wanted.test(name(file))).toList();
  }

  List<Path> javaFiles() {
    return files(name -> name.endsWith(".java"));
  }

  /** The path that a message shows: relative to the root, with slashes. */
  String name(Path file) {
    return root.relativize(file).toString().replace('\\', '/');
  }

  static String text(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(file.toString(), failed);
    }
  }
}
