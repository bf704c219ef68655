package dev.gpush.ssh.files;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What ssh runs, on a machine without Python. */
class SshScriptsTest {
  private static final String GREETING = "SSH-2.0-gpush-0123456789ab";

  @TempDir private Path folder;
  private Path launcher;

  @BeforeEach
  void prepare() throws IOException {
    Path calls = folder.resolve("calls");
    launcher = program("gpush", "printf '%s\\n' \"$*\" >>'" + calls + "'");
  }

  private Path program(String name, String script) throws IOException {
    Path file = Files.writeString(folder.resolve(name), "#!/bin/sh\n" + script + "\n");
    return Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }

  /** Runs it in every shell that is here, with these programs, and returns the launcher's words. */
  private List<String> calls(String text, String path) throws Exception {
    Path script = Files.writeString(folder.resolve("script"), text);
    for (List<String> shell :
        List.of(List.of("sh"), List.of("busybox", "sh"), List.of("bash", "--posix"))) {
      Path program = Path.of("/usr/bin", shell.getFirst());
      if (Files.isExecutable(program)) {
        var command = Stream.concat(shell.stream().skip(1), Stream.of(script.toString()));
        var builder =
            new ProcessBuilder(Stream.concat(Stream.of(program.toString()), command).toList())
                .redirectErrorStream(true);
        builder.environment().clear();
        builder.environment().put("PATH", path);
        Process process = builder.start();
        process.getOutputStream().close();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals("0", process.waitFor() + said);
      }
    }
    Path calls = folder.resolve("calls");
    return Files.exists(calls) ? Files.readAllLines(calls).stream().distinct().toList() : List.of();
  }

  private String wake(int port) throws IOException {
    Path memory = Files.writeString(folder.resolve("port"), port + "\n");
    return new WakeScript(List.of("" + launcher), folder, memory, GREETING, port).text();
  }

  /** The script gives it two seconds. */
  @Test
  @Tag("local")
  void theGreetingSaysThatTheGatewayRuns() throws Exception {
    Thread greets;
    try (var server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
      greets = Thread.ofVirtual().start(() -> greet(server));

      assertEquals(List.of(), calls(wake(server.getLocalPort()), "/usr/bin:/bin"));
    }
    greets.join();
  }

  private static void greet(ServerSocket server) {
    try {
      while (true) {
        try (Socket client = server.accept()) {
          client.getOutputStream().write((GREETING + "\r\n").getBytes(StandardCharsets.US_ASCII));
          client.shutdownOutput();
          client.getInputStream().readAllBytes();
        }
      }
    } catch (IOException closed) {
      // The test has ended.
    }
  }

  @Test
  void withoutBashTheLauncherStartsIt() throws Exception {
    assertEquals(List.of("__wake"), calls(wake(1), folder.toString()));
  }

  @Test
  void aPythonThatOnlyAsksToBeInstalledIsNotStarted() throws Exception {
    program("xcode-select", "exit 2");
    var proxy = new ProxyFiles(List.of("" + launcher), folder, folder.resolve("ssh.sock"));

    List<String> called = calls(proxy.scriptText(), folder + ":/usr/bin:/bin");

    assertEquals(List.of("__connect " + folder.resolve("ssh.sock")), called);
  }
}
