package dev.gpush.shell.command;

import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Common;
import dev.gpush.shell.command.place.BackendsCommand;
import dev.gpush.shell.command.place.ConfigCommand;
import dev.gpush.shell.command.place.GatewayCommand;
import dev.gpush.shell.command.place.InitCommand;
import dev.gpush.shell.command.place.LoginCommand;
import dev.gpush.shell.command.place.PromptCommand;
import dev.gpush.shell.command.place.TemplatesCommand;
import dev.gpush.shell.command.place.WatchCommand;
import dev.gpush.shell.command.reach.CodeCommand;
import dev.gpush.shell.command.reach.CopyCommand;
import dev.gpush.shell.command.reach.CopyStreamCommand;
import dev.gpush.shell.command.reach.ForwardCommand;
import dev.gpush.shell.command.reach.JupyterCommand;
import dev.gpush.shell.command.reach.SshCommand;
import dev.gpush.shell.command.run.ExecCommand;
import dev.gpush.shell.command.run.LogsCommand;
import dev.gpush.shell.command.run.PullCommand;
import dev.gpush.shell.command.run.RunCommand;
import dev.gpush.shell.command.run.RunsCommand;
import dev.gpush.shell.command.run.StopCommand;
import dev.gpush.shell.command.run.SyncCommand;
import dev.gpush.shell.command.run.WhyCommand;
import dev.gpush.shell.command.session.AdoptCommand;
import dev.gpush.shell.command.session.CheckCommand;
import dev.gpush.shell.command.session.DoctorCommand;
import dev.gpush.shell.command.session.DownCommand;
import dev.gpush.shell.command.session.ExtendCommand;
import dev.gpush.shell.command.session.LinkCommand;
import dev.gpush.shell.command.session.NodesCommand;
import dev.gpush.shell.command.session.PsCommand;
import dev.gpush.shell.command.session.TopCommand;
import dev.gpush.shell.command.session.UpCommand;
import dev.gpush.shell.text.VerbWords;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** All commands by the word that calls them. */
final class Verbs {
  /** Called by gpush's own scripts and the loop; not in any list. */
  private static final String HIDDEN = "__";

  /**
   * Commands whose names need not be of a session that there is: a new one, one of another machine,
   * a backend; and what comes before the command's name.
   */
  private static final Set<String> NAMING = Set.of("", "up", "run", "adopt", "login");

  private final Map<String, Supplier<Action>> actions = new TreeMap<>();

  Verbs() {
    actions.put("up", UpCommand::new);
    actions.put("run", RunCommand::new);
    actions.put("exec", ExecCommand::new);
    actions.put("ssh", SshCommand::new);
    actions.put("code", CodeCommand::new);
    actions.put("jupyter", JupyterCommand::new);
    actions.put("forward", ForwardCommand::new);
    actions.put("ps", PsCommand::new);
    actions.put("check", CheckCommand::new);
    actions.put("nodes", NodesCommand::new);
    actions.put("top", TopCommand::new);
    actions.put("why", WhyCommand::new);
    actions.put("runs", RunsCommand::new);
    actions.put("logs", LogsCommand::new);
    actions.put("stop", StopCommand::new);
    actions.put("down", DownCommand::new);
    actions.put("extend", ExtendCommand::new);
    actions.put("adopt", AdoptCommand::new);
    actions.put("login", LoginCommand::new);
    actions.put("sync", SyncCommand::new);
    actions.put("pull", PullCommand::new);
    actions.put("cp", CopyCommand::new);
    actions.put("gateway", GatewayCommand::new);
    actions.put("backends", BackendsCommand::new);
    actions.put("templates", TemplatesCommand::new);
    actions.put("init", InitCommand::new);
    actions.put("config", ConfigCommand::new);
    actions.put("link", LinkCommand::new);
    actions.put("doctor", DoctorCommand::new);
    actions.put("completion", CompletionCommand::new);
    actions.put("version", VersionCommand::new);
    actions.put("help", () -> new HelpCommand(this));
    actions.put(HIDDEN + "complete", () -> new CompleteCommand(this));
    actions.put(HIDDEN + "copy", CopyStreamCommand::new);
    actions.put(HIDDEN + "prompt", PromptCommand::new);
    actions.put(HIDDEN + "watch", () -> new WatchCommand(this::words));
    actions.put(HIDDEN + "wake", WakeCommand::new);
  }

  /** A new action of this verb, ready to be parsed into. */
  Optional<Action> make(String verb) {
    return Optional.ofNullable(actions.get(verb)).map(Supplier::get);
  }

  /**
   * What a shell needs to know of the words of each command that users type; those of no command
   * last.
   */
  List<VerbWords> words() {
    var all = new ArrayList<VerbWords>();
    names().forEach(name -> make(name).ifPresent(action -> all.add(words(name, action))));
    all.add(words("", new WakeCommand()));
    return List.copyOf(all);
  }

  private static VerbWords words(String verb, Action action) {
    CommandSpec spec = CommandLines.of(action, new Common()).getCommandSpec();
    var options = new LinkedHashMap<String, VerbWords.Value>();
    for (OptionSpec option : spec.options()) {
      int count = option.arity().min();
      var value = count == 0 ? VerbWords.Value.NONE : value(verb, count, option.paramLabel());
      List.of(option.names()).forEach(name -> options.put(name, value));
    }
    List<String> labels =
        spec.positionalParameters().stream()
            .map(word -> value(verb, 1, word.paramLabel()).label())
            .toList();
    boolean endsAtWord = verb.isEmpty() || action instanceof Action.OfWords;
    return new VerbWords(verb, endsAtWord, options, labels);
  }

  private static VerbWords.Value value(String verb, int count, String label) {
    boolean isNew = label.equals("NAME") && NAMING.contains(verb);
    return new VerbWords.Value(count, isNew ? VerbWords.NEW_NAME : label);
  }

  /** Those that users type, in alphabetical order. */
  List<String> names() {
    return actions.keySet().stream().filter(name -> !name.startsWith(HIDDEN)).toList();
  }
}
