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
import dev.gpush.shell.render.SyncText;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
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

  /**
   * @param call about the session that the line names, if it does
   */
  private Completion(Verbs verbs, Call call) {
    this.verbs = verbs;
    this.call = call;
  }

  /** For the words after gpush, the last of which is being typed. */
  static List<Candidate> of(Verbs verbs, Call call, List<String> words) {
    List<String> before = words.isEmpty() ? words : words.subList(0, words.size() - 1);
    String typed = words.isEmpty() ? "" : words.getLast();
    int verb = CommandLines.verbAt(before);
    List<Candidate> all =
        verb == before.size()
            ? new Completion(verbs, call).ofNoVerb(before, typed)
            : ofVerb(verbs, call, CommandLines.verbFirst(before, verb), typed);
    return all.stream()
        .filter(candidate -> candidate.equals(FILES) || candidate.word().startsWith(typed))
        .toList();
  }

  private static List<Candidate> ofVerb(Verbs verbs, Call call, List<String> words, String typed) {
    String verb = words.getFirst();
    List<String> before = words.subList(1, words.size());
    Optional<Action> made = verbs.make(verb);
    if (made.isEmpty()) {
      return List.of();
    }
    Call named = CommandLines.session(made.get(), before).map(call::about).orElse(call);
    return new Completion(verbs, named).all(verb, made.get(), before, typed);
  }

  /** The command's name, or options of all commands before it. */
  private List<Candidate> ofNoVerb(List<String> before, String typed) {
    CommandSpec spec = CommandLines.of(new WakeCommand(), new Common()).getCommandSpec();
    Optional<OptionSpec> open = openOption(spec, before);
    if (open.isPresent()) {
      return values(open.get().paramLabel());
    }
    return typed.startsWith("-") ? options(spec) : verbs();
  }

  private List<Candidate> all(String verb, Action action, List<String> before, String typed) {
    CommandSpec spec = CommandLines.of(action, new Common()).getCommandSpec();
    boolean ofWords = action instanceof Action.OfWords;
    int first = CommandLines.firstWord(spec, before);
    boolean hasWords = ofWords && first < before.size();
    Optional<OptionSpec> open = hasWords ? Optional.empty() : openOption(spec, before);
    if (open.isPresent()) {
      String label = open.get().paramLabel();
      return label.equals("RANKS") ? ranks(before, typed) : values(label);
    }
    if (!hasWords && typed.startsWith("--") && typed.contains("=")) {
      return assigned(spec, typed);
    }
    if (hasWords) {
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
    return positional(verb, spec, before);
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

  private List<Candidate> positional(String verb, CommandSpec spec, List<String> before) {
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
    if (verb.equals("pull")) {
      return Stream.concat(orNone(this::staying).stream(), Stream.of(FILES)).toList();
    }
    if (!label.equals("WHAT")) {
      return values(label);
    }
    boolean keeps = before.stream().anyMatch(word -> word.split("=", 2)[0].equals("--keep"));
    if (keeps) {
      List<Candidate> held = orNone(this::held);
      return held.isEmpty() ? List.of(FILES) : held;
    }
    return given == 0 ? values(label) : List.of();
  }

  /** Paths that the user has to decide about. */
  private List<Candidate> held() {
    SessionView session = call.silently();
    return call.services().sessions().syncState(session.name()).versions().held().stream()
        .map(
            each ->
                new Candidate(typed(session, each.path()), each.why(SyncText.time(call.zone()))))
        .toList();
  }

  /** Files of the editors' node that do not come home by themselves. */
  private List<Candidate> staying() {
    SessionView session = call.silently();
    return call.services().sessions().syncState(session.name()).staying().stream()
        .filter(each -> !each.what().endsWith("/"))
        .map(each -> new Candidate(typed(session, each.what()), Clean.line(each.why())))
        .toList();
  }

  /** A path of the workspace as it is typed in the user's folder. */
  private String typed(SessionView session, String path) {
    return call.inside(session).relativize(session.root().resolve(path)).toString();
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
      case "RANKS" -> ranks(List.of(), "");
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
      case "N", "GPUS", "HOST", "SLOTS", "PODS", "SECONDS", "NAME=VALUE", "NAME[=VALUE]" ->
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

  /**
   * Of the run that was named, else of the newest one, after what is typed of a list already.
   *
   * @param before the words of the command
   */
  private List<Candidate> ranks(List<String> before, String typed) {
    String list = typed.substring(0, typed.lastIndexOf(',') + 1);
    return orNone(
        () -> {
          List<RunView> runs = call.services().runs().list(call.silently().name());
          Optional<RunView> run =
              runs.stream()
                  .filter(each -> before.contains("" + each.number()))
                  .findFirst()
                  .or(() -> runs.stream().findFirst());
          return IntStream.range(0, run.map(RunView::ranks).orElse(0))
              .mapToObj(rank -> new Candidate(list + rank, ""))
              .toList();
        });
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
