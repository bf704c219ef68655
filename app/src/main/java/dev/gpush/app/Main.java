package dev.gpush.app;

import dev.gpush.app.life.BuildMark;
import dev.gpush.app.life.HeapReturn;
import dev.gpush.app.life.IdleEnd;
import dev.gpush.app.life.LogFile;
import dev.gpush.control.place.GatewayLock;
import dev.gpush.control.place.HomeFolder;
import dev.gpush.control.place.RunFolder;
import dev.gpush.core.failure.Failure;
import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.shell.command.call.Services;
import dev.gpush.templates.schema.JsonSchema;
import java.io.IOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;

/**
 * The gateway's process: one per home and host, from the first command that needs it until {@code
 * gpush gateway stop}, a signal, or a gateway of another build. Standard output and error are the
 * log file's; the client that started it reads there why it failed.
 */
public final class Main {
  private static final System.Logger LOG = System.getLogger("gpush.main");

  /**
   * A gateway that ends keeps its lock for at most five seconds; the rest is a margin for a busy
   * machine.
   */
  private static final Duration PATIENCE = Duration.ofSeconds(10);

  private static final Duration POLL = Duration.ofMillis(20);

  /** How long shutdown may take before it is cut short. */
  private static final Duration FAREWELL = Duration.ofSeconds(5);

  private static final Duration REFRESH = Duration.ofSeconds(5);

  /** A home that is missing once may be on a disk that returns immediately. */
  private static final int MOST_MISSES = 1;

  private static final int UNUSABLE = 3;

  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    Posix.ownSession();
    var home = Home.of(System.getenv(), Path.of(System.getProperty("user.home")));
    int status;
    try {
      status = run(home);
    } catch (IOException unusable) {
      status = tell(new GatewayFailure.HomeUnusable(home.path().toString(), reason(unusable)));
    } catch (GpushException known) {
      status = tell(known.failure());
    }
    System.exit(status);
  }

  /** Writes the failure to the log, where the client that started this gateway reads it. */
  private static int tell(Failure failure) {
    System.err.print(new FailureText(List.of()).of(failure).text());
    return UNUSABLE;
  }

  private static String reason(IOException failed) {
    return failed.toString().replaceFirst("^[a-z.]+\\.", "");
  }

  private static int run(Home home) throws IOException, InterruptedException {
    HomeFolder.make(home.path());
    RunFolder folder = RunFolder.of(home.path());
    Optional<GatewayLock> lock = take(folder, home);
    if (lock.isEmpty()) {
      System.err.println("another gateway serves " + home.path());
      return 0;
    }
    // The hook of a signal lets the process end: not before the lock has removed its files.
    var closed = new CountDownLatch(1);
    try (GatewayLock held = lock.get()) {
      LogFile.install(home.log(), System.getenv("GPUSH_DEBUG") != null);
      serve(home, folder, held, closed);
    } finally {
      closed.countDown();
    }
    return 0;
  }

  private static void serve(Home home, RunFolder folder, GatewayLock lock, CountDownLatch closed)
      throws IOException, InterruptedException {
    Services.Version version = version();
    var process = new GatewayProcess(home, version, folder.socket());
    Runtime.getRuntime().addShutdownHook(new Thread(() -> endBySignal(process, closed), "end"));
    try (Tasks tasks =
        Tasks.named(
            "gateway",
            (thread, bug) -> LOG.log(System.Logger.Level.ERROR, "bug thread=" + thread, bug))) {
      try (Wiring wiring = Wiring.build(home, folder, version, process, tasks)) {
        wiring.start();
        LOG.log(
            System.Logger.Level.INFO,
            "gateway runs pid="
                + ProcessHandle.current().pid()
                + " build="
                + version.build()
                + " home="
                + home.path()
                + " socket="
                + folder.socket());
        tasks.start("schemas", () -> writeSchemas(home));
        tasks.start("refresh", () -> refresh(wiring, lock, process));
        process.awaitEnd();
        haltLater();
      }
    } finally {
      LOG.log(System.Logger.Level.INFO, "gateway ended");
    }
  }

  /**
   * Of this process. The launcher computes the hash when it installs the jars and passes it on; a
   * process started without it matches no build.
   */
  private static Services.Version version() {
    String number = Main.class.getPackage().getImplementationVersion();
    return new Services.Version(
        number == null ? "development" : number, System.getProperty("gpush.build", "unknown"));
  }

  /** Editors of config.yaml and gpush.yaml find this version's keys there. */
  private static void writeSchemas(Home home) {
    try {
      JsonSchema.write(home.path());
    } catch (IOException failed) {
      LOG.log(
          System.Logger.Level.WARNING,
          "no schemas for editors reason=\"" + FileReason.of(failed) + "\"");
    }
  }

  /** For tests, a shorter one. */
  private static Duration idleLimit() {
    String text = System.getenv().getOrDefault("GPUSH_GATEWAY_IDLE", "");
    return text.isEmpty() ? IdleEnd.USUAL : DurationText.parse("GPUSH_GATEWAY_IDLE", text);
  }

  private static Optional<GatewayLock> take(RunFolder folder, Home home)
      throws IOException, InterruptedException {
    String holder =
        "host=%s pid=%d home=%s"
            .formatted(Posix.hostName(), ProcessHandle.current().pid(), home.path());
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Optional<GatewayLock> lock = GatewayLock.tryTake(folder, holder);
      if (lock.isPresent() || System.nanoTime() - end > 0 || answers(folder)) {
        return lock;
      }
      Thread.sleep(POLL);
    }
  }

  /**
   * Whether the holder of the lock accepts clients: one that ends closes its socket before it
   * releases the lock.
   */
  private static boolean answers(RunFolder folder) {
    try (var channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
      return channel.connect(UnixDomainSocketAddress.of(folder.socket()));
    } catch (IOException absent) {
      return false;
    }
  }

  /**
   * Keeps socket and lock where clients look for them; a gateway whose lock file was replaced ends,
   * and so does one whose home was removed, or that nothing has needed for a while. Sessions are on
   * the nodes, and end with their lease if no gateway claims them again.
   */
  private static void refresh(Wiring wiring, GatewayLock lock, GatewayProcess process) {
    int misses = 0;
    var memory = HeapReturn.ofThisProcess();
    var build = BuildMark.ofThisProcess(Clock.system());
    var idle = new IdleEnd(idleLimit(), Clock.system());
    try {
      while (true) {
        Thread.sleep(REFRESH);
        misses = wiring.hasLostHome() ? misses + 1 : 0;
        if (misses > MOST_MISSES) {
          process.end("its home was removed");
          return;
        }
        if (!lock.isIntact()) {
          process.end("its lock file was removed");
          return;
        }
        lock.touch();
        wiring.refresh();
        memory.tick();
        build.tick();
        if (idle.isDue(wiring.isInUse())) {
          process.end("it has had no session and no client for " + DurationText.of(idle.limit()));
          return;
        }
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } catch (IOException broken) {
      LOG.log(System.Logger.Level.ERROR, "runtime files are lost", broken);
      process.end("its runtime files are lost");
    }
  }

  /**
   * On the JVM's thread for shutdown: TERM, INT and HUP end the gateway as its own command does.
   */
  private static void endBySignal(GatewayProcess process, CountDownLatch closed) {
    if (closed.getCount() == 0) {
      return;
    }
    process.end("a signal");
    haltLater();
    try {
      closed.await();
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  /** Forces the end after the time limit; the system then releases locks and sockets. */
  private static void haltLater() {
    var thread =
        new Thread(
            () -> {
              try {
                Thread.sleep(FAREWELL);
                LOG.log(System.Logger.Level.WARNING, "gateway did not end in time and is halted");
                Runtime.getRuntime().halt(1);
              } catch (InterruptedException stop) {
                Thread.currentThread().interrupt();
              }
            },
            "halt-later");
    thread.setDaemon(true);
    thread.start();
  }
}
