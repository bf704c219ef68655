package dev.gpush.templates.schema;

import static dev.gpush.templates.schema.Place.PERSON;
import static dev.gpush.templates.schema.Place.PROJECT;
import static dev.gpush.templates.schema.Place.SITE;

import dev.gpush.core.config.DataPlace;
import dev.gpush.core.config.NodeFolder;
import dev.gpush.core.json.Json;
import dev.gpush.templates.schema.ValueType.AbsolutePath;
import dev.gpush.templates.schema.ValueType.BackendNames;
import dev.gpush.templates.schema.ValueType.Commits;
import dev.gpush.templates.schema.ValueType.FilePath;
import dev.gpush.templates.schema.ValueType.FolderOnNodes;
import dev.gpush.templates.schema.ValueType.Gpus;
import dev.gpush.templates.schema.ValueType.Hosts;
import dev.gpush.templates.schema.ValueType.Mounts;
import dev.gpush.templates.schema.ValueType.OneOf;
import dev.gpush.templates.schema.ValueType.PlaceOfData;
import dev.gpush.templates.schema.ValueType.Ports;
import dev.gpush.templates.schema.ValueType.Prices;
import dev.gpush.templates.schema.ValueType.RecipeTable;
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
              setting("gpus", new Gpus(), NONE, "GPUs per node, as in torchrun; none: CPU nodes"),
              setting("backends", new BackendNames(), NONE, "the backends to ask, in this order"),
              project(
                  "python",
                  new Text(),
                  "the Python of shells, kernels and runs: a path, a folder with bin/python, a name"
                      + " on the PATH, a version, or uv.lock: what uv sync makes of it on the"
                      + " nodes"),
              project("python.venv", new Text(), "the same, as the folder of a venv"),
              project(
                  "python.conda",
                  new Text(),
                  "the name or path of a conda environment that is activated"),
              project("python.modules", new Texts(), "modules that are loaded, in this order"),
              project(
                  "python.file",
                  new Text(),
                  "a file that bash reads on the nodes, in the workspace unless it begins with /"
                      + " or ~"),
              project(
                  "env",
                  new Variables(),
                  "environment variables of everything that runs on the nodes"),
              setting(
                  "lease.for",
                  new Span(),
                  NONE,
                  "how long the nodes are kept, whatever runs; none: no limit"),
              setting(
                  "lease.idle",
                  new Span(),
                  Json.of(3600),
                  "the nodes are given back after this time without activity (guide/idle.md); where"
                      + " it is not set, a gang that waited in a queue gets 3h or half of that"
                      + " time"),
              setting(
                  "lease.warn",
                  new Spans(),
                  Json.array(List.of(Json.of(1800), Json.of(900), Json.of(300))),
                  "how long before either limit terminals and prompts warn"),
              unsupported(
                  "lease.at-end",
                  new OneOf(List.of("requeue")),
                  "the session ends with its lease, and no successor is submitted"),
              setting(
                  "sync.ask-over",
                  new Size(),
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
                  new Size(),
                  Json.of(1_000_000),
                  "new files of the node where people edit that are larger stay there; gpush pull"
                      + " fetches them"),
              setting(
                  "git.history",
                  new Commits(),
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
                  new Warning(),
                  "a signal for the ranks at this time before the lease ends, and when the"
                      + " scheduler takes the nodes back; sent only to processes that handle it"),
              setting(
                  "run.grace",
                  new Span(),
                  Json.of(3),
                  "after a rank fails, the others get SIGTERM, and they are killed this long after"
                      + " the failure; longer for ranks that save a checkpoint on SIGTERM"),
              unsupported("run.resume", new Text(), "no run is resumed after a lease has ended"),
              project(
                  "inherits",
                  new TemplateName(),
                  "the template that gives the settings not made here"),
              refused(PROJECTS, "cpus", "choosing CPUs per node"),
              refused(PROJECTS, "memory", "choosing memory per node"),
              refused(PROJECTS, "shm", "choosing the size of /dev/shm"),
              project(
                  "image",
                  new Text(),
                  "the container image that everything runs in, on Kubernetes and on Slurm with"
                      + " pyxis; none: the image of the backend"),
              project(
                  "setup.run",
                  new Text(),
                  "a command for bash that runs once on each node, in the workspace, before the"
                      + " first run"),
              project(
                  "setup.when",
                  new Texts(),
                  "files of the workspace; when one has changed, setup runs again"),
              project(
                  "mounts",
                  new Mounts(),
                  "data that programs find by name: data: gives $GPUSH_DATA; folders of the nodes,"
                      + " or volumes (kind kubernetes), which are mounted"),
              project(
                  "home",
                  new PlaceOfData(DataPlace.Form.VOLUME),
                  "the home folder of pods, in a volume that outlives them (kind kubernetes); none:"
                      + " the image's, on the pod's disk"),
              unsupported("secrets", new Texts(), "no secret reaches the nodes"),
              project(
                  "ports",
                  new Ports(),
                  "ports of nodes that get a port of this machine, as gpush forward does"),
              refused(PROJECTS, "workspace", "code that is on the cluster already"),
              refused(PEOPLE, "defaults.notify", "notifications"),
              new Key(
                  "owner",
                  "owner",
                  new Text(),
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
                  new AbsolutePath(),
                  "kinds local, ssh: the folder of the GPU locks, shared by all users of the"
                      + " machine"),
              place(
                  "hosts",
                  new Hosts(),
                  "kind ssh: the machines, one by one or in ranges; required"),
              place(
                  "user",
                  new Text(),
                  "kind ssh: the login name, if ssh's own configuration has none"),
              place(
                  "scratch",
                  new FolderOnNodes(NodeFolder.Variables.ALL),
                  "kinds ssh, slurm: the folder for workspaces, such as /nvme/$USER; none: ~/gpush;"
                      + " kind slurm: the only variables are $USER and $HOME"),
              place(
                  "ssh-config",
                  new AbsolutePath(),
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
                  new Prices(),
                  "the price of one GPU for an hour, by model; of the backends that are free now,"
                      + " the cheapest is taken"),
              place(
                  "login",
                  new Text(),
                  "kind slurm: the login node, as a name for ssh; none: gpush itself runs on the"
                      + " login node"),
              place(
                  "cluster",
                  new Text(),
                  "kind slurm: one of the clusters of that login node (--clusters); each is its own"
                      + " backend"),
              place("account", new Text(), "kind slurm: --account"),
              place("qos", new Text(), "kind slurm: --qos"),
              place(
                  "partition", new Texts(), "kind slurm: --partition; none: the cluster's default"),
              place("constraint", new Text(), "kind slurm: --constraint"),
              place("reservation", new Text(), "kind slurm: --reservation"),
              place("exclude", new Text(), "kind slurm: --exclude"),
              place("nodelist", new Text(), "kind slurm: --nodelist"),
              place("switches", new Text(), "kind slurm: --switches"),
              place(
                  "sruns",
                  new Whole(1, 256),
                  Json.of(16),
                  "kind slurm: up to this many nodes, each node of a session has an srun on the"
                      + " login node; in a larger session only node 0 has one, and the others are"
                      + " reached through it"),
              place(
                  "exclusive", new YesNo(), "kind slurm: --exclusive: no other jobs on the nodes"),
              place(
                  "native",
                  new Texts(),
                  "kind slurm: more options for sbatch, passed on unchanged"),
              place(
                  "time.default",
                  new Span(),
                  "kinds slurm, kubernetes: the time limit of a job without --for; none: the limit"
                      + " of the partition, and no limit on Kubernetes"),
              place("time.max", new Span(), "kinds slurm, kubernetes: the longest --for"),
              place(
                  "gpus.style",
                  STYLES,
                  "kind slurm: whether --gres or --gpus-per-node asks for GPUs; every Slurm knows"
                      + " gres"),
              place(
                  "gpus.names",
                  new Variables(),
                  "kinds slurm, kubernetes: the site's name for a GPU model, such as {A100:"
                      + " a100_80gb}; on Kubernetes a value of a node's label, or LABEL=VALUE"),
              place(
                  "gpus.resource",
                  new Text(),
                  "kind kubernetes: the GPU resource to ask for, such as amd.com/gpu; none: the one"
                      + " that the nodes have"),
              place(
                  "cpus",
                  new Whole(1, 4096),
                  "kinds slurm, kubernetes: CPUs per node; none: in proportion to the GPUs"),
              place(
                  "memory",
                  new Text(),
                  "kinds slurm, kubernetes: memory per node; none: in proportion to the GPUs"),
              place(
                  "image",
                  new Text(),
                  "the container image that everything runs in; kind kubernetes: required; kind"
                      + " slurm: needs pyxis"),
              place(
                  "python-image",
                  new Text(),
                  "kind kubernetes: an image that has Python, such as python:3.13-slim, for pods"
                      + " whose own image has none"),
              place(
                  "context",
                  new Text(),
                  "kind kubernetes: a context of the kubeconfig file; none: the current one"),
              place(
                  "kubeconfig",
                  new AbsolutePath(),
                  "kind kubernetes: the kubeconfig file; none: $KUBECONFIG, ~/.kube/config, or the"
                      + " service account of the pod that gpush runs in"),
              place(
                  "namespace",
                  new Text(),
                  "kind kubernetes: the namespace; none: the one of the context"),
              place(
                  "queue",
                  new Text(),
                  "kind kubernetes: the queue of the gang scheduler, such as a LocalQueue of"
                      + " Kueue"),
              place(
                  "topology",
                  new Texts(),
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
                  new Span(),
                  "kind kubernetes: how long a gang may be incomplete before its pods are deleted;"
                      + " none: 2m"),
              place(
                  "remember",
                  new Span(),
                  "kind kubernetes: how long an ended job is kept, so that its result can be read;"
                      + " none: 10m"),
              place(
                  "grows",
                  new YesNo(),
                  "kind kubernetes: the cluster adds nodes when pods wait, so a gang may ask for"
                      + " more than the nodes there are"),
              place(
                  "fabric",
                  FABRICS,
                  "kind kubernetes: whether gangs of several nodes ask for the network devices of"
                      + " the nodes, such as rdma/ib; none: auto"),
              place(
                  "shm",
                  new Text(),
                  "kind kubernetes: the size of /dev/shm; none: the size of the memory"),
              place(
                  "pod.labels", new Variables(), "kind kubernetes: labels of the job and its pods"),
              place(
                  "pod.annotations",
                  new Variables(),
                  "kind kubernetes: annotations of the job and its pods"),
              place(
                  "pod.patch",
                  new FilePath(),
                  "kind kubernetes: a YAML file that is merged into the pods: volumes, tolerations,"
                      + " secrets, service account …"),
              place(
                  "mounts",
                  new Texts(),
                  "kind slurm: folders of the node that are mounted into the container, such as"
                      + " /data:/data:ro"),
              new Key(
                  "recipes",
                  "",
                  new RecipeTable(),
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
    return new Key(path, "", new Text(), places, NONE, new Support.Refused(feature), "");
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
