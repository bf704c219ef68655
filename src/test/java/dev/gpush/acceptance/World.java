package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.testkit.fixture.FolderTree;
import dev.gpush.testkit.rig.Script;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * A user's machine for one test: the real launcher, a GPUSH_HOME, a project and a home folder of
 * their own, so that no startup file of the user who runs the test takes part. Closing it gives
 * everything back and fails when a process, an agent's folder or a node's folder stays.
 */
final class World implements AutoCloseable {
  /** Ends a command that hangs; no machine that works is so slow. */
  private static final long COMMAND_SECONDS = 300;

  /** The same for what a test waits for. */
  private static final long UNTIL_SECONDS = 180;

  private static final int LAST_LOOKS = 20;

  /** Ready to start at once, or tests side by side would wait for each other there and say so. */
  private static final Path LAUNCHER = prepared(repository().resolve("gpush"));

  /**
   * The gateway without the optimizing compiler, which takes half of the processor time of one that
   * lives for a minute. Tests that move many bytes want it: its ciphers are ten times faster.
   */
  private static final String QUICK = "-XX:TieredStopAtLevel=1";

  private static final String FLAGS = "GPUSH_GATEWAY_FLAGS";

  /** For tests that move many bytes: the gateway as a user has it. */
  static final Map<String, String> AS_SHIPPED = Map.of(FLAGS, "");

  /** Those that are not closed; a JVM that is ended, as by Ctrl-C, ends what they started. */
  private static final Set<World> OPEN = ConcurrentHashMap.newKeySet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(() -> OPEN.forEach(World::endWhatIsLeft)));
  }

  private final Path base;
  private final Path home;
  private final Path project;
  private final Path person;
  private final List<Process> started = new CopyOnWriteArrayList<>();

  private final Map<String, String> environment;

  private World(Path base, String home, Map<String, String> environment) throws IOException {
    this.base = base;
    this.environment = Map.copyOf(environment);
    this.home = base.resolve(home);
    this.project = Files.createDirectories(base.resolve("proj"));
    this.person = Files.createDirectories(base.resolve("person"));
    Files.writeString(project.resolve("gpush.yaml"), "# a workspace of a test\n");
    OPEN.add(this);
  }

  private static Path prepared(Path launcher) {
    try {
      Path home = Files.createTempDirectory("gpush-it-");
      var builder = new ProcessBuilder(launcher.toString(), "gateway", "status");
      builder.environment().put("GPUSH_HOME", home.resolve("home").toString());
      builder.environment().put("HOME", System.getProperty("java.io.tmpdir"));
      builder.environment().put("XDG_CACHE_HOME", cache());
      builder
          .redirectErrorStream(true)
          .redirectOutput(ProcessBuilder.Redirect.DISCARD)
          .start()
          .waitFor();
      Files.delete(home);
      return launcher;
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(stop);
    }
  }

  /** Of the user who runs the tests. */
  static String cache() {
    return Optional.ofNullable(System.getenv("XDG_CACHE_HOME"))
        .orElse(System.getenv("HOME") + "/.cache");
  }

  static World fresh() throws IOException {
    return fresh(Map.of());
  }

  /** As {@link #fresh}, with a GPUSH_HOME of this name. */
  static World withHome(String name) throws IOException {
    return made(name, Map.of());
  }

  /** With these variables in the environment of all that is started. */
  static World fresh(Map<String, String> environment) throws IOException {
    return made("home", environment);
  }

  /** As {@link #fresh}, and {@link #AS_SHIPPED}. */
  static World asShipped(Map<String, String> environment) throws IOException {
    var all = new HashMap<>(environment);
    all.putAll(AS_SHIPPED);
    return fresh(all);
  }

  private static World made(String home, Map<String, String> environment) throws IOException {
    return new World(Files.createTempDirectory("gpush-it-").toRealPath(), home, environment);
  }

  /** The root of the checkout: the folder above src/test. */
  static Path repository() {
    Path folder = Path.of("").toAbsolutePath();
    while (!Files.exists(folder.resolve("pom.xml"))
        || !Files.isDirectory(folder.resolve("gateway"))) {
      folder = Optional.ofNullable(folder.getParent()).orElseThrow();
    }
    return folder;
  }

  Path home() {
    return home;
  }

  /** The user's own folder, $HOME. */
  Path person() {
    return person;
  }

  Path project() {
    return project;
  }

  Path launcher() {
    return LAUNCHER;
  }

  Path sshConfig() {
    return home.resolve("ssh_config");
  }

  /** Writes a file of the project. */
  Path file(String name, String text) throws IOException {
    Path file = project.resolve(name);
    Files.createDirectories(Optional.ofNullable(file.getParent()).orElseThrow());
    return Files.writeString(file, text);
  }

  /** Copies an example of the repository into the project. */
  Path example(String name) throws IOException {
    return file(name, Files.readString(repository().resolve(name)));
  }

  Result gpush(String... arguments) throws IOException, InterruptedException {
    return gpushIn(project, new byte[0], arguments);
  }

  Result gpushIn(Path folder, byte[] input, String... arguments)
      throws IOException, InterruptedException {
    return finish(start(folder, command(arguments)), input, String.join(" ", arguments));
  }

  /** A gpush command that goes on while the test does something else. */
  Process startGpush(String... arguments) throws IOException {
    return start(project, command(arguments));
  }

  /** Any other program, in the project, with this world's environment. */
  Result run(byte[] input, String... command) throws Exception {
    return finish(start(project, List.of(command)), input, String.join(" ", command));
  }

  /** As {@link #run}, for output that is not text. */
  byte[] bytes(byte[] input, int exit, String... command) throws Exception {
    Process process = start(project, List.of(command));
    CompletableFuture<byte[]> out = read(process.getInputStream());
    CompletableFuture<byte[]> err = read(process.getErrorStream());
    feed(process, input);
    assertEquals(
        true,
        process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS),
        "still running: " + List.of(command));
    assertEquals(exit, process.exitValue(), () -> new String(err.join(), StandardCharsets.UTF_8));
    return out.join();
  }

  Process start(Path folder, List<String> command) throws IOException {
    var builder = new ProcessBuilder(command).directory(folder.toFile());
    builder.environment().put("GPUSH_HOME", home.toString());
    builder.environment().put("HOME", person.toString());
    // What the launcher prepares is prepared once.
    builder.environment().put("XDG_CACHE_HOME", cache());
    // No ahead-of-time caches: making them takes minutes, in processes of this home.
    builder.environment().put("GPUSH_AOT", "0");
    builder.environment().put(FLAGS, QUICK);
    builder.environment().putAll(environment);
    builder.environment().remove("GPUSH_SESSION");
    Process process = builder.start();
    started.add(process);
    return process;
  }

  /** The words of {@code ssh} with these options and host, through this home's configuration. */
  List<String> ssh(String... words) {
    var command = new ArrayList<>(List.of("ssh", "-F", sshConfig().toString()));
    command.addAll(List.of(words));
    return command;
  }

  /** An ssh client that forwards a port of ours to one of node 0, until it is destroyed. */
  Process forward(int here, int there) throws IOException {
    String path = here + ":127.0.0.1:" + there;
    // Its complaints are nobody's here, and a pipe full of them would stop it.
    return start(
        project,
        ssh("-N", "-E", "/dev/null", "-o", "ExitOnForwardFailure=yes", "-L", path, "devbox"));
  }

  /** That the kernel gives to nobody who asks for any port: those are above 32767. */
  static int freePort() throws IOException {
    while (true) {
      int port = ThreadLocalRandom.current().nextInt(20_000, 32_000);
      try (var probe = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
        return probe.getLocalPort();
      } catch (BindException taken) {
        // Then another one.
      }
    }
  }

  private List<String> command(String... arguments) {
    var command = new ArrayList<>(List.of(LAUNCHER.toString()));
    command.addAll(List.of(arguments));
    return command;
  }

  private static Result finish(Process process, byte[] input, String command)
      throws InterruptedException {
    CompletableFuture<byte[]> out = read(process.getInputStream());
    CompletableFuture<byte[]> err = read(process.getErrorStream());
    feed(process, input);
    if (!process.waitFor(COMMAND_SECONDS, TimeUnit.SECONDS)) {
      process.destroyForcibly();
      throw new AssertionError(
          "still running after "
              + COMMAND_SECONDS
              + " s: "
              + command
              + "\n"
              + text(out)
              + text(err));
    }
    return new Result(command, process.exitValue(), text(out), text(err));
  }

  private static String text(CompletableFuture<byte[]> bytes) {
    return new String(bytes.join(), StandardCharsets.UTF_8);
  }

  private static void feed(Process process, byte[] input) {
    Thread.ofVirtual()
        .start(
            () -> {
              try (var stdin = process.getOutputStream()) {
                stdin.write(input);
              } catch (IOException doesNotRead) {
                // The program's own business; its output and status are what counts.
              }
            });
  }

  static CompletableFuture<byte[]> read(InputStream from) {
    return CompletableFuture.supplyAsync(
        () -> {
          try {
            return from.readAllBytes();
          } catch (IOException closed) {
            return new byte[0];
          }
        },
        task -> Thread.ofVirtual().start(task));
  }

  /** Polls until it holds; the only waiting that tests do. */
  static void until(String what, BooleanSupplier condition) throws InterruptedException {
    until(() -> what, condition);
  }

  static void until(Supplier<String> what, BooleanSupplier condition) throws InterruptedException {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(UNTIL_SECONDS);
    while (!condition.getAsBoolean()) {
      if (System.nanoTime() > deadline) {
        throw new AssertionError("not within " + UNTIL_SECONDS + " s: " + what.get());
      }
      // Other processes cannot tell us: looking is all there is.
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(20));
    }
  }

  Json json(String... arguments) throws Exception {
    return Json.parse(gpush(arguments).succeeded().out());
  }

  /** The process of this home's gateway. */
  long gatewayPid() throws Exception {
    return json("gateway", "status", "--json").number("pid").orElseThrow();
  }

  static void signal(String name, List<Long> pids) throws Exception {
    var command = new ArrayList<>(List.of("kill", "-" + name));
    pids.forEach(pid -> command.add(pid.toString()));
    // One that was replaced meanwhile is gone: that is what the tests are about.
    new ProcessBuilder(command).redirectErrorStream(true).start().waitFor();
  }

  void killGateway() throws Exception {
    ProcessHandle gateway = ProcessHandle.of(gatewayPid()).orElseThrow();
    gateway.destroyForcibly();
    gateway.onExit().get();
  }

  /** Folders of agents that serve this home. */
  List<Path> agents() {
    var found = new ArrayList<Path>();
    for (String parent : List.of("/tmp", "/var/tmp", "/dev/shm")) {
      for (Path user : inside(Path.of(parent))) {
        if (user.getFileName().toString().startsWith("gpush-")) {
          found.addAll(ours(user));
        }
      }
    }
    return found;
  }

  private List<Path> ours(Path user) {
    return inside(user).stream()
        .filter(agent -> read(agent.resolve("agent.json")).contains(base.toString()))
        .toList();
  }

  /** What lies in a folder; tests beside this one make and remove theirs at any time. */
  static List<Path> inside(Path folder) {
    File[] files = folder.toFile().listFiles();
    return files == null ? List.of() : Arrays.stream(files).map(File::toPath).toList();
  }

  /** Processes that carry this world's base folder in their command line or environment. */
  List<String> processes() {
    var found = new ArrayList<String>();
    String own = Long.toString(ProcessHandle.current().pid());
    for (Path process : inside(Path.of("/proc"))) {
      String name = process.getFileName().toString();
      String trace = read(process.resolve("cmdline")) + read(process.resolve("environ"));
      if (name.matches("[0-9]+") && !name.equals(own) && trace.contains(base.toString())) {
        found.add(name + " " + read(process.resolve("cmdline")).replace('\0', ' '));
      }
    }
    return found;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.ISO_8859_1);
    } catch (IOException ended) {
      return "";
    }
  }

  /** A file of the project, as it is here now. */
  String text(String name) {
    try {
      return Files.readString(project.resolve(name));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }

  /** What lies where nodes keep their workspaces. */
  List<String> nodeFolders() {
    return inside(home.resolve("nodes")).stream().map(folder -> "node folder " + folder).toList();
  }

  /** Where clients meet this home's gateway. */
  private List<String> runtimeFolders() {
    return inside(Path.of("/tmp")).stream()
        .filter(user -> user.toString().contains("/gpush-"))
        .flatMap(user -> inside(user).stream())
        .filter(folder -> folder.getFileName().toString().startsWith("gateway-"))
        .filter(folder -> read(folder.resolve("gateway.lock")).contains(base.toString()))
        .map(folder -> "runtime folder " + folder)
        .toList();
  }

  /** What of gpush is still here once all sessions are down and the gateway is stopped. */
  List<String> leftovers() {
    var left = new ArrayList<>(processes());
    agents().forEach(agent -> left.add("agent folder " + agent));
    left.addAll(nodeFolders());
    left.addAll(runtimeFolders());
    return left;
  }

  /** In a thread of its own, because the test's is interrupted when it is past its limit. */
  @Override
  public void close() {
    var ended = new CompletableFuture<Void>();
    Thread.ofPlatform()
        .start(
            () -> {
              try {
                giveBack();
                ended.complete(null);
              } catch (Throwable failed) {
                ended.completeExceptionally(failed);
              } finally {
                endWhatIsLeft();
                OPEN.remove(this);
              }
            });
    try {
      ended.join();
    } catch (CompletionException failed) {
      throw new AssertionError("not everything was given back", failed.getCause());
    }
  }

  /** Nothing, unless giving back has failed: the next test must not meet what this one left. */
  private void endWhatIsLeft() {
    // More than once: a guard may have started another agent in between.
    Stream.generate(this::processes)
        .limit(LAST_LOOKS)
        .takeWhile(left -> !left.isEmpty())
        .flatMap(List::stream)
        .map(process -> Long.parseLong(process.substring(0, process.indexOf(' '))))
        .forEach(pid -> ProcessHandle.of(pid).ifPresent(ProcessHandle::destroyForcibly));
  }

  private void giveBack() throws IOException, InterruptedException {
    started.stream().filter(Process::isAlive).forEach(Process::destroyForcibly);
    for (Json session : Json.parse(gpush("ps", "--json").succeeded().out()).items()) {
      gpush("-s", session.text("name").orElseThrow(), "down", "--discard");
    }
    gpush("gateway", "stop");
    until(() -> "nothing of gpush is left: " + leftovers(), () -> leftovers().isEmpty());
    FolderTree.delete(base);
  }

  /** A rig's answer, or empty when it is down; one that is required fails then. */
  static Optional<String> rig(String name) throws Exception {
    Process status =
        new ProcessBuilder(repository().resolve("src/test/rigs").resolve(name).toString(), "status")
            .redirectErrorStream(true)
            .start();
    String answer =
        new String(status.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
    boolean isUp = status.waitFor() == 0;
    if (!isUp && Script.isRequired(name)) {
      throw new AssertionError("rig " + name + " is demanded but down: " + answer);
    }
    return isUp ? Optional.of(answer) : Optional.empty();
  }
}
