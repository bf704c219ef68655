package dev.gpush.acceptance;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.json.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** What Python says of itself in each of the ways to start something on a node. */
final class Everywhere {
  private static final String FILE = "show.py";

  /**
   * The variables that each way has of its own are left out: of ssh and its terminals, of a shell,
   * of a run and its ranks (also which GPUs it claims), of Jupyter. The machine's own profile,
   * which only login shells read, may set what is behind the first folder of PATH.
   */
  private static final String SHOW =
      """
      import json, os, re, shutil, sys
      own = re.compile(
          "SSH_|VSCODE_CLI$|CUDA_VISIBLE_DEVICES$|LANG$|LC_|PATH$|TERM$|SHLVL$|_$|PWD$|OLDPWD$|LINES$|COLUMNS$|TMPDIR$|LS_COLORS$|MAIL$|MOTD"
          "|(LOCAL_|GROUP_|NODE_|ROLE_)?RANK$|ROLE_NAME$|TORCHELASTIC_|(LOCAL_|GROUP_|ROLE_)?WORLD_SIZE$|MASTER_|NNODES$|GPUSH_(RUN|NODES|NODE|PROMPT|MARK|OUTPUT|EXEC)"
          "|PYTHONUNBUFFERED$|PYTHONFAULTHANDLER$|(TORCH_)?NCCL_|GLOO_|OMP_NUM_THREADS$"
          "|JPY_|JUPYTER|CLICOLOR|FORCE_COLOR$|PAGER$|GIT_PAGER$|MPLBACKEND$|PYDEVD_|IPY")
      said = {
          "python": shutil.which("python3"), "prefix": sys.prefix, "path": sorted(set(sys.path) - {"", os.environ["GPUSH_WORKSPACE"]}),
          "first": os.environ["PATH"].split(":")[0],
          "variables": {name: text for name, text in os.environ.items() if not own.match(name)}}
      print("<<" + json.dumps(said, sort_keys=True) + ">>")
      """;

  private static final Pattern SHOWN = Pattern.compile("<<(\\{.*?\\})>>");
  private static final String LINE = "python3 $GPUSH_WORKSPACE/" + FILE;

  private Everywhere() {}

  /** Puts the file into the project; before the session is up. */
  static void prepare(World world) throws Exception {
    world.file(FILE, SHOW);
  }

  static Result ssh(World world, String input, String... words) throws Exception {
    return world.run(
        input.getBytes(StandardCharsets.UTF_8), world.ssh(words).toArray(String[]::new));
  }

  static Json overSsh(World world, String host) throws Exception {
    return shown(ssh(world, "", host, LINE).out());
  }

  static Json shown(String output) {
    Matcher found = SHOWN.matcher(output);
    assertTrue(found.find(), output);
    return Json.parse(found.group(1));
  }

  /** On a session devbox of two nodes. */
  static Map<String, Json> ways(World world) throws Exception {
    var said = new TreeMap<String, String>();
    said.put("ssh", ssh(world, "", "devbox", LINE).out());
    said.put("bash -lc", ssh(world, "", "devbox", "bash -lc '" + LINE + "'").out());
    said.put("a shell without a terminal", ssh(world, LINE + "\n", "devbox").out());
    said.put("as editors begin", ssh(world, LINE + "\n", "devbox", "bash", "-l").out());
    said.put("a terminal", ssh(world, LINE + "; exit\n", "-tt", "devbox").out());
    said.put("exec", world.gpush("exec", LINE).out());
    said.put("exec of a program", world.gpush("exec", "python3", FILE).out());
    said.put("ranks", world.gpush("run", "--nodes", "1", FILE).succeeded().out());
    said.put(
        "a command of a run", world.gpush("run", "--nodes", "1", "python3", "./" + FILE).out());
    var shown = new TreeMap<String, Json>();
    said.forEach((way, output) -> shown.put(way, shown(output)));
    return shown;
  }

  /**
   * All ways, and a kernel's, on a session devbox with the file in its workspace.
   *
   * @param python the nodes' Python with a Jupyter server
   */
  static void isOne(World world, String python) throws Exception {
    Json kernel = kernel(world, python);
    Map<String, Json> said = ways(world);
    said.put("a kernel", kernel);
    assertEquals(
        Path.of(python).getParent().toString(),
        Path.of(same(said).text("python").orElse("")).getParent().toString());
  }

  /**
   * In a terminal of VS Code's workbench, too, with a server on node 0 of a session devbox, where
   * the editors rig is in the same place as here.
   */
  static void isOneInAnEditor(World world) throws Exception {
    Optional<String> here = World.rig("editors");
    if (here.isEmpty()) {
      System.out.println("No editor's terminal is compared: the editors rig is down");
      return;
    }
    Path rig = Path.of(here.get());
    try (var server = Workbench.Server.start(world, here.get());
        var workbench = Workbench.open(world, rig, server, server.forwarded(world))) {
      requireIn(world, server, workbench);
    }
  }

  /** The editor adds variables of its own, and a folder in front of PATH. */
  static void requireIn(World world, Workbench.Server server, Workbench workbench)
      throws Exception {
    workbench.types(LINE + " >said 2>&1; echo said-$((6 * 7))");
    workbench.prints("said-42");
    Json here = shown(server.read(world, "said"));
    Json overSsh = overSsh(world, "devbox");
    for (String what : List.of("python", "prefix", "path")) {
      assertEquals(overSsh.get(what), here.get(what), what);
    }
    for (String name : List.of("EXTRA", "VIRTUAL_ENV", "GPUSH_SESSION", "GPUSH_WORKSPACE")) {
      assertEquals(
          overSsh.object("variables").text(name), here.object("variables").text(name), name);
    }
  }

  /** As a kernel says it, in the same session; its server is stopped then. */
  private static Json kernel(World world, String python) throws Exception {
    try (var notebook = Notebook.open(world, python)) {
      return shown(
          notebook.output(
              notebook.send(
                  "import os\nexec(open(os.environ['GPUSH_WORKSPACE'] + '/"
                      + FILE
                      + "').read())")));
    }
  }

  /** They all say the same, and this is it. */
  static Json same(Map<String, Json> said) {
    Json one = said.get("ssh");
    said.forEach((way, other) -> assertEquals(one.write(), other.write(), way));
    return one;
  }
}
