package dev.gpush.sync.scan;

import dev.gpush.sync.WorkFolder;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Trees and patterns from few words, so that they meet often. */
record TreeMaker(Random random, WorkFolder work, Path home) {
  static final List<String> NAMES =
      List.of(
          "a",
          "b",
          "ab",
          "foo",
          "bar",
          "foo.txt",
          "a.txt",
          "b.py",
          ".hid",
          "a b",
          "x[1]",
          "Ü",
          "foo bar.o");
  private static final List<String> PATTERNS =
      List.of(
          "a",
          "b/",
          "/a",
          "/foo/",
          "foo",
          "*.txt",
          "!a.txt",
          "*.py",
          "!b.py",
          "foo/*",
          "!foo/bar",
          "**/ab",
          "a/**",
          "a/**/b",
          "**/foo/bar",
          "/*",
          "!/foo",
          "!*/",
          "*",
          "!*.txt",
          "[ab]",
          "[!a]*",
          "?",
          "??",
          "fo[a-z]",
          "\\!x",
          "\\#y",
          "# comment",
          "",
          "  ",
          "a\\ b",
          "a b ",
          "x\\[1\\]",
          "x[[]1]",
          "Ü",
          ".*",
          "!.gitignore",
          "foo.txt/",
          "/a/b",
          "a/b/",
          "**",
          "**/",
          "/**/",
          "foo**",
          "*/ab",
          "bar/**/",
          "!bar",
          "*a*",
          "f*o",
          "*.t?t",
          "foo/",
          "!foo/",
          "foo/**/bar",
          "[^b]",
          "[a-",
          "a/*/b",
          "\ta",
          "a\\",
          "***",
          "b*/",
          "/b/*",
          "!/b/a");

  void make() throws IOException, InterruptedException {
    folder("", 0);
    if (random.nextBoolean()) {
      work.write(".git/info/exclude", patterns(3));
    }
    if (random.nextBoolean()) {
      new WorkFolder(home).write(".config/git/ignore", patterns(2));
    } else if (random.nextBoolean()) {
      new WorkFolder(home)
          .write(".gitconfig", "[core]\n\texcludesFile = ~/mine\n")
          .write("mine", patterns(2));
    }
    track();
  }

  private void folder(String prefix, int depth) throws IOException {
    for (int i = random.nextInt(5) + 1; i > 0; i--) {
      String name = prefix + NAMES.get(random.nextInt(NAMES.size()));
      if (WorkFolder.exists(work.path().resolve(name))) {
        continue;
      }
      if (depth < 4 && random.nextInt(5) < 3) {
        folder(name + "/", depth + 1);
      } else if (random.nextInt(12) == 0) {
        work.link(name, "a");
      } else {
        work.write(name, name);
      }
    }
    if (random.nextInt(5) < 2 && !WorkFolder.exists(work.path().resolve(prefix + ".gitignore"))) {
      work.write(prefix + ".gitignore", patterns(4));
    }
  }

  private String patterns(int most) {
    var text = new StringBuilder();
    for (int i = random.nextInt(most) + 1; i > 0; i--) {
      text.append(PATTERNS.get(random.nextInt(PATTERNS.size())));
      text.append(random.nextInt(8) == 0 ? "\r\n" : "\n");
    }
    return text.toString();
  }

  private void track() throws IOException, InterruptedException {
    var some = new ArrayList<String>();
    for (String path : work.tree().keySet()) {
      if (random.nextInt(6) == 0) {
        some.add(path);
      }
    }
    if (!some.isEmpty()) {
      var command = new ArrayList<>(List.of("--literal-pathspecs", "add", "-f", "--"));
      command.addAll(some);
      work.git(home, command.toArray(String[]::new));
    }
  }
}
