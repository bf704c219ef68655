package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.PROJECT;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.PlaceOfData;
import dev.gpush.templates.schema.ValueType.Simple;
import dev.gpush.templates.schema.ValueType.Whole;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * All keys. A key whose feature does not exist yet is listed too: it is refused by name instead of
 * as unknown, or it is accepted and reported to have no effect yet.
 */
public final class Schema {
  /** Stands for any name in a path. */
  static final String ANY = "*";

  private static final Json NONE = new Json.Null();
  private static final Support FULL = new Support.Full();
  private static final Set<Place> PROJECTS = Set.of(PROJECT);
  private static final Set<Place> PEOPLE = Set.of(PERSON, SITE);

  private static final OneOf MODES = new OneOf(List.of("auto", "torchrun", "ranks"));

  static final OneOf KINDS = new OneOf(List.of("local", "ssh", "slurm", "kubernetes"));

  private static final OneOf STYLES = new OneOf(List.of("gres", "gpus"));

  private static final OneOf GANGS =
      new OneOf(
          List.of(
              "auto", "plain", "kueue", "native", "volcano", "coscheduling", "kai", "yunikorn"));

  private static final OneOf FABRICS = new OneOf(List.of("auto", "none"));

  private static final OneOf TRANSPORTS = new OneOf(List.of("openssh", "builtin"));

  private static final List<Key> PROJECT_AND_OWNER =
      Stream.of(
              setting("nodes", new Whole(1, 256), Json.of(1), "how many nodes a gang has"),
              setting("gpus", Simple.GPUS, NONE, "GPUs per node, as in torchrun; none: CPU nodes"),
              setting("backends", Simple.BACKEND_NAMES, NONE, "the backends to ask, in this order"),
              project(
                  "python",
                  Simple.TEXT,
                  "the Python of shells, kernels and runs: a path, a folder with bin/python, a name"
                      + " on the PATH, a version, or uv.lock: what uv sync makes of it on the"
                      + " nodes"),
              project("python.venv", Simple.TEXT, "the same, as the folder of a venv"),
              project(
                  "python.conda",
                  Simple.TEXT,
                  "the name or path of a conda environment that is activated"),
              project("python.modules", Simple.TEXTS, "modules that are loaded, in this order"),
              project(
                  "python.file",
                  Simple.TEXT,
                  "a file that bash reads on the nodes, in the workspace unless it begins with /"
                      + " or ~"),
              project(
                  "env",
                  Simple.VARIABLES,
                  "environment variables of everything that runs on the nodes"),
              setting(
                  "lease.for",
                  Simple.SPAN,
                  NONE,
                  "how long the nodes are kept, whatever runs; none: no limit"),
              setting(
                  "lease.idle",
                  Simple.SPAN,
                  Json.of(3600),
                  "the nodes are given back after this time without activity (guide/idle.md); where"
                      + " it is not set, a gang that waited in a queue gets 3h or half of that"
                      + " time"),
              setting(
                  "lease.warn",
                  Simple.SPANS,
                  Json.array(List.of(Json.of(1800), Json.of(900), Json.of(300))),
                  "how long before either limit terminals and prompts warn"),
              unsupported(
                  "lease.at-end",
                  new OneOf(List.of("requeue")),
                  "the session ends with its lease, and no successor is submitted"),
              setting(
                  "sync.ask-over",
                  Simple.SIZE,
                  Json.of(50_000_000),
                  "ask before a file larger than this is sent"),
              setting(
                  "sync.mode",
                  new OneOf(List.of("live", "manual")),
                  Json.of("live"),
                  "live sends each save by itself; manual sends only at up, run and sync"),
              project(
                  "sync.edit",
                  new Whole(0, 255),
                  "the node where people edit: its changes come home, and it has the git"
                      + " repository; none: node 0; read when the session is made, and when the"
                      + " gateway starts"),
              setting(
                  "sync.edits",
                  new OneOf(List.of("come-home", "stay")),
                  Json.of("come-home"),
                  "what becomes of files that are changed, made or deleted on the node where people"
                      + " edit: that comes home, or stays there"),
              setting(
                  "sync.new-from-node",
                  Simple.SIZE,
                  Json.of(1_000_000),
                  "new files of the node where people edit that are larger stay there; gpush pull"
                      + " fetches them"),
              setting(
                  "git.history",
                  Simple.COMMITS,
                  Json.of("all"),
                  "how much of the git history the node where people edit gets: all up to 1 GiB,"
                      + " the newest commits, or none; then it has no repository, and no commits"
                      + " made there come home"),
              project(
                  "sync.while-running",
                  new OneOf(List.of("hold", "apply", "isolate")),
                  "what happens to saves while a run is on: hold until it ends, apply at once, or"
                      + " isolate (runs have files of their own); not set: hold on several nodes"),
              project(
                  "outputs",
                  new PlaceOfData(DataPlace.Form.WRITTEN),
                  "the folder in which each run gets its own, $GPUSH_OUTPUT, on the nodes or in a"
                      + " volume (kind kubernetes); none: beside the workspace"),
              setting(
                  "run.mode",
                  MODES,
                  Json.of("auto"),
                  "how scripts are launched: torchrun, plain ranks, or auto: torchrun if it is"
                      + " installed"),
              project(
                  "run.warn",
                  Simple.WARNING,
                  "a signal for the ranks at this time before the lease ends, and when the"
                      + " scheduler takes the nodes back; sent only to processes that handle it"),
              setting(
                  "run.grace",
                  Simple.SPAN,
                  Json.of(3),
                  "after a rank fails, the others get SIGTERM, and they are killed this long after"
                      + " the failure; longer for ranks that save a checkpoint on SIGTERM"),
              unsupported("run.resume", Simple.TEXT, "no run is resumed after a lease has ended"),
              project(
                  "inherits",
                  Simple.TEMPLATE_NAME,
                  "the template that gives the settings not made here"),
              refused(PROJECTS, "cpus", "choosing CPUs per node"),
              refused(PROJECTS, "memory", "choosing memory per node"),
              refused(PROJECTS, "shm", "choosing the size of /dev/shm"),
              project(
                  "image",
                  Simple.TEXT,
                  "the container image that everything runs in, on Kubernetes and on Slurm with"
                      + " pyxis; none: the image of the backend"),
              project(
                  "setup.run",
                  Simple.TEXT,
                  "a command for bash that runs once on each node, in the workspace, before the"
                      + " first run"),
              project(
                  "setup.when",
                  Simple.TEXTS,
                  "files of the workspace; when one has changed, setup runs again"),
              project(
                  "mounts",
                  Simple.MOUNTS,
                  "data that programs find by name: data: gives $GPUSH_DATA; folders of the nodes,"
                      + " or volumes (kind kubernetes), which are mounted"),
              project(
                  "home",
                  new PlaceOfData(DataPlace.Form.VOLUME),
                  "the home folder of pods, in a volume that outlives them (kind kubernetes); none:"
                      + " the image's, on the pod's disk"),
              unsupported("secrets", Simple.TEXTS, "no secret reaches the nodes"),
              project(
                  "ports",
                  Simple.PORTS,
                  "ports of nodes that get a port of this machine, as gpush forward does"),
              refused(PROJECTS, "workspace", "code that is on the cluster already"),
              refused(PEOPLE, "defaults.notify", "notifications"),
              new Key(
                  "owner",
                  "owner",
                  Simple.TEXT,
                  Set.of(PERSON),
                  NONE,
                  FULL,
                  "your name on the backends, the same on all your machines; none: your login name."
                      + " A running gateway keeps the name it was started with"))
          .toList();

  private static final List<Key> BACKENDS =
      Stream.of(
              place("kind", KINDS, "what the backend is; required"),
              place(
                  "nodes",
                  new Whole(1, 256),
                  Json.of(256),
                  "kind local: how many nodes a gang may have here"),
              place(
                  "locks",
                  Simple.ABSOLUTE_PATH,
                  "kinds local, ssh: the folder of the GPU locks, shared by all users of the"
                      + " machine"),
              place(
                  "hosts",
                  Simple.HOSTS,
                  "kind ssh: the machines, one by one or in ranges; required"),
              place(
                  "user",
                  Simple.TEXT,
                  "kind ssh: the login name, if ssh's own configuration has none"),
              place(
                  "scratch",
                  new FolderOnNodes(NodeFolder.Variables.ALL),
                  "kinds ssh, slurm: the folder for workspaces, such as /nvme/$USER; none: ~/gpush;"
                      + " kind slurm: the only variables are $USER and $HOME"),
              place(
                  "ssh-config",
                  Simple.ABSOLUTE_PATH,
                  "kinds ssh, slurm: the configuration file of ssh; none: ~/.ssh/config"),
              place(
                  "transport",
                  TRANSPORTS,
                  "kinds ssh, slurm: openssh uses the ssh program, builtin the client inside gpush;"
                      + " none: openssh if it is installed"),
              place(
                  "cpu-nodes",
                  new Whole(1, 256),
                  Json.of(1),
                  "kind ssh: how many nodes without GPUs one host may provide at a time"),
              place(
                  "price",
                  Simple.PRICES,
                  "the price of one GPU for an hour, by model; of the backends that are free now,"
                      + " the cheapest is taken"),
              place(
                  "login",
                  Simple.TEXT,
                  "kind slurm: the login node, as a name for ssh; none: gpush itself runs on the"
                      + " login node"),
              place(
                  "cluster",
                  Simple.TEXT,
                  "kind slurm: one of the clusters of that login node (--clusters); each is its own"
                      + " backend"),
              place("account", Simple.TEXT, "kind slurm: --account"),
              place("qos", Simple.TEXT, "kind slurm: --qos"),
              place(
                  "partition", Simple.TEXTS, "kind slurm: --partition; none: the cluster's default"),
              place("constraint", Simple.TEXT, "kind slurm: --constraint"),
              place("reservation", Simple.TEXT, "kind slurm: --reservation"),
              place("exclude", Simple.TEXT, "kind slurm: --exclude"),
              place("nodelist", Simple.TEXT, "kind slurm: --nodelist"),
              place("switches", Simple.TEXT, "kind slurm: --switches"),
              place(
                  "sruns",
                  new Whole(1, 256),
                  Json.of(16),
                  "kind slurm: up to this many nodes, each node of a session has an srun on the"
                      + " login node; in a larger session only node 0 has one, and the others are"
                      + " reached through it"),
              place(
                  "exclusive", Simple.YES_NO, "kind slurm: --exclusive: no other jobs on the nodes"),
              place(
                  "native",
                  Simple.TEXTS,
                  "kind slurm: more options for sbatch, passed on unchanged"),
              place(
                  "time.default",
                  Simple.SPAN,
                  "kinds slurm, kubernetes: the time limit of a job without --for; none: the limit"
                      + " of the partition, and no limit on Kubernetes"),
              place("time.max", Simple.SPAN, "kinds slurm, kubernetes: the longest --for"),
              place(
                  "gpus.style",
                  STYLES,
                  "kind slurm: whether --gres or --gpus-per-node asks for GPUs; every Slurm knows"
                      + " gres"),
              place(
                  "gpus.names",
                  Simple.VARIABLES,
                  "kinds slurm, kubernetes: the site's name for a GPU model, such as {A100:"
                      + " a100_80gb}; on Kubernetes a value of a node's label, or LABEL=VALUE"),
              place(
                  "gpus.resource",
                  Simple.TEXT,
                  "kind kubernetes: the GPU resource to ask for, such as amd.com/gpu; none: the one"
                      + " that the nodes have"),
              place(
                  "cpus",
                  new Whole(1, 4096),
                  "kinds slurm, kubernetes: CPUs per node; none: in proportion to the GPUs"),
              place(
                  "memory",
                  Simple.TEXT,
                  "kinds slurm, kubernetes: memory per node; none: in proportion to the GPUs"),
              place(
                  "image",
                  Simple.TEXT,
                  "the container image that everything runs in; kind kubernetes: required; kind"
                      + " slurm: needs pyxis"),
              place(
                  "python-image",
                  Simple.TEXT,
                  "kind kubernetes: an image that has Python, such as python:3.13-slim, for pods"
                      + " whose own image has none"),
              place(
                  "context",
                  Simple.TEXT,
                  "kind kubernetes: a context of the kubeconfig file; none: the current one"),
              place(
                  "kubeconfig",
                  Simple.ABSOLUTE_PATH,
                  "kind kubernetes: the kubeconfig file; none: $KUBECONFIG, ~/.kube/config, or the"
                      + " service account of the pod that gpush runs in"),
              place(
                  "namespace",
                  Simple.TEXT,
                  "kind kubernetes: the namespace; none: the one of the context"),
              place(
                  "queue",
                  Simple.TEXT,
                  "kind kubernetes: the queue of the gang scheduler, such as a LocalQueue of"
                      + " Kueue"),
              place(
                  "topology",
                  Simple.TEXTS,
                  "kind kubernetes: node labels that give a node's place in the network, the widest"
                      + " first, so that a gang's nodes are close together; none: the labels of"
                      + " GKE, EKS and CoreWeave, and zones"),
              place(
                  "gang",
                  GANGS,
                  "kind kubernetes: what places all pods of a gang together; auto: a gang scheduler"
                      + " that the cluster has, else gpush itself (plain)"),
              place(
                  "assembly",
                  Simple.SPAN,
                  "kind kubernetes: how long a gang may be incomplete before its pods are deleted;"
                      + " none: 2m"),
              place(
                  "remember",
                  Simple.SPAN,
                  "kind kubernetes: how long an ended job is kept, so that its result can be read;"
                      + " none: 10m"),
              place(
                  "grows",
                  Simple.YES_NO,
                  "kind kubernetes: the cluster adds nodes when pods wait, so a gang may ask for"
                      + " more than the nodes there are"),
              place(
                  "fabric",
                  FABRICS,
                  "kind kubernetes: whether gangs of several nodes ask for the network devices of"
                      + " the nodes, such as rdma/ib; none: auto"),
              place(
                  "shm",
                  Simple.TEXT,
                  "kind kubernetes: the size of /dev/shm; none: the size of the memory"),
              place(
                  "pod.labels", Simple.VARIABLES, "kind kubernetes: labels of the job and its pods"),
              place(
                  "pod.annotations",
                  Simple.VARIABLES,
                  "kind kubernetes: annotations of the job and its pods"),
              place(
                  "pod.patch",
                  Simple.FILE_PATH,
                  "kind kubernetes: a YAML file that is merged into the pods: volumes, tolerations,"
                      + " secrets, service account …"),
              place(
                  "mounts",
                  Simple.TEXTS,
                  "kind slurm: folders of the node that are mounted into the container, such as"
                      + " /data:/data:ro"),
              new Key(
                  "recipes",
                  "",
                  Simple.RECIPE_TABLE,
                  Set.of(SITE),
                  NONE,
                  FULL,
                  "what a provider's network needs: laid over the built-in recipes by name; off"
                      + " switches one off"),
              refused(Set.of(SITE), "locked", "settings that a site locks"),
              refused(Set.of(SITE), "limits", "limits that a site sets"))
          .toList();

  private static final List<Key> KEYS =
      Stream.of(PROJECT_AND_OWNER, GatewayKeys.ALL, BACKENDS)
          .flatMap(List::stream)
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

  /** A key of projects that users and sites may give a default for. */
  private static Key setting(String path, ValueType type, Json builtIn, String says) {
    return new Key(path, path, type, Set.of(PROJECT, PERSON, SITE), builtIn, FULL, says);
  }

  private static Key project(String path, ValueType type, String says) {
    return new Key(path, path, type, PROJECTS, NONE, FULL, says);
  }

  /** A key of a backend, without a value of its own. */
  private static Key place(String name, ValueType type, String says) {
    return place(name, type, NONE, says);
  }

  private static Key place(String name, ValueType type, Json builtIn, String says) {
    return new Key("backends.*." + name, "", type, PEOPLE, builtIn, FULL, says);
  }

  /** A key of projects that is accepted and has no effect, which is reported. */
  private static Key unsupported(String path, ValueType type, String effect) {
    return new Key(path, "", type, PROJECTS, NONE, new Support.Unsupported(effect), "");
  }

  private static Key refused(Set<Place> places, String path, String feature) {
    return new Key(path, "", Simple.TEXT, places, NONE, new Support.Refused(feature), "");
  }

  /** The same key is under {@code defaults:} in the files of users and sites. */
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
