package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.builtin.channel.CommandChannel;
import dev.gpush.backends.transport.builtin.channel.TunnelChannel;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeoutException;
import net.schmizz.sshj.SSHClient;
import net.schmizz.sshj.common.SSHRuntimeException;
import net.schmizz.sshj.connection.Connection;
import net.schmizz.sshj.connection.ConnectionException;

/**
 * One logged-in connection. It asks the other end whether it is there; when no answer comes, it is
 * ended from below, so that also those fall who wait for the network to take what they write.
 */
final class SshConnection {
  /** Questions in the time of silence: the third without an answer is the last. */
  private static final int QUESTIONS = 3;

  private static final Duration END_LIMIT = Duration.ofSeconds(3);

  private final SSHClient client;
  private final Optional<Socket> socket;
  private final Optional<Through> through;
  private final Duration silence;
  private final Duration unused;
  private final Tasks tasks;
  private final Object lock = new Object();

  // guarded by lock: commands that may be on it at once, those that are, ways through it to other
  // hosts, how often it has been used, and whether a thread waits for it to be unused
  private int most;
  private int used;
  private int ways;
  private long uses;
  private boolean isResting;

  /** The way of a connection through another host. */
  record Through(SshConnection wire, TunnelChannel channel) {
    void end() {
      channel.drop();
      try {
        channel.sayEnd();
      } catch (IOException gone) {
        // It ends with its connection.
      }
    }
  }

  SshConnection(
      SSHClient client,
      Optional<Socket> socket,
      Optional<Through> through,
      int most,
      Duration silence,
      Duration unused,
      Tasks tasks) {
    this.client = client;
    this.socket = socket;
    this.through = through;
    this.most = most;
    this.silence = silence;
    this.unused = unused;
    this.tasks = tasks;
  }

  /** Keeps it, until it has ended. */
  void keep() {
    tasks.start("ssh-keep", this::watch);
    rest();
  }

  /** Whether it takes anything; one that is being ended does not. */
  boolean isAlive() {
    synchronized (lock) {
      if (most == 0) {
        return false;
      }
    }
    return client.getTransport().isRunning();
  }

  /** Room for one more command, if there is. */
  boolean take() {
    synchronized (lock) {
      if (used >= most) {
        return false;
      }
      used++;
      uses++;
      return true;
    }
  }

  void giveBack() {
    synchronized (lock) {
      used--;
    }
    rest();
  }

  /** The server takes no more commands than there are; one of those was refused. */
  void isFull() {
    synchronized (lock) {
      most = Math.max(1, used - 1);
    }
  }

  /** Whether it has others than the one that asks. */
  boolean isShared() {
    synchronized (lock) {
      return used > 1;
    }
  }

  CommandChannel start(String command) throws IOException {
    var channel = new CommandChannel(client.getConnection());
    boolean isStarted = false;
    try {
      channel.open();
      channel.exec(command);
      isStarted = true;
      return channel;
    } finally {
      if (!isStarted) {
        channel.drop();
      }
    }
  }

  /** A way through it to another host; {@link #letGo} when it has ended. */
  Through through(String host, int port) throws IOException {
    synchronized (lock) {
      ways++;
      uses++;
    }
    boolean isOpen = false;
    try {
      var channel = new TunnelChannel(client.getConnection(), host, port);
      channel.open();
      isOpen = true;
      return new Through(this, channel);
    } finally {
      if (!isOpen) {
        letGo();
      }
    }
  }

  void letGo() {
    synchronized (lock) {
      ways--;
    }
    rest();
  }

  /** Ends it when it is not used for a while. */
  private void rest() {
    synchronized (lock) {
      if (used > 0 || ways > 0 || isResting) {
        return;
      }
      isResting = true;
    }
    tasks.start("ssh-rest", this::endWhenUnused);
  }

  private void endWhenUnused() {
    try {
      while (!isUnused()) {
        if (!isAtRest()) {
          return;
        }
      }
      end();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits; whether nothing was on it meanwhile: then nothing will be. */
  private boolean isUnused() throws InterruptedException {
    long seen;
    synchronized (lock) {
      seen = uses;
    }
    Thread.sleep(unused);
    synchronized (lock) {
      boolean isUnused = uses == seen && used == 0 && ways == 0;
      if (isUnused) {
        most = 0;
      }
      return isUnused;
    }
  }

  private boolean isAtRest() {
    synchronized (lock) {
      isResting = used == 0 && ways == 0;
      return isResting;
    }
  }

  private void watch() {
    Duration pause = silence.dividedBy(QUESTIONS);
    try {
      while (isAlive()) {
        Thread.sleep(pause);
        if (isAlive() && !answers(pause.multipliedBy(QUESTIONS - 1L))) {
          cut();
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      cut();
      through.ifPresent(way -> way.wire().letGo());
    }
  }

  private boolean answers(Duration limit) throws InterruptedException {
    try {
      return tasks.within(limit, "ssh-keepalive", this::ask, this::cut);
    } catch (TimeoutException silent) {
      return false;
    } catch (IOException | SSHRuntimeException gone) {
      return isAlive();
    }
  }

  private boolean ask() throws IOException {
    Connection connection = client.getConnection();
    try {
      connection.sendGlobalRequest("keepalive@openssh.com", true, new byte[0]).retrieve();
    } catch (ConnectionException refused) {
      // An answer like another, or the connection has ended, which is seen.
    }
    return true;
  }

  /** Ends it as if the network had: whoever waits anywhere on it is told. */
  private void cut() {
    socket.ifPresent(SshConnection::close);
    through.ifPresent(Through::end);
  }

  private static void close(Socket socket) {
    try {
      socket.close();
    } catch (IOException closed) {
      // That is what was wanted.
    }
  }

  /** Says the end to the server, if it can be said. */
  void end() throws InterruptedException {
    try {
      tasks.within(END_LIMIT, "ssh-end", this::disconnect, this::cut);
    } catch (TimeoutException | IOException | SSHRuntimeException silent) {
      // Then without it.
    } finally {
      cut();
    }
  }

  private boolean disconnect() throws IOException {
    client.disconnect();
    return true;
  }
}
