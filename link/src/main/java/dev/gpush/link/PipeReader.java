package dev.gpush.link;

import dev.gpush.core.json.Json;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.Tasks;
import dev.gpush.link.frame.Frame;
import dev.gpush.link.frame.FrameKind;
import dev.gpush.link.frame.FrameReader;
import dev.gpush.link.frame.ProtocolException;
import java.io.IOException;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The reading thread: one pipe after the other. It gives frames to the machine and delivers their
 * events before it reads the next, so a slow receiver slows the agent.
 */
final class PipeReader {
  private static final System.Logger LOG = System.getLogger("gpush.link");

  private static final Json.Obj NOTHING = Json.object();

  private final LinkDriver driver;
  private final EventDelivery delivery;
  private final Tasks tasks;

  PipeReader(LinkDriver driver, EventDelivery delivery, Tasks tasks) {
    this.driver = driver;
    this.delivery = delivery;
    this.tasks = tasks;
  }

  /** Until the end, or until connecting has failed. */
  void run() throws InterruptedException {
    while (true) {
      delivery.deliverAll();
      OptionalInt next = driver.awaitPipe();
      if (next.isEmpty()) {
        return;
      }
      int number = next.orElseThrow();
      if (number == 0) {
        continue;
      }
      Optional<Pipe> pipe = driver.pipe(number);
      String reason = pipe.isPresent() ? converse(number, pipe.orElseThrow()) : "not wanted";
      driver.act(nanos -> driver.machine().pipeEnded(number, reason, nanos));
    }
  }

  /** Reads one pipe until it ends, and returns why. */
  private String converse(int number, Pipe pipe) {
    try (Tasks threads = tasks.group("pipe")) {
      var writer = new PipeWriter(driver, number, pipe);
      driver.use(Optional.of(writer));
      try {
        threads.startOnThread("write", writer::write);
        return read(number, pipe);
      } finally {
        driver.use(Optional.empty());
        // The writer may hang in it, and is waited for below.
        PipeOpening.close(pipe);
      }
    }
  }

  private String read(int number, Pipe pipe) {
    var frames = new FrameReader(pipe.output());
    try {
      while (true) {
        Optional<Frame> next = frames.next();
        if (next.isEmpty()) {
          return "the pipe ended";
        }
        Frame frame = next.orElseThrow();
        Json.Obj json = frame.kind().shape() == FrameKind.Shape.JSON ? frame.json() : NOTHING;
        delivery.deliverFrom(driver.received(number, frame, json), true);
      }
    } catch (ProtocolException broken) {
      LOG.log(
          System.Logger.Level.WARNING,
          "node={0} broken rule: {1}",
          driver.node(),
          broken.getMessage());
      driver.act(nanos -> driver.machine().broken(number, broken, nanos));
      driver.awaitEnd(number);
      return "the pipe ended";
    } catch (IOException broken) {
      return String.valueOf(broken.getMessage());
    }
  }
}
