package dev.gpush.shell.command;

import dev.gpush.core.config.Configs;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.run.RunView;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionView;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.command.place.GatewayCommand;
import dev.gpush.shell.command.reach.JupyterCommand;
import dev.gpush.shell.command.run.RunCommand;
import dev.gpush.shell.command.run.SyncCommand;
import dev.gpush.shell.command.session.TopCommand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

/**
 * Completes command lines. The values of an option are found by its label in the help: NAME is a
 * session, RUN a run, and so on. So every documented option is completed, and a test finds unknown
 * labels.
 */
final class Completion {
  /** {@code about} says what it is, in a few words, possibly nothing. */
  record Candidate(String word, String about) {}

  /** The shell itself completes names of files better: it knows ~, quotes and colours. */
  private static final Candidate FILES = new Candidate(":files", "");

  private final Verbs verbs;
  private final Call call;

  Completion(Verbs verbs, Call call) {
    this.verbs = verbs;
    this.call = call;
  }

  /** For the words after gpush, the last of which is being typed. */
  List<Candidate> of(List<String> words) {
    String typed = words.isEmpty() ? "" : words.getLast();
    return all(words, typed).stream()
        .filter(candidate -> candidate.equals(FILES) || candidate.word().startsWith(typed))
        .toList();
  }

  private List<Candidate> all(List<String> words, String typed) {
    if (words.size() <= 1) {
      return verbs();
    }
    String verb = words.getFirst();
    Optional<Action> action = verbs.make(verb);
    if (action.isEmpty()) {
      return List.of();
    }
    CommandSpec spec = CommandLines.of(action.get(), new Common()).getCommandSpec();
    List<String> before = words.subList(1, words.size() - 1);
    Optional<OptionSpec> open = openOption(spec, before);
    if (open.isPresent()) {
      return values(open.get().paramLabel());
    }
    if (typed.startsWith("--") && typed.contains("=")) {
      return assigned(spec, typed);
    }
    boolean ofWords = action.get() instanceof Action.OfWords;
    int first = CommandLines.firstWord(spec, before);
    if (ofWords && first < before.size()) {
      List<Candidate> flags =
          verb.equals("run") && typed.startsWith("-")
              ? ScriptFlags.of(call.folder(), before.subList(first, before.size()))
              : List.of();
      return flags.isEmpty() ? List.of(FILES) : flags;
    }
    if (typed.startsWith("-")) {
      return options(spec);
    }
    if (ofWords) {
      return switch (verb) {
        case "ssh" -> values("NAME");
        case "run" -> List.of(FILES);
        default -> List.of();
      };
    }
    return positional(spec, before);
  }

  /** The option whose value comes next, if the last word before was one. */
  private static Optional<OptionSpec> openOption(CommandSpec spec, List<String> before) {
    return before.isEmpty()
        ? Optional.empty()
        : Optional.ofNullable(spec.findOption(before.getLast()))
            .filter(option -> option.arity().min() > 0);
  }

  private List<Candidate> assigned(CommandSpec spec, String typed) {
    String name = typed.substring(0, typed.indexOf('='));
    return Optional.ofNullable(spec.findOption(name))
        .map(option -> values(option.paramLabel()))
        .orElse(List.of())
        .stream()
        .map(
            value ->
                value.equals(FILES)
                    ? value
                    : new Candidate(name + "=" + value.word(), value.about()))
        .toList();
  }

  private List<Candidate> positional(CommandSpec spec, List<String> before) {
    int given = 0;
    for (int at = 0; at < before.size(); at++) {
      boolean value = at > 0 && openOption(spec, before.subList(0, at)).isPresent();
      if (!value && !before.get(at).startsWith("-")) {
        given++;
      }
    }
    List<PositionalParamSpec> parameters = spec.positionalParameters();
    boolean isRepeated = !parameters.isEmpty() && parameters.getLast().arity().isVariable();
    int at = isRepeated ? Math.min(given, parameters.size() - 1) : given;
    if (at >= parameters.size()) {
      return List.of();
    }
    String label = parameters.get(at).paramLabel();
    if (!label.equals("WHAT")) {
      return values(label);
    }
    boolean keeps = before.stream().anyMatch(word -> word.split("=", 2)[0].equals("--keep"));
    return keeps ? List.of(FILES) : given == 0 ? values(label) : List.of();
  }

  private static List<Candidate> options(CommandSpec spec) {
    return spec.options().stream()
        .filter(option -> !option.hidden())
        .map(option -> new Candidate(option.longestName(), String.join(" ", option.description())))
        .toList();
  }

  private List<Candidate> verbs() {
    var candidates = new ArrayList<Candidate>();
    for (String name : verbs.names()) {
      verbs
          .make(name)
          .ifPresent(
              action ->
                  candidates.add(new Candidate(name, new CommandHelp(name, action).summary())));
    }
    return candidates;
  }

  private static Stream<Candidate> topics() {
    return Arrays.stream(HelpTopic.values())
        .map(topic -> new Candidate(topic.word(), topic.summary()));
  }

  /** The values of a label; labels of free text have none. */
  List<Candidate> values(String label) {
    return switch (label) {
      case "NAME" ->
          orNone(
              () -> call.services().sessions().list().stream().map(Completion::session).toList());
      case "PLACE" -> places();
      case "RUN" -> orNone(this::runs);
      case "RUN|NAME" -> Stream.concat(values("RUN").stream(), values("NAME").stream()).toList();
      case "GENERATION" -> orNone(this::generations);
      case "NODE", "NODES" -> orNone(this::nodes);
      case "BACKEND" ->
          orNone(
              () ->
                  call.services().configs().load(call.folder()).order().stream()
                      .map(name -> new Candidate(name, ""))
                      .toList());
      case "TEMPLATE" ->
          orNone(
              () ->
                  call.services().configs().templates(call.folder()).stream()
                      .map(Completion::template)
                      .toList());
      case "PORT" -> orNone(this::ports);
      case "TOPIC" -> Stream.concat(verbs().stream(), topics()).toList();
      case "KIND" -> plain(JupyterCommand.KINDS);
      case "HOW" -> plain(RunCommand.LAUNCHERS);
      case "SHELL" -> plain(CompletionCommand.SHELLS);
      case "ACTION" -> plain(GatewayCommand.ACTIONS);
      case "WHAT" -> plain(SyncCommand.ACTIONS);
      case "SIDE" -> plain(SyncCommand.SIDES);
      case "SORT" -> plain(TopCommand.SORTS);
      case "TIME" -> plain(List.of("30m", "2h", "8h", "1d"));
      case "FILE", "FOLDER", "PATH", "PYTHON", "SCRIPT" -> List.of(FILES);
      case "N", "GPUS", "HOST", "SLOTS", "RANKS", "PODS", "SECONDS", "NAME=VALUE", "NAME[=VALUE]" ->
          List.of();
      default -> throw new IllegalStateException("no completion for the label " + label);
    };
  }

  /** Files here, and the sessions as the beginning of a path on a node. */
  private List<Candidate> places() {
    var places = new ArrayList<Candidate>();
    places.add(FILES);
    for (Candidate session : values("NAME")) {
      places.add(new Candidate(session.word() + ":", session.about()));
    }
    return List.copyOf(places);
  }

  private List<Candidate> runs() {
    SessionName session = call.session().name();
    return call.services().runs().list(session).stream().map(Completion::run).toList();
  }

  /** Those with which runs began, each with the newest of its runs. */
  private List<Candidate> generations() {
    var newest = new LinkedHashMap<Long, Candidate>();
    for (RunView run : call.services().runs().list(call.silently().name())) {
      newest.putIfAbsent(run.generation(), new Candidate("G" + run.generation(), run(run).about()));
    }
    return List.copyOf(newest.values());
  }

  private List<Candidate> nodes() {
    return call.silently().nodes().stream()
        .map(node -> new Candidate("" + node.info().index(), node.info().host()))
        .toList();
  }

  /** Ports of this machine, for those that are to be removed. */
  private List<Candidate> ports() {
    return call.services().sessions().forwards(call.silently().name()).stream()
        .map(
            each ->
                new Candidate("" + each.local(), "port " + each.port() + " of node " + each.node()))
        .toList();
  }

  private static Candidate session(SessionView session) {
    return new Candidate(session.name().text(), session.shape() + " on " + session.backend());
  }

  private static Candidate run(RunView run) {
    return new Candidate("" + run.number(), run.state().word() + " " + Clean.command(run.title()));
  }

  private static Candidate template(Configs.Template template) {
    return new Candidate(template.name(), Clean.line(template.summary()));
  }

  private static List<Candidate> plain(List<String> words) {
    return words.stream().map(word -> new Candidate(word, "")).toList();
  }

  /** The Tab key must not show messages. */
  private static List<Candidate> orNone(Supplier<List<Candidate>> candidates) {
    try {
      return candidates.get();
    } catch (GpushException none) {
      return List.of();
    }
  }
}
