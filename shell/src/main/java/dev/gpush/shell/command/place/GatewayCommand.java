package dev.gpush.shell.command.place;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.text.Nearest;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.text.Clean;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

@Command(
    name = "gateway",
    header = "Show or stop the process behind gpush",
    description = {
      "The gateway starts by itself when it is needed. Stopping it ends no session and no run; the"
          + " next command starts it again, and it ends by itself ten minutes after the last"
          + " session and client. ACTION is status (the default), start, stop, logs or audit.",
      "audit shows who was connected over ssh, from where, with which key, to which node, through"
          + " which channels, and how many bytes went each way; not what was in them. -s NAME shows"
          + " one session."
    },
    footer = {"$ gpush gateway stop", "the gateway is stopping; sessions and runs continue"})
public final class GatewayCommand implements Action {
  public static final List<String> ACTIONS = List.of("status", "start", "stop", "logs", "audit");

  /** Enough for a first look; the message names the whole file. */
  private static final int TAIL_BYTES = 16 * 1024;

  @Parameters(
      paramLabel = "ACTION",
      arity = "0..1",
      description = "status, start, stop, logs, audit")
  Optional<String> action;

  @Option(
      names = {"-f", "--follow"},
      description = "audit: what is added too, until Ctrl-C")
  boolean follow;

  @Option(names = "--since", paramLabel = "TIME", description = "audit: only the last 10m, 2h, 1d")
  Optional<String> since;

  @Option(names = "--json", description = "status as JSON, audit as lines of JSON")
  boolean json;

  /** How often a log that is followed is looked at. */
  private static final Duration LOOK = Duration.ofMillis(500);

  @Override
  public int run(Call call) throws InterruptedException {
    String chosen = action.orElse("status");
    boolean isAudit = chosen.equals("audit");
    if (json && !isAudit && !chosen.equals("status")) {
      throw Values.bad("gateway", "--json works with status and audit only");
    }
    if (!isAudit && (follow || since.isPresent())) {
      throw Values.bad("gateway", "-f and --since work with audit only");
    }
    switch (chosen) {
      case "status" -> status(call);
      case "start" -> call.say("the gateway is running" + pid(call));
      case "stop" -> {
        call.say("the gateway is stopping; sessions and runs continue");
        call.services().gateway().control().stop();
      }
      case "logs" -> logs(call);
      case "audit" -> audit(call);
      default -> {
        List<String> nearest = Nearest.to(chosen, ACTIONS);
        throw Values.bad(
            "gateway",
            "'"
                + chosen
                + "' is not status, start, stop, logs or audit"
                + (nearest.isEmpty() ? "" : "; did you mean " + nearest.getFirst() + "?"));
      }
    }
    return 0;
  }

  private static String pid(Call call) {
    return call.services()
        .gateway()
        .control()
        .status()
        .number("pid")
        .map(pid -> " (pid " + pid + ")")
        .orElse("");
  }

  private void status(Call call) {
    Json status = call.services().gateway().control().status();
    if (json) {
      call.print(status);
      return;
    }
    status.entries().forEach((key, value) -> lines(call, key, value));
  }

  private static void lines(Call call, String key, Json value) {
    switch (value) {
      case Json.Arr(var items) -> {
        if (items.isEmpty()) {
          call.print(line(key, "-"));
        }
        items.forEach(item -> call.print(line(key, plain(item))));
      }
      case Json.Obj _, Json.Text _, Json.Int _, Json.Real _, Json.Bool _, Json.Null _ ->
          call.print(line(key, plain(value)));
    }
  }

  private static String line(String key, String value) {
    return String.format("%-10s %s\n", key.replace('_', ' '), Clean.line(value));
  }

  private static String plain(Json value) {
    return switch (value) {
      case Json.Null _ -> "-";
      case Json.Text(var text) -> text.isEmpty() ? "-" : text;
      case Json.Obj(var fields) ->
          fields.entrySet().stream()
              .map(field -> field.getKey().replace('_', ' ') + " " + plain(field.getValue()))
              .collect(Collectors.joining(" · "));
      case Json.Arr(var items) ->
          items.stream().map(GatewayCommand::plain).collect(Collectors.joining(", "));
      case Json.Int _, Json.Real _, Json.Bool _ -> value.write();
    };
  }

  private void audit(Call call) throws InterruptedException {
    Path log = call.services().gateway().log().resolveSibling("audit.jsonl");
    var records =
        new AuditRecords(log, Values.time("--since", since).map(call.now()::minus), call.named());
    Consumer<Json.Obj> reader =
        record -> call.print((json ? record.write() : AuditRecords.line(record)) + "\n");
    try {
      if (!records.readAll(reader) && !follow) {
        call.say("nothing is recorded yet: nobody has connected, or gateway.audit is none");
      }
      while (follow) {
        Thread.sleep(LOOK);
        records.readNew(reader);
      }
    } catch (IOException failed) {
      throw new GpushException(
          new ConfigFailure.Unreadable(log.toString(), FileReason.of(failed)), failed);
    }
  }

  private static void logs(Call call) {
    Path log = call.services().gateway().log();
    try (var file = new RandomAccessFile(log.toFile(), "r")) {
      long start = Math.max(0, file.length() - TAIL_BYTES);
      file.seek(start);
      byte[] bytes = new byte[(int) (file.length() - start)];
      file.readFully(bytes);
      String text = new String(bytes, StandardCharsets.UTF_8);
      call.print(start == 0 ? text : text.substring(text.indexOf('\n') + 1));
      call.say("the whole log: " + log);
    } catch (IOException failed) {
      throw new GpushException(
          new ConfigFailure.Unreadable(log.toString(), FileReason.of(failed)), failed);
    }
  }
}
