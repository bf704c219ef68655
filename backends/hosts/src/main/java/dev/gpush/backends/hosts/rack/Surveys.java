package dev.gpush.backends.hosts.rack;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.text.Resource;
import java.io.IOException;
import java.nio.file.NoSuchFileException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Asks hosts what they have, all at once; a small Python there answers in one line. */
public final class Surveys {
  /** The script's own limit for a driver, and a login. */
  private static final Duration LIMIT = Duration.ofSeconds(45);

  /** For who is slower than enough others: a login over a slow line takes about that. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static final int MOST_SHOWN = 200;

  private final Rack rack;
  private final Tasks tasks;
  private final Map<Host, CompletableFuture<Survey>> open = new ConcurrentHashMap<>();

  /** Hosts that a caller has passed over since they answered last. */
  private final Set<Host> late = ConcurrentHashMap.newKeySet();

  public Surveys(Rack rack, Tasks tasks) {
    this.rack = rack;
    this.tasks = tasks;
  }

  /** A host that could not be asked, and why. */
  public record Silent(Host host, GpushException reason) {}

  /** What hosts said, in the inventory's order. */
  public record Result(List<Survey> surveys, List<Silent> silent) {
    public Result {
      surveys = List.copyOf(surveys);
      silent = List.copyOf(silent);
    }

    /** Fails if a host needs an interactive login, or if no host has answered. */
    public void requireSomebody() {
      Optional<Silent> personal =
          silent.stream()
              .filter(
                  each ->
                      each.reason().failure() instanceof MachineFailure machine
                          && !machine.mayPass())
              .findFirst();
      if (personal.isPresent()) {
        throw personal.get().reason();
      }
      if (surveys.isEmpty() && !silent.isEmpty()) {
        throw silent.getFirst().reason();
      }
    }
  }

  /** What these hosts have, of all kinds. */
  public Result all(List<Host> hosts) throws InterruptedException {
    return answers(hosts, this::asked, _ -> false);
  }

  /**
   * What these hosts have for a request. When what has answered is enough, the others get a moment
   * more; who is passed over then is asked on, so that the next look does not begin with it again.
   */
  public Result of(List<Host> hosts, GpuRequest wanted, Predicate<List<Survey>> isEnough)
      throws InterruptedException {
    return answers(
        hosts,
        host -> wanted.isNone() ? known(host).orElseGet(() -> asked(host)) : asked(host),
        isEnough);
  }

  private static Optional<CompletableFuture<Survey>> known(Host host) {
    return host.known().map(known -> CompletableFuture.completedFuture(Survey.of(host, known)));
  }

  private Result answers(
      List<Host> hosts,
      Function<Host, CompletableFuture<Survey>> question,
      Predicate<List<Survey>> isEnough)
      throws InterruptedException {
    Map<Host, CompletableFuture<Survey>> asked = new LinkedHashMap<>();
    hosts.forEach(host -> asked.put(host, question.apply(host)));
    Optional<CompletableFuture<Boolean>> patience = Optional.empty();
    List<CompletableFuture<Survey>> missing = missing(asked);
    while (!missing.isEmpty() && patience.stream().noneMatch(CompletableFuture::isDone)) {
      if (patience.isEmpty() && isEnough.test(answered(asked).surveys())) {
        patience =
            Optional.of(
                new CompletableFuture<Boolean>()
                    .completeOnTimeout(true, PATIENCE.toMillis(), TimeUnit.MILLISECONDS));
      }
      awaitOne(Stream.concat(missing.stream(), patience.stream()).toList());
      missing = missing(asked);
    }
    asked.forEach(
        (host, answer) -> {
          if (!answer.isDone()) {
            late.add(host);
          }
          if (answer.isDone()) {
            // It was answered meanwhile, perhaps before it was late.
            late.remove(host);
          }
        });
    return answered(asked);
  }

  /** Whether it was asked and passed over, and has not answered since. */
  public boolean isLate(Host host) {
    return open.containsKey(host) && late.contains(host);
  }

  private static List<CompletableFuture<Survey>> missing(
      Map<Host, CompletableFuture<Survey>> asked) {
    return asked.values().stream().filter(answer -> !answer.isDone()).toList();
  }

  private static void awaitOne(List<? extends CompletableFuture<?>> answers)
      throws InterruptedException {
    var one = new CountDownLatch(1);
    for (CompletableFuture<?> answer : answers) {
      var _ = answer.whenComplete((_, _) -> one.countDown());
    }
    one.await();
  }

  private Result answered(Map<Host, CompletableFuture<Survey>> asked) throws InterruptedException {
    var surveys = new ArrayList<Survey>();
    var silent = new ArrayList<Silent>();
    for (var each : asked.entrySet()) {
      Host host = each.getKey();
      CompletableFuture<Survey> answer = each.getValue();
      switch (answer.state()) {
        case RUNNING -> silent.add(new Silent(host, passedOver(host)));
        case SUCCESS -> surveys.add(answer.resultNow());
        case FAILED -> silent.add(new Silent(host, reason(answer.exceptionNow())));
        // The gateway ends.
        case CANCELLED -> throw new InterruptedException("no survey of " + host.name());
      }
    }
    return new Result(surveys, silent);
  }

  private static GpushException reason(Throwable failed) {
    return switch (failed) {
      case GpushException closed -> closed;
      case RuntimeException bug -> throw bug;
      default -> throw new IllegalStateException(failed);
    };
  }

  private GpushException passedOver(Host host) {
    return new GpushException(
        new BackendFailure.Unavailable(rack.name(), host.name() + " has not answered yet", ""));
  }

  /** One question at a time for each host: a second one would wait for the same. */
  private CompletableFuture<Survey> asked(Host host) {
    var fresh = new CompletableFuture<Survey>();
    CompletableFuture<Survey> earlier = open.putIfAbsent(host, fresh);
    if (earlier != null) {
      return earlier;
    }
    if (!tasks.start("survey", () -> answer(host, fresh))) {
      end(host, () -> fresh.cancel(false));
    }
    return fresh;
  }

  private void answer(Host host, CompletableFuture<Survey> fresh) {
    Runnable end = () -> fresh.cancel(false);
    try {
      Survey survey = ask(host);
      end = () -> fresh.complete(survey);
    } catch (RuntimeException failed) {
      end = () -> fresh.completeExceptionally(failed);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      end(host, end);
    }
  }

  private void end(Host host, Runnable end) {
    open.remove(host);
    end.run();
    late.remove(host);
  }

  /** What one host has now: not the answer to an earlier question. */
  public Survey ask(Host host) throws InterruptedException {
    List<String> words =
        List.of(
            "-I",
            "-S",
            "-c",
            Resource.text(Surveys.class, "survey.py"),
            rack.locks(),
            rack.scratch(),
            cpuNodes());
    var problem = "no Python is there";
    try {
      for (String python : Rack.INTERPRETERS) {
        Optional<Answer> answer =
            run(host, Stream.concat(Stream.of(python), words.stream()).toList());
        if (answer.isPresent() && answer.get().succeeded()) {
          return Survey.of(host, Json.parse(answer.get().output()));
        }
        problem = answer.map(Surveys::said).orElse(problem);
      }
    } catch (IOException broken) {
      problem = String.valueOf(broken.getMessage());
    } catch (TimeoutException hangs) {
      problem = "no answer within " + DurationText.of(LIMIT);
    } catch (JsonSyntaxException noise) {
      problem = "it did not answer with JSON";
    }
    throw new GpushException(
        new BackendFailure.Unavailable(
            rack.name(), host.name() + " cannot say what it has: " + problem, ""));
  }

  /** Empty when there is no such program; behind ssh a shell says that in its own words. */
  private Optional<Answer> run(Host host, List<String> command)
      throws IOException, InterruptedException, TimeoutException {
    try {
      return Optional.of(new Inquiry(host.machine(), tasks).ask(command, "", LIMIT));
    } catch (NoSuchFileException notInstalled) {
      return Optional.empty();
    }
  }

  private static String said(Answer answer) {
    String said = (answer.errors() + " " + answer.output()).strip();
    return said.isEmpty() ? "exit status " + answer.status() : shortened(said);
  }

  /** Nodes without GPUs hold locks on hosts of a rack only. */
  private String cpuNodes() {
    return switch (rack.shape()) {
      case Rack.Shape.HostPerNode(int cpuNodes) -> Integer.toString(cpuNodes);
      case Rack.Shape.OneMachine _ -> "0";
    };
  }

  private static String shortened(String text) {
    String plain = CleanText.line(text);
    return plain.length() <= MOST_SHOWN
        ? plain
        : "…" + plain.substring(plain.length() - MOST_SHOWN);
  }
}
