package dev.gpush.launch.node;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.Resource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Asks the nodes which Python they would use, and remembers it: the next launch only asks whether
 * the folders with its packages have changed. Thread-safe.
 */
public final class Pythons {
  /** Enough to start Python from a cold network file system. */
  private static final Duration LIMIT = Duration.ofSeconds(60);

  private static final int NO_CANDIDATE = 97;

  /** By its path, because the user's PATH may be wrong. */
  private static final String SHELL = "/bin/sh";

  /** The line that probe.sh prints before it becomes the candidate. */
  private static final Pattern CANDIDATE = Pattern.compile("(?m)^gpush-candidate (.+)$");

  private final LaunchSite site;
  private final Tasks tasks;
  private final String shell = Resource.text(Pythons.class, "probe.sh");
  private final String program = Resource.text(Pythons.class, "probe.py");
  private final String search = Resource.text(Pythons.class, "find_torch.py");
  private final Map<Question, PythonFacts> known = new ConcurrentHashMap<>();

  /** Everything that an answer depends on. */
  private record Question(int node, PythonChoice choice, Map<String, String> environment) {}

  /** One node's answer: facts, or the candidates that failed. */
  public sealed interface Answer {
    record Found(PythonFacts facts) implements Answer {}

    record None(int node, List<String> tried) implements Answer {}

    /** The requested Python does not work. */
    record Broken(int node, String python, String reason) implements Answer {}
  }

  /** The choice of one node. */
  public interface Choices {
    PythonChoice of(LaunchNode node);
  }

  public Pythons(LaunchSite site, Tasks tasks) {
    this.site = site;
    this.tasks = tasks;
  }

  /** In the order of the nodes. Nodes that are all this machine are asked once. */
  public List<Answer> ask(List<LaunchNode> nodes, Choices choices, Map<String, String> environment)
      throws InterruptedException {
    if (site.onThisMachine()) {
      Answer one = askNode(nodes.getFirst(), choices, environment);
      return nodes.stream().map(_ -> one).toList();
    }
    return tasks.each("python", nodes, node -> askNode(node, choices, environment));
  }

  private Answer askNode(LaunchNode node, Choices choices, Map<String, String> environment)
      throws InterruptedException {
    PythonChoice choice = choices.of(node);
    var question = new Question(node.info().index(), choice, environment);
    Optional<PythonFacts> remembered = Optional.ofNullable(known.get(question));
    if (remembered.isPresent() && isFresh(node, remembered.get())) {
      return new Answer.Found(remembered.get());
    }
    known.remove(question);
    var arguments = new ArrayList<>(List.of(SHELL, "-c", shell, "sh", program));
    arguments.addAll(choice.candidates());
    NodeCalls.Answer answer = node.calls().ask(arguments, environment, LIMIT);
    Optional<PythonFacts> facts = PythonFacts.parse(answer.output());
    if (answer.exit() == 0 && facts.isPresent()) {
      known.put(question, facts.get());
      return new Answer.Found(facts.get());
    }
    return answer.exit() == NO_CANDIDATE
        ? new Answer.None(node.info().index(), choice.words())
        : broken(node, choice, answer);
  }

  private static Answer broken(LaunchNode node, PythonChoice choice, NodeCalls.Answer answer) {
    Matcher candidate = CANDIDATE.matcher(answer.errors());
    String python = candidate.find() ? candidate.group(1) : String.join(", ", choice.words());
    String reason =
        CANDIDATE
            .matcher(answer.errors())
            .replaceAll("")
            .lines()
            .filter(line -> !line.isBlank())
            .reduce((_, last) -> last)
            .orElse("it did not report its version");
    return new Answer.Broken(
        node.info().index(), python, reason + " (exit status " + answer.exit() + ")");
  }

  /** Installing or removing a package changes the time of the folder that it is in. */
  private boolean isFresh(LaunchNode node, PythonFacts facts) throws InterruptedException {
    // Through the shell, so that a missing stat means no, and is not a failure.
    var arguments = new ArrayList<>(List.of(SHELL, "-c", "exec stat -L -c %Y \"$@\"", "sh"));
    arguments.addAll(facts.stamps().keySet());
    NodeCalls.Answer answer = node.calls().ask(arguments, Map.of(), LIMIT);
    List<String> expected = facts.stamps().values().stream().map(String::valueOf).toList();
    return answer.exit() == 0 && answer.output().lines().toList().equals(expected);
  }

  /** What has torch there: Pythons of earlier runs, then environments in the usual places. */
  public List<String> withTorch(LaunchNode node, PythonFacts any, Map<String, String> environment)
      throws InterruptedException {
    int index = site.onThisMachine() ? site.nodes().getFirst().info().index() : node.info().index();
    var found = new TreeSet<String>();
    for (Map.Entry<Question, PythonFacts> each : known.entrySet()) {
      PythonFacts facts = each.getValue();
      if (each.getKey().node() == index && facts.torch().isPresent() && isFresh(node, facts)) {
        found.add(facts.executable());
      }
    }
    found.remove(any.executable());
    var places = new ArrayList<String>(found);
    NodeCalls.Answer answer =
        node.calls().ask(List.of(any.executable(), "-S", "-c", search), environment, LIMIT);
    if (answer.exit() == 0) {
      answer.output().lines().filter(line -> !line.isBlank()).forEach(places::add);
    }
    return places.stream().distinct().toList();
  }

  /** Facts of all nodes, or the failure that one of them has none. */
  public static List<PythonFacts> required(List<Answer> answers) {
    var facts = new ArrayList<PythonFacts>();
    for (Answer answer : answers) {
      switch (answer) {
        case Answer.Found(var found) -> facts.add(found);
        case Answer.None(int node, var tried) ->
            throw new GpushException(new LaunchFailure.NoPython(node, tried));
        case Answer.Broken(int node, var python, var reason) ->
            throw new GpushException(new LaunchFailure.BrokenPython(node, python, reason));
      }
    }
    return facts;
  }

  /** The same interpreter and packages everywhere, or a failure that names the difference. */
  public static void requireSame(List<LaunchNode> nodes, List<PythonFacts> facts) {
    var different = new ArrayList<String>();
    for (int i = 1; i < facts.size(); i++) {
      List<String> found = facts.getFirst().differences(facts.get(i));
      if (!found.isEmpty()) {
        different.add("node " + nodes.get(i).info().index() + " " + String.join("; ", found));
      }
    }
    if (!different.isEmpty()) {
      String what =
          "the Python of node "
              + nodes.getFirst().info().index()
              + " ("
              + facts.getFirst().executable()
              + ")";
      throw new GpushException(new LaunchFailure.NodesDiffer(what, different));
    }
  }
}
