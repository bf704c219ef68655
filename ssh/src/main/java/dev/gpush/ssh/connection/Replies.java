package dev.gpush.ssh.connection;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * Answers global requests in the order of the requests, as the protocol requires: a reply does not
 * name its request. Opening a port on the node takes a while, and a keep-alive after it must wait.
 */
public final class Replies {
  private final ReentrantLock lock = new ReentrantLock();

  // guarded by lock
  private final ArrayDeque<Slot> waiting = new ArrayDeque<>();

  /** The place of one reply in the order. */
  public final class Slot {
    private final Session session;
    private final boolean isWanted;

    // guarded by lock
    private Optional<Answer> answer = Optional.empty();

    private Slot(Session session, boolean isWanted) {
      this.session = session;
      this.isWanted = isWanted;
    }

    public void succeed() {
      answer(new Answer(true, Optional.empty()));
    }

    public void succeed(int port) {
      answer(new Answer(true, Optional.of(port)));
    }

    public void fail() {
      answer(new Answer(false, Optional.empty()));
    }

    /** The first answer counts. */
    private void answer(Answer given) {
      lock.lock();
      try {
        if (answer.isEmpty()) {
          answer = Optional.of(given);
        }
        sendReady();
      } finally {
        lock.unlock();
      }
    }

    private void send(Answer given) throws IOException {
      if (!isWanted) {
        return;
      }
      Buffer packet =
          session.createBuffer(
              given.isSuccess()
                  ? SshConstants.SSH_MSG_REQUEST_SUCCESS
                  : SshConstants.SSH_MSG_REQUEST_FAILURE);
      given.port().ifPresent(packet::putUInt);
      session.writePacket(packet);
    }
  }

  private record Answer(boolean isSuccess, Optional<Integer> port) {}

  /**
   * A place for the answer to the request that has just come.
   *
   * @param isWanted false when the client wants no reply: then none is sent
   */
  public Slot next(Session session, boolean isWanted) {
    var slot = new Slot(session, isWanted);
    lock.lock();
    try {
      waiting.add(slot);
    } finally {
      lock.unlock();
    }
    return slot;
  }

  /**
   * Written with the lock held, because that is what keeps the order; SSHD does not block these.
   */
  private void sendReady() {
    try {
      while (!waiting.isEmpty() && waiting.element().answer.isPresent()) {
        Slot first = waiting.remove();
        first.send(first.answer.orElseThrow());
      }
    } catch (IOException gone) {
      waiting.clear();
    }
  }
}
