package dev.gpush.app;

import dev.gpush.control.server.Handover;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.GatewayControl;
import dev.gpush.shell.command.call.Services;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * This process as commands see it: its status, and stopping it. Main waits in {@link #awaitEnd}.
 */
final class GatewayProcess implements GatewayControl, Handover {
  private static final System.Logger LOG = System.getLogger("gpush.main");

  private static final long MEBIBYTE = 1024 * 1024;

  private final Home home;
  private final Services.Version version;
  private final Path socket;
  private final long started = System.nanoTime();
  private final CountDownLatch end = new CountDownLatch(1);
  private volatile Optional<Supplier<Json.Obj>> parts = Optional.empty();
  private final AtomicReference<String> reason = new AtomicReference<>("");
  private volatile Optional<BooleanSupplier> use = Optional.empty();

  GatewayProcess(Home home, Services.Version version, Path socket) {
    this.home = home;
    this.version = version;
    this.socket = socket;
  }

  /** Adds the fields that only the built gateway knows: ssh port, sessions, agents. */
  void tells(Supplier<Json.Obj> fields) {
    parts = Optional.of(fields);
  }

  /**
   * Sets the check whether something besides control clients uses this process: ssh connections,
   * and commands of pages.
   */
  void isUsedWhen(BooleanSupplier inUse) {
    use = Optional.of(inUse);
  }

  @Override
  public Json status() {
    Runtime runtime = Runtime.getRuntime();
    Json.Obj status =
        Json.object(
            "running", true,
            "pid", ProcessHandle.current().pid(),
            "version", version.number(),
            "build", version.build(),
            "home", home.path().toString(),
            "sockets", Json.object("control", socket.toString()),
            "uptime_s", (System.nanoTime() - started) / 1_000_000_000L,
            "memory_mib", (runtime.totalMemory() - runtime.freeMemory()) / MEBIBYTE,
            "memory_limit_mib", runtime.maxMemory() / MEBIBYTE,
            "log", home.log().toString());
    for (var part : parts.map(Supplier::get).orElse(Json.object()).fields().entrySet()) {
      status = status.with(part.getKey(), part.getValue());
    }
    return status;
  }

  @Override
  public void stop() {
    end("gpush gateway stop");
  }

  @Override
  public boolean isInUse() {
    return use.map(BooleanSupplier::getAsBoolean).orElse(false);
  }

  @Override
  public void end(String why) {
    LOG.log(System.Logger.Level.INFO, "gateway ends why=\"" + why + "\"");
    reason.compareAndSet("", why);
    end.countDown();
  }

  /** The first reason that was given. */
  String reason() {
    return reason.get();
  }

  /** Waits until it is asked to end. */
  void awaitEnd() throws InterruptedException {
    end.await();
  }
}
