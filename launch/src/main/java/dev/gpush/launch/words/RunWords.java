package dev.gpush.launch.words;

import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.run.RunKind;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.session.BatchHeaders;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The meaning of the words of {@code run}. A Python program becomes ranks; a pasted launcher keeps
 * its program without the options that the session decides; anything else runs once per node.
 *
 * <p>{@code python train.py} also means ranks of train.py; {@code python} alone names no particular
 * interpreter, {@code /opt/x/bin/python} and {@code python3.12} do. {@code python -c} and {@code -m
 * pip} run once per node.
 *
 * @param variables {@code NAME=value} words before the program
 * @param python the pasted interpreter, unless it is only "python"
 * @param replaced options of a pasted launcher that the session replaces
 */
public record RunWords(
    Map<String, String> variables, Optional<String> python, Form form, List<String> replaced) {
  /** How the words are run. */
  public sealed interface Form {
    /** The words, for messages and records. */
    List<String> words();
  }

  /**
   * Ranks of the words after {@code python -u}.
   *
   * @param torchrun requested by a pasted launcher; otherwise it is used if torch is installed
   * @param options more options for torchrun
   */
  public record Program(List<String> words, boolean torchrun, List<String> options)
      implements Form {
    public Program {
      words = List.copyOf(words);
      options = List.copyOf(options);
    }
  }

  /**
   * Another launcher, once per node; it starts the ranks and sets its own variables.
   *
   * @param options that stay, without those of nodes, ranks and rendezvous
   */
  public record Launched(LauncherCommand.Kind launcher, List<String> options, List<String> words)
      implements Form {
    public Launched {
      options = List.copyOf(options);
      words = List.copyOf(words);
    }
  }

  /** A batch script of Slurm with its arguments, which starts processes on all nodes by srun. */
  public record BatchScript(List<String> words) implements Form {
    public BatchScript {
      words = List.copyOf(words);
    }
  }

  /** MPI programs, which the mpirun of node 0 starts on all nodes. */
  public record Mpi(MpiCommand command, List<String> words) implements Form {
    public Mpi {
      words = List.copyOf(words);
    }
  }

  /** A script on node 0 that uses Ray, which is started on all nodes before. */
  public record RayProgram(List<String> words) implements Form {
    public RayProgram {
      words = List.copyOf(words);
    }
  }

  public record Command(List<String> words) implements Form {
    public Command {
      words = List.copyOf(words);
    }
  }

  /** The server of a notebook: a command on one node, whatever its words look like. */
  public record Notebook(List<String> words) implements Form {
    public Notebook {
      words = List.copyOf(words);
    }
  }

  /** One word with spaces, for {@code sh -c}, as ssh would. */
  public record Shell(String text) implements Form {
    @Override
    public List<String> words() {
      return List.of(text);
    }
  }

  private static final String LAUNCHER = RunRequest.Command.LAUNCHER;

  public static final String RAY = "ray";

  private static final Pattern VARIABLE =
      Pattern.compile("[A-Za-z_][A-Za-z0-9_]*=.*", Pattern.DOTALL);
  private static final Pattern PYTHON = Pattern.compile("(?:.*/)?python(?:[0-9]+(?:\\.[0-9]+)*)?");
  private static final Set<String> ANY_PYTHON = Set.of("python", "python3");

  /** Modules that work on the node, not on the data: once per node. */
  private static final Set<String> ONCE = Set.of("pip", "venv", "ensurepip", "virtualenv");

  private static final Set<String> TORCHRUN_MODULES =
      Set.of("torch.distributed.run", "torch.distributed.launch");

  /** Flags of the interpreter in one word, and one that takes its rest, else the next word. */
  private static final Pattern FLAGS =
      Pattern.compile("-(?!-)([^cmWX]*)([cmWX]?)(.*)", Pattern.DOTALL);

  public RunWords {
    variables = Map.copyOf(variables);
    replaced = List.copyOf(replaced);
  }

  /** The words must not be empty. */
  public static RunWords of(RunKind kind, List<String> words) {
    return switch (kind) {
      case PROGRAM -> parse(words);
      case NOTEBOOK -> of(new Notebook(words));
    };
  }

  public RunKind kind() {
    return switch (form) {
      case Notebook _ -> RunKind.NOTEBOOK;
      case Program _, Launched _, BatchScript _, Mpi _, RayProgram _, Command _, Shell _ ->
          RunKind.PROGRAM;
    };
  }

  /** Those of a program. */
  public static RunWords parse(List<String> words) {
    if (words.getFirst().equals(LAUNCHER)) {
      return launcher(words.subList(1, words.size()));
    }
    var variables = new LinkedHashMap<String, String>();
    int at = 0;
    while (at < words.size() - 1 && VARIABLE.matcher(words.get(at)).matches()) {
      String word = words.get(at++);
      int equals = word.indexOf('=');
      variables.put(word.substring(0, equals), word.substring(equals + 1));
    }
    RunWords rest = parseProgram(words.subList(at, words.size()));
    return new RunWords(variables, rest.python(), rest.form(), rest.replaced());
  }

  /** Whether the form starts ranks itself; a plain command may do anything. */
  public boolean startsRanks() {
    return switch (form) {
      case Program _, Launched _, BatchScript _, Mpi _, RayProgram _ -> true;
      case Notebook _, Command _, Shell _ -> false;
    };
  }

  /** Whether a program of node 0 starts processes on the other nodes. */
  public boolean startsFromNodeZero() {
    return switch (form) {
      case BatchScript _, Mpi _, RayProgram _ -> true;
      case Program _, Launched _, Notebook _, Command _, Shell _ -> false;
    };
  }

  private static RunWords launcher(List<String> words) {
    return switch (words.getFirst()) {
      case RAY -> ray(words);
      case RunRequest.Command.BATCH -> batch(words);
      default ->
          wrong(
              LAUNCHER
                  + " must be ray or sbatch, not "
                  + words.getFirst()
                  + "; torchrun, accelerate, deepspeed, fabric and mpirun are written before the"
                  + " script");
    };
  }

  private static RunWords batch(List<String> words) {
    if (words.size() == 1) {
      return wrong(LAUNCHER + " sbatch needs a script");
    }
    RunWords rest = parse(words.subList(1, words.size()));
    return switch (rest.form()) {
      case Command(var script) ->
          new RunWords(rest.variables(), Optional.empty(), new BatchScript(script), List.of());
      case BatchScript _ -> rest;
      case Program _, Launched _, Mpi _, RayProgram _, Notebook _, Shell _ ->
          wrong(LAUNCHER + " sbatch runs a batch script, and " + words.get(1) + " is none");
    };
  }

  private static RunWords ray(List<String> words) {
    if (words.size() == 1) {
      return wrong(LAUNCHER + " ray needs a script");
    }
    RunWords rest = parse(words.subList(1, words.size()));
    return rest.form() instanceof Program(var program, var torchrun, _) && !torchrun
        ? new RunWords(rest.variables(), rest.python(), new RayProgram(program), List.of())
        : wrong(LAUNCHER + " ray runs a Python script on node 0, and " + words.get(1) + " is none");
  }

  private static RunWords parseProgram(List<String> words) {
    String first = words.getFirst();
    List<String> rest = words.subList(1, words.size());
    if (first.equals("-m")) {
      return rest.isEmpty() ? wrong("-m needs a module") : plain(words);
    }
    if (words.size() == 1 && first.contains(" ")) {
      return of(new Shell(first));
    }
    if (first.endsWith(".py")) {
      return plain(words);
    }
    if (first.endsWith(BatchHeaders.SUFFIX)) {
      return of(new BatchScript(words));
    }
    if (MpiCommand.isNamed(first)) {
      return MpiCommand.parse(words)
          .map(
              command ->
                  new RunWords(
                      Map.of(), Optional.empty(), new Mpi(command, words), command.replaced()))
          .orElseGet(() -> of(new Command(words)));
    }
    return switch (first) {
      case "torchrun" -> torchrun(rest, Optional.empty());
      case "deepspeed" -> launched(LauncherCommand.Kind.DEEPSPEED, rest, Optional.empty());
      case "fabric" ->
          !rest.isEmpty() && rest.getFirst().equals("run")
              ? launched(
                  LauncherCommand.Kind.FABRIC, rest.subList(1, rest.size()), Optional.empty())
              : of(new Command(words));
      case "accelerate" ->
          !rest.isEmpty() && rest.getFirst().equals("launch")
              ? launched(
                  LauncherCommand.Kind.ACCELERATE, rest.subList(1, rest.size()), Optional.empty())
              : of(new Command(words));
      default -> isPython(first) ? python(words) : of(new Command(words));
    };
  }

  static boolean isPython(String word) {
    return PYTHON.matcher(word).matches();
  }

  private static RunWords of(Form form) {
    return new RunWords(Map.of(), Optional.empty(), form, List.of());
  }

  private static RunWords plain(List<String> program) {
    return of(new Program(program, false, List.of()));
  }

  private static RunWords wrong(String rule) {
    throw UsageFailure.ofRun(rule);
  }

  /** {@code python …}: decided as the interpreter would read the words. */
  private static RunWords python(List<String> words) {
    String interpreter = words.getFirst();
    Optional<String> chosen =
        ANY_PYTHON.contains(interpreter) ? Optional.empty() : Optional.of(interpreter);
    var flags = new ArrayList<String>();
    int at = 1;
    while (at < words.size() && words.get(at).startsWith("-") && words.get(at).length() > 1) {
      Matcher flag = FLAGS.matcher(words.get(at++));
      if (!flag.matches() || flag.group(1).contains("i") || flag.group(2).equals("c")) {
        return of(new Command(words));
      }
      String alone = flag.group(1).replace("u", "");
      if (!alone.isEmpty()) {
        flags.add("-" + alone);
      }
      List<String> rest = words.subList(at, words.size());
      boolean isJoined = !flag.group(3).isEmpty();
      if (flag.group(2).equals("m")) {
        var module = new ArrayList<>(rest);
        if (isJoined) {
          module.addFirst(flag.group(3));
        }
        return module.isEmpty() ? of(new Command(words)) : module(words, chosen, flags, module);
      }
      if (!flag.group(2).isEmpty()) {
        flags.add("-" + flag.group(2) + flag.group(3));
        if (!isJoined && !rest.isEmpty()) {
          flags.add(words.get(at++));
        }
      }
    }
    if (at >= words.size() || words.get(at).equals("-")) {
      return of(new Command(words));
    }
    flags.addAll(words.subList(at, words.size()));
    return new RunWords(Map.of(), chosen, new Program(flags, false, List.of()), List.of());
  }

  private static RunWords module(
      List<String> words, Optional<String> chosen, List<String> flags, List<String> module) {
    String name = module.getFirst();
    List<String> rest = module.subList(1, module.size());
    if (TORCHRUN_MODULES.contains(name)) {
      return torchrun(rest, chosen);
    }
    if (name.equals("accelerate.commands.launch")) {
      return launched(LauncherCommand.Kind.ACCELERATE, rest, chosen);
    }
    if (ONCE.contains(name)) {
      return of(new Command(words));
    }
    var program = new ArrayList<>(flags);
    program.add("-m");
    program.addAll(module);
    return new RunWords(Map.of(), chosen, new Program(program, false, List.of()), List.of());
  }

  private static RunWords torchrun(List<String> words, Optional<String> chosen) {
    PastedOptions options = PastedOptions.read("torchrun", words);
    if (options.has("no-python")) {
      return wrong("torchrun --no-python has no Python program to make ranks of");
    }
    return new RunWords(
        Map.of(), chosen, new Program(options.program(), true, options.kept()), options.replaced());
  }

  private static RunWords launched(
      LauncherCommand.Kind launcher, List<String> words, Optional<String> chosen) {
    PastedOptions options = PastedOptions.read(launcher.call(), words);
    return new RunWords(
        Map.of(),
        chosen,
        new Launched(launcher, options.kept(), options.program()),
        options.replaced());
  }
}
