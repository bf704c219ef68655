package dev.gpush.ssh.socket;

import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.CancelledKeyException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.future.CloseFuture;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoService;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.Readable;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.apache.sshd.common.util.threads.ThreadUtils;
import org.jspecify.annotations.Nullable;

/**
 * One connection. One thread reads and calls the handler. The thread that has a packet writes it at
 * once as far as the kernel accepts it; the rest is written by a second thread, which starts at the
 * first such rest. So no packet waits for the reading thread, which may wait for that packet.
 */
final class SocketSession extends AbstractCloseable implements IoSession {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final AtomicLong NUMBERS = new AtomicLong(100);

  /** Read at once; as large as the largest packet. */
  private static final int READ_BYTES = 64 << 10;

  /** Packets written with one call. */
  private static final int GATHERED = 16;

  private final long number = NUMBERS.incrementAndGet();
  private final SocketAcceptor acceptor;
  private final Logins logins;
  private final IoHandler handler;
  private final SocketChannel channel;
  private final Tasks tasks;
  private final Selector readable;
  private final SocketAddress remote;
  private final SocketAddress local;
  private final Map<Object, Object> attributes = new ConcurrentHashMap<>();
  private final ReentrantLock lock = new ReentrantLock();
  private final Condition changed = lock.newCondition();

  // guarded by lock
  private final ArrayDeque<SocketWrite> waiting = new ArrayDeque<>();
  private boolean hasWriter;
  private boolean endsAfterLast;
  private Optional<Selector> writable = Optional.empty();

  private volatile boolean isReading = true;
  private final Behind behind = new Behind();
  private volatile Optional<IOException> broken = Optional.empty();

  SocketSession(
      SocketAcceptor acceptor, Logins logins, IoHandler handler, SocketChannel channel, Tasks tasks)
      throws IOException {
    this.acceptor = acceptor;
    this.logins = logins;
    this.handler = handler;
    this.channel = channel;
    this.tasks = tasks;
    this.remote = named(channel.getRemoteAddress());
    this.local = named(channel.getLocalAddress());
    channel.configureBlocking(false);
    this.readable = Selector.open();
  }

  /** Unix sockets have no address; they get 127.0.0.1:65535, as from sshd. */
  private static SocketAddress named(SocketAddress address) {
    return address instanceof UnixDomainSocketAddress
        ? new InetSocketAddress(InetAddress.getLoopbackAddress(), SocketServices.NO_PORT)
        : address;
  }

  void start() throws IOException {
    boolean isStarted = false;
    try {
      isStarted = tasks.startOnThread("ssh-" + number, this::serve);
    } finally {
      if (!isStarted) {
        close(true);
        readable.close();
      }
    }
  }

  // ---- reading

  private void serve() {
    try (readable) {
      // Marks this thread as one of SSHD's: such a thread never has to wait for a key exchange.
      ThreadUtils.runAsInternal(this, SocketSession::read);
    } catch (IOException failed) {
      fails(failed);
    } finally {
      close(true);
    }
  }

  private boolean read() {
    try {
      handler.sessionCreated(this);
      SelectionKey key = channel.register(readable, 0);
      ByteBuffer bytes = ByteBuffer.allocateDirect(READ_BYTES);
      boolean goesOn = true;
      while (goesOn && !Thread.currentThread().isInterrupted()) {
        key.interestOps(isReading && !behind.is() ? SelectionKey.OP_READ : 0);
        readable.select();
        readable.selectedKeys().clear();
        goesOn = broken.isEmpty() && (!isReading || behind.is() || take(bytes));
      }
      broken.ifPresent(this::fails);
    } catch (CancelledKeyException closed) {
      // Closed by another thread.
    } catch (Exception failed) {
      fails(failed);
    }
    return true;
  }

  /** False at the end. */
  private boolean take(ByteBuffer bytes) throws Exception {
    bytes.clear();
    int count = channel.isOpen() ? channel.read(bytes) : -1;
    if (count > 0) {
      handler.messageReceived(this, Readable.readable(bytes.flip()));
    }
    return count >= 0;
  }

  private void fails(Throwable reason) {
    if (isOpen() && channel.isOpen()) {
      try {
        handler.exceptionCaught(this, reason);
      } catch (Exception unheard) {
        LOG.log(System.Logger.Level.DEBUG, "telling of a broken connection failed", unheard);
      }
    }
    close(true);
  }

  @Override
  public void suspendRead() {
    isReading = false;
  }

  @Override
  public void resumeRead() {
    isReading = true;
    readable.wakeup();
  }

  // ---- writing

  @Override
  public IoWriteFuture writeBuffer(Buffer packet) {
    var write =
        new SocketWrite(number, ByteBuffer.wrap(packet.array(), packet.rpos(), packet.available()));
    lock.lock();
    try {
      if (isClosing()) {
        write.failed(new ClosedChannelException());
        return write;
      }
      if (waiting.isEmpty()) {
        channel.write(write.bytes);
      }
      if (write.bytes.hasRemaining()) {
        waiting.add(write);
        behind.added(waiting.size());
        writerIsNeeded();
        return write;
      }
    } catch (IOException failed) {
      // Reported by the reading thread, because this one may hold locks of SSHD.
      broken = Optional.of(failed);
      readable.wakeup();
      write.failed(failed);
      return write;
    } finally {
      lock.unlock();
    }
    write.done();
    return write;
  }

  private void writerIsNeeded() {
    if (hasWriter) {
      changed.signal();
    } else {
      hasWriter = tasks.startOnThread("ssh-" + number + "-write", this::writeRest);
    }
  }

  private void writeRest() {
    try (Selector selector = Selector.open()) {
      use(selector);
      var written = new ArrayList<SocketWrite>();
      while (awaitRest()) {
        selector.select();
        selector.selectedKeys().clear();
        writeOn(written);
        ThreadUtils.runAsInternal(written, SocketSession::tell);
        written.clear();
      }
    } catch (IOException failed) {
      fails(failed);
    } catch (InterruptedException stop) {
      close(true);
      Thread.currentThread().interrupt();
    }
  }

  private void use(Selector selector) throws IOException {
    lock.lock();
    try {
      channel.register(selector, SelectionKey.OP_WRITE);
      writable = Optional.of(selector);
    } finally {
      lock.unlock();
    }
  }

  private static boolean tell(List<SocketWrite> written) {
    written.forEach(SocketWrite::done);
    return true;
  }

  /** Waits until there is something to write; false at the end. */
  private boolean awaitRest() throws InterruptedException {
    lock.lockInterruptibly();
    try {
      while (waiting.isEmpty() && channel.isOpen()) {
        changed.await();
      }
      return channel.isOpen();
    } finally {
      lock.unlock();
    }
  }

  private void writeOn(List<SocketWrite> written) throws IOException {
    lock.lock();
    try {
      if (!channel.isOpen()) {
        return;
      }
      channel.write(
          waiting.stream().limit(GATHERED).map(write -> write.bytes).toArray(ByteBuffer[]::new));
      while (!waiting.isEmpty() && !waiting.element().bytes.hasRemaining()) {
        written.add(waiting.remove());
      }
      if (behind.endedAt(waiting.size())) {
        readable.wakeup();
      }
      if (waiting.isEmpty() && endsAfterLast) {
        channel.shutdownOutput();
      }
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void shutdownOutputStream() throws IOException {
    lock.lock();
    try {
      endsAfterLast = true;
      if (waiting.isEmpty() && channel.isOpen()) {
        channel.shutdownOutput();
      }
    } finally {
      lock.unlock();
    }
  }

  // ---- closing

  /** Writes everything that was accepted first. */
  @Override
  protected CloseFuture doCloseGracefully() {
    List<SocketWrite> left;
    lock.lock();
    try {
      left = List.copyOf(waiting);
    } finally {
      lock.unlock();
    }
    return builder().when(number, left).build().close(false);
  }

  @Override
  protected void doCloseImmediately() {
    List<SocketWrite> left;
    lock.lock();
    try {
      left = List.copyOf(waiting);
      waiting.clear();
      channel.close();
      changed.signalAll();
      writable.ifPresent(Selector::wakeup);
    } catch (IOException alreadyGone) {
      left = List.of();
      LOG.log(System.Logger.Level.DEBUG, "closing a connection failed", alreadyGone);
    } finally {
      lock.unlock();
    }
    left.forEach(write -> write.failed(new ClosedChannelException()));
    acceptor.forget(this);
    logins.end(this);
    super.doCloseImmediately();
    try {
      handler.sessionClosed(this);
    } catch (Exception unheard) {
      LOG.log(System.Logger.Level.DEBUG, "telling of a connection's end failed", unheard);
    }
    readable.wakeup();
  }

  // ---- what it is

  @Override
  public long getId() {
    return number;
  }

  @Override
  public IoService getService() {
    return acceptor;
  }

  @Override
  public SocketAddress getRemoteAddress() {
    return remote;
  }

  @Override
  public SocketAddress getLocalAddress() {
    return local;
  }

  @Override
  public SocketAddress getAcceptanceAddress() {
    return local;
  }

  @Override
  public @Nullable Object getAttribute(Object key) {
    return attributes.get(key);
  }

  @Override
  public @Nullable Object setAttribute(Object key, Object value) {
    return attributes.put(key, value);
  }

  @Override
  public @Nullable Object setAttributeIfAbsent(Object key, Object value) {
    return attributes.putIfAbsent(key, value);
  }

  @Override
  public @Nullable Object removeAttribute(Object key) {
    return attributes.remove(key);
  }

  @Override
  public String toString() {
    return "ssh-" + number + "[" + remote + "]";
  }
}
