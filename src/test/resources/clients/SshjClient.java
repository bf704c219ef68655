import java.io.ByteArrayOutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import net.schmizz.sshj.SSHClient;
import net.schmizz.sshj.common.IOUtils;
import net.schmizz.sshj.connection.channel.direct.Session;

/**
 * What JetBrains' IDEs do with a node through sshj: hundreds of short sessions on one connection,
 * commands, a file up and down, a connection to a port of the node where speaker.py listens. Usage:
 * PORT USER KEY FINGERPRINT FOLDER SPEAKER. Prints "all" at the end.
 */
public final class SshjClient {
  public static void main(String[] arguments) throws Exception {
    try (var client = new SSHClient()) {
      client.addHostKeyVerifier(arguments[3]);
      client.connect("127.0.0.1", Integer.parseInt(arguments[0]));
      client.authPublickey(arguments[1], arguments[2]);
      // Its own limit of 30 s is too short for a busy machine.
      client.getConnection().setTimeoutMs(300_000);

      try (Session session = client.startSession()) {
        Session.Command command = session.exec("echo out; echo err >&2; exit 7");
        holds(text(command.getInputStream()).equals("out\n"), "output");
        holds(text(command.getErrorStream()).equals("err\n"), "errors");
        command.join();
        holds(command.getExitStatus() == 7, "status " + command.getExitStatus());
      }
      long start = System.nanoTime();
      for (int i = 0; i < 300; i++) {
        try (Session session = client.startSession()) {
          holds(text(session.exec("echo " + i).getInputStream()).equals(i + "\n"), "session " + i);
        }
      }
      System.out.println("300 sessions in " + (System.nanoTime() - start) / 1_000_000 + " ms");

      byte[] data = new byte[50_000_000];
      new Random(1).nextBytes(data);
      Path file = Files.write(Path.of(arguments[4], "up"), data);
      String there = "sshj-" + ProcessHandle.current().pid();
      try (var sftp = client.newSFTPClient()) {
        sftp.put(file.toString(), there);
        sftp.get(there, arguments[4] + "/down");
        holds(
            Arrays.equals(data, Files.readAllBytes(Path.of(arguments[4], "down"))),
            "a file there and back");
        sftp.rm(there);
      }

      int speaker = Integer.parseInt(arguments[5]);
      try (var connection = client.newDirectConnection("127.0.0.1", speaker)) {
        // Not readNBytes: sshj would wait for more even where no more is asked for.
        for (char each : "hello ".toCharArray()) {
          holds(connection.getInputStream().read() == each, "a server that speaks first");
        }
      }
    }
    System.out.println("all");
    System.exit(0);
  }

  private static String text(java.io.InputStream stream) throws java.io.IOException {
    ByteArrayOutputStream bytes = IOUtils.readFully(stream);
    return bytes.toString();
  }

  private static void holds(boolean is, String what) {
    if (!is) {
      throw new AssertionError(what);
    }
  }
}
