package dev.gpush.shell.command.reach;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.json.JsonSyntaxException;
import dev.gpush.core.session.SessionView;
import dev.gpush.shell.command.call.Call;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The Jupyter server of one node: it lives until it is stopped or the session ends, and its own
 * file beside the workspace says its port and token.
 */
record JupyterServer(Call call, SessionView session, int node) {
  /** Of a shell: a command that is not there. */
  private static final int NOT_FOUND = 127;

  /**
   * Prints the file that a running server has written. A number of a process may be used again, so
   * the process must have been started with this folder.
   */
  private static final String FIND =
      """
      folder=$GPUSH_WORKSPACE.gpush/jupyter
      found() {
        for file in "$folder"/jpserver-*.json; do
          [ -e "$file" ] || continue
          pid=${file##*-}; pid=${pid%.json}
          tr '\\0' '\\n' <"/proc/$pid/environ" 2>/dev/null |
            grep -qxF "JUPYTER_RUNTIME_DIR=$folder" || continue
          case $(cat "$file") in *}) cat "$file"; return 0;; esac
        done
        return 1
      }
      """;

  /**
   * Prints the one that runs, or makes the words that start one. The session's own Python comes
   * first: so kernels have its environment, and it works where a mounted environment has another
   * path than the one it was made with.
   */
  private static final String CHOOSE =
      """
      found && exit 0
      program=
      for kind; do
        case $kind in
          lab) module=jupyterlab;;
          notebook) module=notebook;;
          *) module=jupyter_server;;
        esac
        if python3 -c 'import sys, importlib.util as all; sys.exit(not all.find_spec(sys.argv[1]))' \\
            "$module" 2>/dev/null; then
          program="python3 -m $module"
          break
        fi
        command -v "jupyter-$kind" >/dev/null && program=jupyter-$kind && break
      done
      [ -n "$program" ] || exit 127
      mkdir -p "$folder" || exit 1
      rm -f "$folder"/jpserver-*
      root=; [ "$(id -u)" = 0 ] && root=--allow-root
      set -- $program --no-browser $root --ServerApp.ip=127.0.0.1 \\
        "--ServerApp.root_dir=$GPUSH_WORKSPACE"
      """;

  private static final String START =
      """
      cd "$GPUSH_WORKSPACE" || exit 1
      JUPYTER_RUNTIME_DIR=$folder nohup "$@" </dev/null >"$folder/log" 2>&1 &
      tries=0
      while [ $tries -lt 600 ]; do
        found && exit 0
        kill -0 $! 2>/dev/null || break
        sleep 0.1; tries=$((tries + 1))
      done
      tail -n 3 "$folder/log" >&2
      exit 1
      """;

  /** The folder of its files, then a word in each line. */
  private static final String PRINT =
      """
      printf '%s\\n' "$folder" "$@"
      """;

  /** A run that starts one may end, so this does not wait for long. */
  private static final String WAIT =
      """
      tries=0
      while [ $tries -lt 20 ]; do
        found && exit 0
        sleep 0.1; tries=$((tries + 1))
      done
      exit 1
      """;

  private static final String STOP = "found && kill \"$pid\"\n";

  /**
   * One that runs.
   *
   * @param url path of its pages, with a slash at both ends
   */
  record Running(int port, String url, String token) {}

  /** What starts one: nothing runs there yet. */
  record Program(String folder, List<String> words) {
    Program {
      words = List.copyOf(words);
    }
  }

  /**
   * Finds the one that runs there, or starts one and waits for it.
   *
   * @param kinds the first that is installed is started
   */
  Running start(List<String> kinds) throws InterruptedException {
    return read(required(CHOOSE + START, kinds));
  }

  /** What would start one there; empty: one runs already. */
  Optional<Program> program(List<String> kinds) throws InterruptedException {
    NodeAnswer answer = required(CHOOSE + PRINT, kinds);
    List<String> lines = answer.printed().lines().toList();
    return answer.printed().startsWith("{") || lines.size() < 2
        ? Optional.empty()
        : Optional.of(new Program(lines.getFirst(), lines.subList(1, lines.size())));
  }

  /** Waits a moment for the one that was started there. */
  Optional<Running> await() throws InterruptedException {
    return found(WAIT);
  }

  /** The one that runs there. */
  Optional<Running> find() throws InterruptedException {
    return found("found\n");
  }

  /** Stops it with its kernels, and returns it as it was; empty: none runs there. */
  Optional<Running> stop() throws InterruptedException {
    return found(STOP);
  }

  private Optional<Running> found(String script) throws InterruptedException {
    var answer = new NodeAnswer(call.invocation());
    int status = run(script, List.of(), answer);
    return status == 0 ? Optional.of(read(answer)) : Optional.empty();
  }

  private NodeAnswer required(String script, List<String> kinds) throws InterruptedException {
    var answer = new NodeAnswer(call.invocation());
    int status = run(script, kinds, answer);
    if (status != 0) {
      throw new GpushException(
          new LaunchFailure.NoJupyter(
              node, "jupyter-" + kinds.getFirst(), status == NOT_FOUND ? "" : answer.complaint()));
    }
    return answer;
  }

  private Running read(NodeAnswer answer) {
    try {
      Json said = Json.parse(answer.printed());
      return new Running(
          said.integer("port").orElse(0),
          said.text("base_url").orElse("/"),
          said.text("token").orElse(""));
    } catch (JsonSyntaxException damaged) {
      throw new GpushException(
          new LaunchFailure.NoJupyter(node, "jupyter", "its file is damaged"), damaged);
    }
  }

  private int run(String script, List<String> words, NodeAnswer answer)
      throws InterruptedException {
    var command = new ArrayList<>(List.of("/bin/sh", "-c", FIND + script, "sh"));
    command.addAll(words);
    return call.services().runs().exec(session.name(), node, command, false, Map.of(), answer);
  }
}
