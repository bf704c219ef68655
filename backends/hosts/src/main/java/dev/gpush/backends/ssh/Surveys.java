package dev.gpush.backends.ssh;

import dev.gpush.backends.hosts.AgentCalls;
import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import dev.gpush.core.time.DurationText;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Predicate;
import java.util.stream.Stream;

/** Asks hosts what they have, all at once; a small Python there answers in one line. */
final class Surveys {
  /** The script's own limit for a driver, and a login. */
  private static final Duration LIMIT = Duration.ofSeconds(45);

  /** For who is slower than enough others: a login over a slow line takes about that. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private static final int MOST_SHOWN = 200;

  private final SshPlace place;
  private final Tasks tasks;
  private final Map<Host, CompletableFuture<Heard>> open = new ConcurrentHashMap<>();

  Surveys(SshPlace place, Tasks tasks) {
    this.place = place;
    this.tasks = tasks;
  }

  /** A host that could not be asked, and why. */
  record Silent(Host host, GpushException reason) {}

  /** What came of one question. */
  private sealed interface Heard {
    record Told(Survey survey) implements Heard {}

    record Mute(Silent host) implements Heard {}

    record Broken(RuntimeException bug) implements Heard {}

    /** The gateway ends. */
    record Stopped() implements Heard {}
  }

  /** What hosts said, in the inventory's order. */
  record Result(List<Survey> surveys, List<Silent> silent) {
    Result {
      surveys = List.copyOf(surveys);
      silent = List.copyOf(silent);
    }
  }

  Result all() throws InterruptedException {
    return of(place.hosts(), _ -> false);
  }

  /** All hosts; those that have not answered yet are passed over once the others are enough. */
  Result enough(Predicate<List<Survey>> isEnough) throws InterruptedException {
    return of(place.hosts(), isEnough);
  }

  /**
   * Of these hosts. When what has answered is enough, the others get a moment more; who is passed
   * over then is asked on, so that the next look does not begin with it again.
   */
  Result of(List<Host> hosts, Predicate<List<Survey>> isEnough) throws InterruptedException {
    Map<Host, CompletableFuture<Heard>> asked = new LinkedHashMap<>();
    hosts.forEach(host -> asked.put(host, asked(host)));
    Optional<CompletableFuture<Boolean>> patience = Optional.empty();
    List<CompletableFuture<Heard>> missing = missing(asked);
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
    return answered(asked);
  }

  /** Whether it was asked and passed over, and has not answered since. */
  boolean isStillAsked(Host host) {
    return open.containsKey(host);
  }

  private static List<CompletableFuture<Heard>> missing(Map<Host, CompletableFuture<Heard>> asked) {
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

  private Result answered(Map<Host, CompletableFuture<Heard>> asked) throws InterruptedException {
    var surveys = new ArrayList<Survey>();
    var silent = new ArrayList<Silent>();
    for (var each : asked.entrySet()) {
      Host host = each.getKey();
      switch (each.getValue().getNow(new Heard.Mute(new Silent(host, passedOver(host))))) {
        case Heard.Told(var survey) -> surveys.add(survey);
        case Heard.Mute(var none) -> silent.add(none);
        case Heard.Broken(var bug) -> throw bug;
        case Heard.Stopped() -> throw new InterruptedException("no survey of " + host.name());
      }
    }
    return new Result(surveys, silent);
  }

  private GpushException passedOver(Host host) {
    return new GpushException(
        new BackendFailure.Unavailable(place.name(), host.name() + " has not answered yet", ""));
  }

  /** One question at a time for each host: a second one would wait for the same. */
  private CompletableFuture<Heard> asked(Host host) {
    var fresh = new CompletableFuture<Heard>();
    CompletableFuture<Heard> earlier = open.putIfAbsent(host, fresh);
    if (earlier != null) {
      return earlier;
    }
    if (!tasks.start("survey", () -> answer(host, fresh))) {
      answered(host, fresh, new Heard.Stopped());
    }
    return fresh;
  }

  private void answer(Host host, CompletableFuture<Heard> fresh) {
    Heard heard = new Heard.Stopped();
    try {
      heard = new Heard.Told(ask(host));
    } catch (GpushException closed) {
      heard = new Heard.Mute(new Silent(host, closed));
    } catch (RuntimeException bug) {
      heard = new Heard.Broken(bug);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    } finally {
      answered(host, fresh, heard);
    }
  }

  private void answered(Host host, CompletableFuture<Heard> fresh, Heard heard) {
    open.remove(host);
    fresh.complete(heard);
  }

  Survey ask(Host host) throws InterruptedException {
    String rooms = Integer.toString(place.cpuNodes());
    var problem = "no answer";
    try {
      for (String python : AgentCalls.INTERPRETERS) {
        List<String> command =
            List.of(python, "-I", "-S", "-c", script(), place.locks(), place.scratch(), rooms);
        Answer answer = new Inquiry(host.machine(), tasks).ask(command, "", LIMIT);
        if (answer.succeeded()) {
          return Survey.of(host, Json.parse(answer.output()));
        }
        String said = (answer.errors() + " " + answer.output()).strip();
        problem = said.isEmpty() ? "exit status " + answer.status() : shortened(said);
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
            place.name(), host.name() + " cannot say what it has: " + problem, ""));
  }

  private static String shortened(String text) {
    String plain = CleanText.line(text);
    return plain.length() <= MOST_SHOWN
        ? plain
        : "…" + plain.substring(plain.length() - MOST_SHOWN);
  }

  private static String script() {
    try (InputStream source = Surveys.class.getResourceAsStream("survey.py")) {
      if (source == null) {
        throw new IllegalStateException("survey.py is not in the jar");
      }
      return new String(source.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
