import com.jcraft.jsch.ChannelExec;
import com.jcraft.jsch.ChannelSftp;
import com.jcraft.jsch.JSch;
import com.jcraft.jsch.Session;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.Random;

/**
 * What a program that uses JSch does with a node: commands, sftp and a forward to an echo server of
 * the node. Usage: PORT USER KEY KNOWN_HOSTS ECHO. Prints "all" at the end.
 */
public final class JschClient {
  public static void main(String[] arguments) throws Exception {
    var jsch = new JSch();
    jsch.addIdentity(arguments[2]);
    jsch.setKnownHosts(arguments[3]);
    Session session = jsch.getSession(arguments[1], "127.0.0.1", Integer.parseInt(arguments[0]));
    session.setConfig("StrictHostKeyChecking", "yes");
    session.connect(120_000);

    var command = (ChannelExec) session.openChannel("exec");
    var out = new ByteArrayOutputStream();
    var errors = new ByteArrayOutputStream();
    command.setCommand("cat; echo err >&2; exit 7");
    byte[] data = new byte[2_000_000];
    new Random(1).nextBytes(data);
    command.setInputStream(new ByteArrayInputStream(data));
    command.setOutputStream(out);
    command.setErrStream(errors);
    command.connect();
    while (!command.isClosed()) {
      Thread.sleep(20);
    }
    holds(command.getExitStatus() == 7, "status " + command.getExitStatus());
    holds(Arrays.equals(data, out.toByteArray()), "what cat says");
    holds(errors.toString().equals("err\n"), "errors " + errors);

    var sftp = (ChannelSftp) session.openChannel("sftp");
    sftp.connect();
    String file = "jsch-" + ProcessHandle.current().pid();
    sftp.put(new ByteArrayInputStream(data), file);
    var back = new ByteArrayOutputStream();
    sftp.get(file, back);
    holds(Arrays.equals(data, back.toByteArray()), "a file there and back");
    holds(sftp.stat(file).getSize() == data.length, "the size of a file");
    sftp.rm(file);

    int echo = Integer.parseInt(arguments[4]);
    int port = session.setPortForwardingL(0, "127.0.0.1", echo);
    try (var through = new Socket("127.0.0.1", port)) {
      through.getOutputStream().write(data, 0, 1000);
      holds(
          Arrays.equals(Arrays.copyOf(data, 1000), through.getInputStream().readNBytes(1000)),
          "a forward");
    }
    session.disconnect();
    System.out.println("all");
  }

  private static void holds(boolean is, String what) {
    if (!is) {
      throw new AssertionError(what);
    }
  }
}
