package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.PROJECT;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.ValueType.AbsolutePath;
import dev.gpush.templates.schema.ValueType.BackendNames;
import dev.gpush.templates.schema.ValueType.Choice;
import dev.gpush.templates.schema.ValueType.FilePath;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.FolderOnNodes.Promised;
import dev.gpush.templates.schema.ValueType.Gpus;
import dev.gpush.templates.schema.ValueType.Hosts;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.Prices;
import dev.gpush.templates.schema.ValueType.Size;
import dev.gpush.templates.schema.ValueType.Span;
import dev.gpush.templates.schema.ValueType.Spans;
import dev.gpush.templates.schema.ValueType.TemplateName;
import dev.gpush.templates.schema.ValueType.Text;
import dev.gpush.templates.schema.ValueType.Texts;
import dev.gpush.templates.schema.ValueType.Variables;
import dev.gpush.templates.schema.ValueType.Warning;
import dev.gpush.templates.schema.ValueType.Whole;
import dev.gpush.templates.schema.ValueType.YesNo;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Every key there is. A key whose feature does not exist yet stands here too: it is refused by name
 * and not called unknown, or it is read and said to have no effect yet. Making the feature means
 * giving the key a meaning.
 */
public final class Schema {
  /** What stands for any name in a path. */
  static final String ANY = "*";

  private static final Json NONE = new Json.Null();
  private static final Support FULL = new Support.Full();
  private static final Set<Place> PROJECTS = Set.of(PROJECT);
  private static final Set<Place> PEOPLE = Set.of(PERSON, SITE);

  private static final OneOf MODES =
      new OneOf(
          List.of(new Choice("auto", ""), new Choice("torchrun", ""), new Choice("ranks", "")));

  static final OneOf KINDS =
      new OneOf(
          List.of(
              new Choice("local", ""),
              new Choice("ssh", ""),
              new Choice("slurm", ""),
              new Choice("kubernetes", ""),
              new Choice("lambda", "cloud accounts"),
              new Choice("runpod", "cloud accounts")));

  private static final OneOf STYLES =
      new OneOf(List.of(new Choice("gres", ""), new Choice("gpus", "")));

  private static final OneOf GANGS =
      new OneOf(
          Stream.of(
                  "auto", "plain", "kueue", "native", "volcano", "coscheduling", "kai", "yunikorn")
              .map(word -> new Choice(word, ""))
              .toList());

  private static final OneOf FABRICS =
      new OneOf(List.of(new Choice("auto", ""), new Choice("none", "")));

  private static final OneOf TRANSPORTS =
      new OneOf(List.of(new Choice("openssh", ""), new Choice("builtin", "")));

  private static final List<Key> KEYS =
      Stream.of(
              setting("nodes", new Whole(1, 256), Json.of(1), "how many nodes a gang has"),
              setting("gpus", new Gpus(), NONE, "GPUs per node, as in torchrun; none: CPU nodes"),
              setting("backends", new BackendNames(), NONE, "the places to ask, in this order"),
              project("python", new Text(), "the Python of runs: a path or a name on the PATH"),
              refused(PROJECTS, "python.venv", "activating an environment; write python: PATH"),
              unsupported(
                  "python.conda",
                  new Text(),
                  "runs take the Python that the nodes have; python: PATH names another"),
              unsupported(
                  "python.modules",
                  new Texts(),
                  "no module is loaded; module load in the script works"),
              refused(PROJECTS, "python.file", "activation files"),
              project("env", new Variables(), "variables for everything on the nodes"),
              setting(
                  "lease.for", new Span(), NONE, "given back then, whatever runs; none: no end"),
              setting(
                  "lease.idle",
                  new Span(),
                  Json.of(3600),
                  "given back after so long without activity; a run is activity"),
              setting(
                  "lease.warn",
                  new Spans(),
                  Json.array(List.of(Json.of(1800), Json.of(900), Json.of(300))),
                  "how long before either end terminals and prompts say so"),
              unsupported(
                  "lease.at-end",
                  new OneOf(List.of(new Choice("requeue", ""))),
                  "the session ends with its lease, and nothing is submitted in its place"),
              setting(
                  "sync.ask-over",
                  new Size(),
                  Json.of(50_000_000),
                  "ask before a file larger than this is sent"),
              project(
                  "outputs",
                  new FolderOnNodes(NodeFolder.Variables.USER_AND_HOME, Promised.READ),
                  "where each run gets a folder, $GPUSH_OUTPUT; none: beside the workspace"),
              setting(
                  "run.mode",
                  MODES,
                  Json.of("auto"),
                  "how scripts are launched: torchrun, plain ranks, or torchrun where there is"
                      + " one"),
              project(
                  "run.warn",
                  new Warning(),
                  "a signal to the ranks, so long before the lease's end, and when a scheduler"
                      + " takes the nodes back; only to processes that handle it"),
              setting(
                  "run.grace",
                  new Span(),
                  Json.of(3),
                  "when a rank has failed, the others get SIGTERM and are killed so long after the"
                      + " failure; more for ranks that save on SIGTERM"),
              unsupported(
                  "run.resume", new Text(), "no run is started again when a lease has ended"),
              project(
                  "inherits", new TemplateName(), "the template whose settings lie under these"),
              refused(PROJECTS, "cpus", "choosing CPUs per node"),
              refused(PROJECTS, "memory", "choosing memory per node"),
              refused(PROJECTS, "shm", "choosing the size of /dev/shm"),
              project(
                  "image",
                  new Text(),
                  "the container image that everything runs in, on Kubernetes and on Slurm with"
                      + " pyxis; none: the backend's"),
              unsupported(
                  "setup.run",
                  new Text(),
                  "nothing is installed on the nodes; gpush exec --all -- COMMAND does it"),
              unsupported("setup.when", new Texts(), "no file makes setup run again"),
              unsupported(
                  "mounts", new Variables(), "nothing is mounted, and $GPUSH_DATA is not set"),
              unsupported(
                  "home",
                  new Text(),
                  "the home folder of a pod is on its own disk, and lost with the pod"),
              unsupported("secrets", new Texts(), "no secret reaches the nodes"),
              refused(PROJECTS, "ports", "ports that are always forwarded"),
              refused(PROJECTS, "workspace", "code that is on the cluster already"),
              refused(PEOPLE, "defaults.notify", "notices"),
              new Key(
                  "owner",
                  "owner",
                  new Text(),
                  Set.of(PERSON),
                  NONE,
                  FULL,
                  "who you are to the backends, the same on all your machines; none: your login"
                      + " name. A gateway that runs keeps what it began with"),
              new Key(
                  "backends.*.kind", "", KINDS, PEOPLE, NONE, FULL, "what the place is; needed"),
              new Key(
                  "backends.*.nodes",
                  "",
                  new Whole(1, 256),
                  PEOPLE,
                  Json.of(256),
                  FULL,
                  "kind local: the most nodes that a gang may have here"),
              new Key(
                  "backends.*.locks",
                  "",
                  new AbsolutePath(),
                  PEOPLE,
                  NONE,
                  FULL,
                  "kinds local, ssh: the folder of the GPU locks; one for all users of the"
                      + " machine"),
              place(
                  "hosts", new Hosts(), "kind ssh: the machines, in ranges or one by one; needed"),
              place("user", new Text(), "kind ssh: who logs in there, where ssh would not know"),
              place(
                  "scratch",
                  new FolderOnNodes(NodeFolder.Variables.ALL, Promised.REFUSED),
                  "kinds ssh, slurm: where workspaces go, such as /nvme/$USER; none: ~/gpush; kind"
                      + " slurm: of variables only $USER and $HOME"),
              place(
                  "ssh-config",
                  new AbsolutePath(),
                  "kinds ssh, slurm: the configuration file of ssh; none: yours"),
              place(
                  "transport",
                  TRANSPORTS,
                  "kinds ssh, slurm: your own ssh program, or the one inside gpush; none: your own"
                      + " if it is there"),
              new Key(
                  "backends.*.cpu-nodes",
                  "",
                  new Whole(1, 256),
                  PEOPLE,
                  Json.of(1),
                  FULL,
                  "kind ssh: how many nodes without GPUs one host may be at a time"),
              place(
                  "price",
                  new Prices(),
                  "what a GPU costs for an hour, by model; of places that are free now the cheapest"
                      + " is taken"),
              place(
                  "login",
                  new Text(),
                  "kind slurm: the login node, as ssh knows it; without it gpush runs there"),
              place(
                  "cluster",
                  new Text(),
                  "kind slurm: which of the clusters behind that login (--clusters); each is a"
                      + " backend of its own"),
              place("account", new Text(), "kind slurm: --account"),
              place("qos", new Text(), "kind slurm: --qos"),
              place(
                  "partition",
                  new Texts(),
                  "kind slurm: where jobs may go; without it the cluster's default"),
              place("constraint", new Text(), "kind slurm: --constraint"),
              place("reservation", new Text(), "kind slurm: --reservation"),
              place("exclude", new Text(), "kind slurm: --exclude"),
              place("nodelist", new Text(), "kind slurm: --nodelist"),
              place("switches", new Text(), "kind slurm: --switches"),
              new Key(
                  "backends.*.sruns",
                  "",
                  new Whole(1, 256),
                  PEOPLE,
                  Json.of(16),
                  FULL,
                  "kind slurm: how many nodes of a session may each have an srun on the login"
                      + " node; of a larger one only node 0 has, and others are reached through"
                      + " it"),
              place("exclusive", new YesNo(), "kind slurm: --exclusive: nobody else on the nodes"),
              place("native", new Texts(), "kind slurm: more options for sbatch, as they are"),
              place(
                  "time.default",
                  new Span(),
                  "kinds slurm, kubernetes: the time limit of a job without --for; none: the"
                      + " partition's, and no limit on Kubernetes"),
              place("time.max", new Span(), "kinds slurm, kubernetes: the longest --for"),
              place(
                  "gpus.style",
                  STYLES,
                  "kind slurm: ask by --gres or by --gpus-per-node; gres is known everywhere"),
              place(
                  "gpus.names",
                  new Variables(),
                  "kinds slurm, kubernetes: how the site calls a model, such as {A100: a100_80gb};"
                      + " on Kubernetes a value of a node's label, or LABEL=VALUE"),
              place(
                  "gpus.resource",
                  new Text(),
                  "kind kubernetes: what is asked for, such as amd.com/gpu; none: what nodes have"),
              place(
                  "cpus",
                  new Whole(1, 4096),
                  "kinds slurm, kubernetes: CPUs per node; without it the GPUs' share"),
              place(
                  "memory",
                  new Text(),
                  "kinds slurm, kubernetes: memory per node; without it the GPUs' share"),
              place(
                  "image",
                  new Text(),
                  "the container image that everything runs in; kind kubernetes: needed; kind"
                      + " slurm: where srun has pyxis"),
              place(
                  "python-image",
                  new Text(),
                  "kind kubernetes: an image with a Python, such as python:3.13-slim, for pods"
                      + " whose own image has none"),
              place(
                  "context",
                  new Text(),
                  "kind kubernetes: of the kubeconfig file; none: its current one"),
              place(
                  "kubeconfig",
                  new AbsolutePath(),
                  "kind kubernetes: the file; none: as KUBECONFIG says, ~/.kube/config, or the"
                      + " service account of the pod that gpush runs in"),
              place("namespace", new Text(), "kind kubernetes: none: the context's"),
              place(
                  "queue",
                  new Text(),
                  "kind kubernetes: of what schedules gangs there, such as Kueue's LocalQueue"),
              place(
                  "topology",
                  new Texts(),
                  "kind kubernetes: labels of nodes that say where in the network they are, the"
                      + " widest part first, so that a gang is kept together; none: those of GKE,"
                      + " EKS and CoreWeave, and zones"),
              place(
                  "gang",
                  GANGS,
                  "kind kubernetes: who places all pods of a gang together; auto: what the cluster"
                      + " has, else gpush itself (plain)"),
              place(
                  "assembly",
                  new Span(),
                  "kind kubernetes: how long pods may be placed one by one before all are taken"
                      + " back; none: 2m"),
              place(
                  "remember",
                  new Span(),
                  "kind kubernetes: how long a job that has ended stays, for who asks what became"
                      + " of it; none: 10m"),
              place(
                  "grows",
                  new YesNo(),
                  "kind kubernetes: nodes are added when pods wait, so a gang may ask for more than"
                      + " there is"),
              place(
                  "fabric",
                  FABRICS,
                  "kind kubernetes: whether gangs of several nodes ask for the network devices that"
                      + " nodes have, such as rdma/ib; none: auto"),
              place("shm", new Text(), "kind kubernetes: the size of /dev/shm; none: the memory's"),
              place("pod.labels", new Variables(), "kind kubernetes: labels of job and pods"),
              place(
                  "pod.annotations",
                  new Variables(),
                  "kind kubernetes: annotations of job and pods"),
              place(
                  "pod.patch",
                  new FilePath(),
                  "kind kubernetes: a YAML file that is laid over the pods: volumes, tolerations,"
                      + " secrets, service account …"),
              place(
                  "mounts",
                  new Texts(),
                  "kind slurm: folders of the node that are seen in the image, such as"
                      + " /data:/data:ro"),
              refused(Set.of(SITE), "locked", "settings that a site locks"),
              refused(Set.of(SITE), "limits", "limits that a site sets"))
          .flatMap(Schema::withDefault)
          .toList();

  private Schema() {}

  /** The keys that one kind of file may hold. */
  public static List<Key> of(Place place) {
    return KEYS.stream().filter(key -> key.places().contains(place)).toList();
  }

  /** What an effective configuration shows, in order: the project's keys, which all can be set. */
  public static List<Key> settings() {
    return of(PROJECT).stream().filter(Key::isSupported).toList();
  }

  static Optional<Key> find(Place place, String path) {
    return of(place).stream().filter(key -> key.path().equals(path)).findFirst();
  }

  /** A key of projects that people and sites may give a default for. */
  private static Key setting(String path, ValueType type, Json builtIn, String says) {
    return new Key(path, path, type, Set.of(PROJECT, PERSON, SITE), builtIn, FULL, says);
  }

  private static Key project(String path, ValueType type, String says) {
    return new Key(path, path, type, PROJECTS, NONE, FULL, says);
  }

  /** A key of a backend, without a value of its own. */
  private static Key place(String name, ValueType type, String says) {
    return new Key("backends.*." + name, "", type, PEOPLE, NONE, FULL, says);
  }

  /** A key of projects that is read, has no effect, and is said to have none. */
  private static Key unsupported(String path, ValueType type, String effect) {
    return new Key(path, "", type, PROJECTS, NONE, new Support.Unsupported(effect), "");
  }

  private static Key refused(Set<Place> places, String path, String feature) {
    return new Key(path, "", new Text(), places, NONE, new Support.Refused(feature), "");
  }

  /** The same key stands under {@code defaults:} in the files of people and sites. */
  private static Stream<Key> withDefault(Key key) {
    if (!key.places().contains(PROJECT) || key.places().size() == 1) {
      return Stream.of(key);
    }
    return Stream.of(
        new Key(
            key.path(),
            key.setting(),
            key.type(),
            PROJECTS,
            key.builtIn(),
            key.support(),
            key.says()),
        new Key(
            "defaults." + key.path(),
            key.setting(),
            key.type(),
            PEOPLE,
            key.builtIn(),
            key.support(),
            key.says()));
  }
}
