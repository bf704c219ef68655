package dev.gpush.backends.slurm.command;

import dev.gpush.backends.remote.AgentAnswer;
import dev.gpush.backends.remote.ClusterText;
import dev.gpush.core.backend.LinkedAgents;
import dev.gpush.core.gang.AgentProgram;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.task.Work;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Asks all agents of a gang at once: over their links where all are up, else in one step. */
public final class GangAgents {
  /** Prints the loader's exit status after its output. */
  private static final String TELL_STATUS = "\"$@\"; printf 'gpush-exit:%s\\n' \"$?\"";

  private static final Pattern LABELLED = Pattern.compile("(?s) *0*([0-9]{1,4}): (.*)");

  private static final Pattern ANSWER =
      Pattern.compile("(?s).*?(?:[0-9a-f]{32}(\\{.*}))?gpush-exit:([0-9]{1,3})$");

  private static final int NO_AGENT = 94;

  /** An answer for each of 256 nodes. */
  private static final int MOST_OUTPUT = 4 << 20;

  private final Steps steps;
  private final AgentProgram agent;
  private final LinkedAgents linked;
  private final Tasks tasks;

  public GangAgents(Steps steps, AgentProgram agent, Tasks tasks) {
    this(steps, agent, LinkedAgents.NONE, tasks);
  }

  private GangAgents(Steps steps, AgentProgram agent, LinkedAgents linked, Tasks tasks) {
    this.steps = steps;
    this.agent = agent;
    this.linked = linked;
    this.tasks = tasks;
  }

  /** The same, which asks these agents first. */
  public GangAgents withLinks(LinkedAgents agents) {
    return new GangAgents(steps, agent, agents, tasks);
  }

  /**
   * Over the links, or with one step over all nodes.
   *
   * @param control the question, as docs/technical/link.md section 1 has it
   * @return an answer for every node
   */
  public Map<Integer, AgentAnswer> ask(
      long job, GangId gang, int nodes, Json.Obj control, Duration limit)
      throws InterruptedException {
    // One step over all nodes: to be asked twice does an agent no harm.
    return AgentAnswer.ask(
        linked,
        gang,
        IntStream.range(0, nodes).boxed().toList(),
        control,
        limit,
        _ -> ask(job, nodes, header(gang, control), limit));
  }

  /**
   * The same of agents that are being started: the answer is there as soon as the last one is.
   *
   * @param patience how long agents that do not run yet may take
   */
  public Map<Integer, AgentAnswer> await(
      long job, GangId gang, int nodes, Json.Obj control, Duration patience, Duration limit)
      throws InterruptedException {
    Json.Obj header = header(gang, control).with("wait_s", patience.toSeconds());
    return ask(job, nodes, header, limit.plus(patience));
  }

  private static Json.Obj header(GangId gang, Json.Obj control) {
    return Json.object(
        "mode", "control", "gang", gang.text(), "node_from", "SLURM_NODEID", "control", control);
  }

  private Map<Integer, AgentAnswer> ask(long job, int nodes, Json.Obj header, Duration limit)
      throws InterruptedException {
    byte[] packet = agent.packet(header);
    var said = new StringBuilder();
    String problem;
    try {
      problem = tasks.within(limit, "ask-agents", () -> run(job, nodes, packet, said));
    } catch (TimeoutException late) {
      problem = "no answer for " + DurationText.of(limit);
    } catch (IOException broken) {
      problem = ClusterText.clean(String.valueOf(broken.getMessage()));
    }
    String text;
    synchronized (said) {
      text = said.toString();
    }
    return answers(text, nodes, problem);
  }

  /** The answer of each node, or srun's error. */
  private String run(long job, int nodes, byte[] packet, StringBuilder said)
      throws IOException, InterruptedException {
    var command = new ArrayList<>(List.of("/bin/sh", "-c", TELL_STATUS, "sh"));
    command.addAll(agent.arguments(AgentProgram.INTERPRETERS));
    try (Pipe pipe = steps.onAll(job, nodes, command)) {
      List<Work<String, IOException>> streams =
          List.of(
              () -> give(pipe.input(), packet),
              () -> read(pipe.output(), said),
              () -> errors(pipe.errors()));
      List<String> read = tasks.all("ask-agents-stream", streams, pipe::close);
      return pipe.await() == 0 ? "" : read.getLast();
    }
  }

  private static String give(OutputStream to, byte[] packet) {
    try (to) {
      to.write(packet);
    } catch (IOException notRead) {
      // It may end without reading its input; its output has the reason.
    }
    return "";
  }

  private static String errors(InputStream from) {
    try {
      return ClusterText.clean(new String(from.readNBytes(MOST_OUTPUT), StandardCharsets.UTF_8));
    } catch (IOException broken) {
      return "the way to the login node broke";
    }
  }

  private static String read(InputStream output, StringBuilder said) throws IOException {
    var piece = new byte[8 * 1024];
    for (int count = output.read(piece); count >= 0; count = output.read(piece)) {
      synchronized (said) {
        if (said.length() < MOST_OUTPUT) {
          said.append(new String(piece, 0, count, StandardCharsets.ISO_8859_1));
        }
      }
    }
    return "";
  }

  /**
   * srun splits long lines into pieces, each with the label, also within a character.
   *
   * @param text one character for each byte
   */
  public static Map<Integer, AgentAnswer> answers(String text, int nodes, String problem) {
    var parts = new HashMap<Integer, StringBuilder>();
    text.lines()
        .map(LABELLED::matcher)
        .filter(Matcher::matches)
        .forEach(
            line ->
                parts
                    .computeIfAbsent(Integer.parseInt(line.group(1)), _ -> new StringBuilder())
                    .append(line.group(2)));
    var answers = new TreeMap<Integer, AgentAnswer>();
    for (int node = 0; node < nodes; node++) {
      byte[] joined =
          parts
              .getOrDefault(node, new StringBuilder())
              .toString()
              .getBytes(StandardCharsets.ISO_8859_1);
      String whole = new String(joined, StandardCharsets.UTF_8);
      answers.put(node, answer(whole, problem.isEmpty() ? "no answer" : problem));
    }
    return answers;
  }

  private static AgentAnswer answer(String text, String problem) {
    Matcher match = ANSWER.matcher(text);
    if (!match.matches()) {
      return new AgentAnswer.Silent(problem);
    }
    int status = Integer.parseInt(match.group(2));
    if (status == 0 && match.group(1) != null) {
      try {
        return new AgentAnswer.Said(Json.parse(match.group(1)));
      } catch (JsonSyntaxException noise) {
        return new AgentAnswer.Silent(
            "an answer that is none: " + ClusterText.clean(match.group(1)));
      }
    }
    return status == NO_AGENT
        ? new AgentAnswer.NoAgent()
        : new AgentAnswer.Silent("the agent's loader ended with " + status);
  }
}
