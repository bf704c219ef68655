package dev.gpush.ssh.socket;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.apache.sshd.common.io.IoAcceptor;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.Readable;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;
import org.apache.sshd.common.util.threads.ThreadUtils;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Real sockets, with a plain client at the other end. */
final class SocketServicesTest {
  private static final int PACKET = 32 << 10;

  /** More than the kernel takes for a client that does not read. */
  private static final int PACKETS = 400;

  /** What a server names; where a socket is given, that counts. */
  private static final InetSocketAddress NAMED =
      new InetSocketAddress(InetAddress.getLoopbackAddress(), 0);

  private final Tasks tasks = Tasks.named("test", (thread, failure) -> failure.printStackTrace());
  private final Heard heard = new Heard();
  private IoAcceptor acceptor;
  private Socket client;
  private IoSession session;

  /** Keeps what SSHD would be told. */
  private static final class Heard implements IoHandler {
    private final BlockingQueue<IoSession> created = new LinkedBlockingQueue<>();
    private final BlockingQueue<IoSession> closed = new LinkedBlockingQueue<>();
    private final BlockingQueue<Throwable> failures = new LinkedBlockingQueue<>();
    private final BlockingQueue<byte[]> messages = new LinkedBlockingQueue<>();
    private volatile boolean suspends;

    @Override
    public void sessionCreated(IoSession session) {
      created.add(session);
    }

    @Override
    public void sessionClosed(IoSession session) {
      closed.add(session);
    }

    @Override
    public void exceptionCaught(IoSession session, Throwable failure) {
      failures.add(failure);
    }

    @Override
    public void messageReceived(IoSession session, Readable message) {
      byte[] bytes = new byte[message.available()];
      message.getRawBytes(bytes, 0, bytes.length);
      if (suspends) {
        session.suspendRead();
      }
      messages.add(bytes);
      if (!ThreadUtils.isInternalThread()) {
        failures.add(new AssertionError("not one of SSHD's threads"));
      }
    }
  }

  @BeforeEach
  void connects() throws Exception {
    Clock clock = Clock.system();
    acceptor =
        new SocketServices(tasks, clock, new Logins(clock), Optional.empty())
            .create(null)
            .createAcceptor(heard);
    acceptor.bind(NAMED);
    var bound = (InetSocketAddress) acceptor.getBoundAddresses().iterator().next();
    client = new Socket(bound.getAddress(), bound.getPort());
    session = heard.created.take();
  }

  @AfterEach
  void closes() throws IOException {
    client.close();
    acceptor.close(true);
    tasks.close();
    assertEquals(List.of(), List.copyOf(heard.failures));
  }

  @Test
  void smallPacketsAreWrittenAtOnceAndMessagesComeInOrder() throws Exception {
    assertTrue(session.writeBuffer(new ByteArrayBuffer("hello".getBytes())).isWritten());
    assertArrayEquals("hello".getBytes(), client.getInputStream().readNBytes(5));

    client.getOutputStream().write("wor".getBytes());
    assertArrayEquals("wor".getBytes(), heard.messages.take());
    client.getOutputStream().write("ld".getBytes());
    assertArrayEquals("ld".getBytes(), heard.messages.take());
    assertTrue(acceptor.getManagedSessions().containsKey(session.getId()));
  }

  @Test
  void whatAStoppedReaderDoesNotTakeWaitsAndComesInOrder() throws Exception {
    var random = new Random(7);
    var sent = new ByteArrayOutputStream();
    var writes = new ArrayList<IoWriteFuture>();
    for (int i = 0; i < PACKETS; i++) {
      byte[] packet = new byte[1 + random.nextInt(PACKET)];
      random.nextBytes(packet);
      sent.writeBytes(packet);
      writes.add(session.writeBuffer(new ByteArrayBuffer(packet)));
    }
    assertFalse(writes.getLast().isDone(), "the kernel took all of it");

    byte[] received = client.getInputStream().readNBytes(sent.size());
    assertTrue(Arrays.equals(sent.toByteArray(), received));
    for (IoWriteFuture write : writes) {
      write.verify(TimeUnit.MINUTES.toMillis(5));
    }
    // The writer has nothing left to do, and begins again when there is something.
    byte[] more = new byte[PACKETS * PACKET];
    IoWriteFuture again = session.writeBuffer(new ByteArrayBuffer(more));
    assertTrue(Arrays.equals(more, client.getInputStream().readNBytes(more.length)));
    again.verify(TimeUnit.MINUTES.toMillis(5));
  }

  @Test
  void aGracefulEndWritesWhatWaits() throws Exception {
    byte[] bytes = new byte[PACKETS * PACKET];
    IoWriteFuture write = session.writeBuffer(new ByteArrayBuffer(bytes));
    var closing = session.close(false);
    assertFalse(closing.isClosed());

    assertEquals(bytes.length, client.getInputStream().readAllBytes().length);
    assertTrue(write.isWritten());
    assertTrue(closing.await(5, TimeUnit.MINUTES));
    assertEquals(session, heard.closed.take());
    assertTrue(acceptor.getManagedSessions().isEmpty());
  }

  @Test
  void anEndAtOnceFailsWhatWaits() throws Exception {
    IoWriteFuture write = session.writeBuffer(new ByteArrayBuffer(new byte[PACKETS * PACKET]));
    session.close(true);

    assertTrue(write.await(5, TimeUnit.MINUTES));
    assertFalse(write.isWritten());
    assertTrue(session.writeBuffer(new ByteArrayBuffer(new byte[1])).getException() != null);
    assertEquals(session, heard.closed.take());
  }

  @Test
  void theClientsEndIsTheEnd() throws Exception {
    client.close();
    assertEquals(session, heard.closed.take());
    assertTrue(session.isClosed());
  }

  @Test
  void aClientThatGoesWhileWeWriteFailsWhatWaits() throws Exception {
    IoWriteFuture write = session.writeBuffer(new ByteArrayBuffer(new byte[PACKETS * PACKET]));
    client.setSoLinger(true, 0);
    client.close();

    assertTrue(write.await(5, TimeUnit.MINUTES));
    assertFalse(write.isWritten());
    assertEquals(session, heard.closed.take());
    // The reading thread, the writing thread or both report the reset.
    acceptor.close(true);
    tasks.close();
    heard.failures.clear();
  }

  /** A client that asks all the time and never reads the answers, which would fill the memory. */
  @Test
  void nothingIsReadFromAClientThatDoesNotRead() throws Exception {
    for (int i = 0; i < 3 * PACKETS; i++) {
      session.writeBuffer(new ByteArrayBuffer(new byte[PACKET]));
    }
    client.getOutputStream().write('a');

    assertNull(heard.messages.poll(300, TimeUnit.MILLISECONDS));
    client.getInputStream().readNBytes(3 * PACKETS * PACKET);
    assertArrayEquals(new byte[] {'a'}, heard.messages.take());
  }

  @Test
  void nothingIsReadWhileReadingIsSuspended() throws Exception {
    heard.suspends = true;
    client.getOutputStream().write('a');
    assertArrayEquals(new byte[] {'a'}, heard.messages.take());
    client.getOutputStream().write('b');
    // What is written meanwhile still goes.
    assertTrue(session.writeBuffer(new ByteArrayBuffer(new byte[] {1})).isWritten());
    assertEquals(1, client.getInputStream().read());
    assertTrue(heard.messages.isEmpty());

    session.resumeRead();
    assertArrayEquals(new byte[] {'b'}, heard.messages.take());
  }

  @Test
  void leavesNoSocketWhenItIsBoundAtItsEnd(@TempDir Path folder) throws Exception {
    SocketAcceptor ended = onSocket(folder.resolve("ssh.sock"));
    ended.bind(NAMED);
    ended.close(true);

    // As a check that its file exists does when the end begins just then.
    ended.bind(NAMED);

    assertFalse(Files.exists(folder.resolve("ssh.sock")));
    assertEquals(Set.of(), ended.getBoundAddresses());
  }

  /** While it drains, the gateway still checks that its files exist. */
  @Test
  void leavesNoSocketWhenItIsCheckedAfterItsEndHasBegun(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("ssh.sock");
    SocketAcceptor drained = onSocket(socket);
    drained.bind(NAMED);
    try (var before = SocketChannel.open(UnixDomainSocketAddress.of(socket))) {
      IoSession goesOn = heard.created.take();
      drained.end();
      assertFalse(Files.exists(socket));

      drained.ensureBound();
      drained.bind(NAMED);

      assertFalse(Files.exists(socket));
      before.write(ByteBuffer.wrap(new byte[] {'a'}));
      assertArrayEquals(new byte[] {'a'}, heard.messages.take());
      assertTrue(goesOn.isOpen());
    }
    drained.close(true);
  }

  @Test
  void listensAgainAfterAnAttemptThatFailed(@TempDir Path folder) throws Exception {
    Path socket = folder.resolve("in").resolve("ssh.sock");
    SocketAcceptor cleaned = onSocket(socket);
    Files.createDirectory(socket.getParent());
    cleaned.bind(NAMED);
    Files.delete(socket);
    Files.delete(socket.getParent());
    assertThrows(IOException.class, cleaned::ensureBound);
    Files.createDirectory(socket.getParent());

    cleaned.ensureBound();

    SocketChannel.open(UnixDomainSocketAddress.of(socket)).close();
    cleaned.close(true);
  }

  private SocketAcceptor onSocket(Path socket) {
    Clock clock = Clock.system();
    return new SocketAcceptor(heard, tasks, clock, new Logins(clock), Optional.of(socket));
  }
}
