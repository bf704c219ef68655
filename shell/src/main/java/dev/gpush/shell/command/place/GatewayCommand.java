package dev.gpush.shell.command.place;

import dev.gpush.core.failure.ConfigFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.json.Json;
import dev.gpush.core.talk.GatewayPage;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.command.reach.Programs;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
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
          + " session and client. ACTION is status (the default), start, stop, logs or page: page"
          + " serves sessions, nodes, runs and their output to your browser, live; the address that"
          + " it prints logs in one browser, once."
    },
    footer = {"$ gpush gateway stop", "the gateway is stopping; sessions and runs continue"})
public final class GatewayCommand implements Action {
  public static final List<String> ACTIONS = List.of("status", "start", "stop", "logs", "page");

  /** Enough for a first look; the message names the whole file. */
  private static final int TAIL_BYTES = 16 * 1024;

  @Parameters(
      paramLabel = "ACTION",
      arity = "0..1",
      description = "status, start, stop, logs, page")
  Optional<String> action;

  @Option(names = "--print", description = "page: print the address; open nothing")
  boolean print;

  @Override
  public int run(Call call) throws InterruptedException {
    String chosen = Values.oneOf("gateway", "ACTION", action.orElse("status"), ACTIONS);
    boolean isPage = chosen.equals("page");
    if (call.common().json && !isPage && !chosen.equals("status")) {
      throw Values.bad("gateway", "--json works with status and page only");
    }
    if (print && !isPage) {
      throw Values.bad("gateway", "--print works with page only");
    }
    switch (chosen) {
      case "start" -> call.say("the gateway is running" + pid(call));
      case "stop" -> {
        call.say("the gateway is stopping; sessions and runs continue");
        call.services().gateway().control().stop();
      }
      case "logs" -> logs(call);
      case "page" -> {
        return page(call);
      }
      default -> status(call);
    }
    return 0;
  }

  private int page(Call call) throws InterruptedException {
    GatewayPage page = call.services().gateway().page().get();
    URI address = page.open();
    if (call.common().json) {
      call.print(Json.object("url", address.toString()));
      return 0;
    }
    call.print(address + "\n");
    Optional<Path> browser = print ? Optional.empty() : Programs.opener(call);
    if (browser.isPresent()) {
      Path file = page.file(address);
      call.say("if your browser cannot read " + file + ", open the address; it works once");
      // The browser may stay in the foreground for as long as it is open.
      call.invocation().onlyWatches();
      return call.invocation()
          .spawn(List.of(browser.get().toString(), file.toUri().toString()), Map.of());
    }
    call.say("open it in a browser of this machine; it works once");
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
    if (call.common().json) {
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
