package dev.gpush.backends.ssh;

import dev.gpush.core.failure.BackendFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.task.Tasks;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;

/** Asks hosts what they have, all at once; a small Python there answers in one line. */
final class Surveys {
  /** The script's own limit for a driver, and a login. */
  private static final Duration LIMIT = Duration.ofSeconds(45);

  private static final int MOST_SHOWN = 200;

  private final SshPlace place;
  private final Tasks tasks;

  Surveys(SshPlace place, Tasks tasks) {
    this.place = place;
    this.tasks = tasks;
  }

  /** A host that could not be asked, and why. */
  record Silent(Host host, GpushException reason) {}

  /** What hosts said, in the inventory's order. */
  record Result(List<Survey> surveys, List<Silent> silent) {
    Result {
      surveys = List.copyOf(surveys);
      silent = List.copyOf(silent);
    }
  }

  Result all() throws InterruptedException {
    return of(place.hosts());
  }

  Result of(List<Host> hosts) throws InterruptedException {
    var surveys = new ArrayList<Survey>();
    var silent = new ArrayList<Silent>();
    List<Callable<Object>> questions =
        hosts.stream().<Callable<Object>>map(host -> () -> answer(host)).toList();
    for (Object answer : tasks.all("survey", questions)) {
      switch (answer) {
        case Survey survey -> surveys.add(survey);
        case Silent none -> silent.add(none);
        default -> throw new IllegalStateException(answer.toString());
      }
    }
    return new Result(surveys, silent);
  }

  private Object answer(Host host) throws InterruptedException {
    try {
      return ask(host);
    } catch (GpushException closed) {
      return new Silent(host, closed);
    }
  }

  Survey ask(Host host) throws InterruptedException {
    String rooms = Integer.toString(place.cpuNodes());
    var problem = "no answer";
    try {
      for (String python : HostAgents.INTERPRETERS) {
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
      problem = "no answer within " + LIMIT.toSeconds() + " s";
    } catch (JsonSyntaxException noise) {
      problem = "it did not answer with JSON";
    }
    throw new GpushException(
        new BackendFailure.Unavailable(
            place.name(), host.name() + " cannot say what it has: " + problem, ""));
  }

  private static String shortened(String text) {
    String plain = text.replaceAll("[\\p{Cntrl}\\p{Cf}]+", " ");
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
