package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.remote.GpuName;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.task.DurationText;
import dev.gpush.core.text.CleanText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What one host has at one moment. Other people's agents and processes have a say in it, so every
 * text in it is short and clean.
 *
 * @param problem why its GPUs cannot be told; empty when all is well
 */
public record Survey(
    Host host,
    String hostName,
    String address,
    int cpus,
    String base,
    List<Slot> slots,
    String problem) {
  /** A host with more is noise. */
  private static final int MOST_GPUS = 64;

  /** As many as the configuration allows. */
  private static final int MOST_CPU_NODES = 256;

  private static final int MOST_TEXT = 80;

  /**
   * What a node can be made of: a GPU, or a host's room for one node without.
   *
   * @param index what CUDA_VISIBLE_DEVICES takes; empty for room without GPU
   * @param lock the name of its lock file
   * @param gang of whoever holds it; empty when nobody of ours does
   * @param user who has it, in words; empty when it is free
   */
  public record Slot(String index, String lock, String model, String gang, String user) {
    public boolean isGpu() {
      return !index.isEmpty();
    }

    public boolean isFree() {
      return user.isEmpty();
    }

    boolean fits(GpuRequest wanted) {
      if (wanted.isNone()) {
        return !isGpu();
      }
      String name = wanted.model().orElse("").toLowerCase(Locale.ROOT);
      return isGpu() && model.toLowerCase(Locale.ROOT).contains(name);
    }
  }

  public Survey {
    slots = List.copyOf(slots);
  }

  public List<Slot> fitting(GpuRequest wanted) {
    return slots.stream().filter(slot -> slot.fits(wanted)).toList();
  }

  public List<Slot> free(GpuRequest wanted) {
    return fitting(wanted).stream().filter(Slot::isFree).toList();
  }

  /** Of this machine, for nodes that hold nothing: no question is needed. */
  static Survey of(Host host, Host.Known known) {
    return new Survey(
        host, host.name(), known.address(), known.cpus(), known.folder(), List.of(), "");
  }

  static Survey of(Host host, Json said) {
    var slots = new ArrayList<Slot>();
    for (Json gpu : said.items("gpus").stream().limit(MOST_GPUS).toList()) {
      String index = gpu.text("index").orElse("");
      String uuid = gpu.text("uuid").orElse("");
      if (index.matches("[0-9]{1,3}") && uuid.matches("[A-Za-z0-9_-][A-Za-z0-9._-]{0,79}")) {
        String model = GpuName.ofDriver(gpu.text("name").orElse(""));
        slots.add(slot(index, "gpu-" + uuid, model, said, foreign(host, said, uuid)));
      }
    }
    if (slots.isEmpty() && host.gpus().isPresent()) {
      GpuRequest given = host.gpus().get();
      for (int gpu = 0; gpu < Math.min(given.count(), MOST_GPUS); gpu++) {
        String model = given.model().orElse("GPU");
        slots.add(slot(Integer.toString(gpu), "gpu-" + gpu, model, said, Optional.empty()));
      }
    }
    int rooms = Math.min(said.integer("cpu_nodes").orElse(1), MOST_CPU_NODES);
    for (int room = 0; room < rooms; room++) {
      slots.add(slot("", "cpu-" + room, "", said, Optional.empty()));
    }
    String problem = clean(said.text("problem").orElse(""));
    if (host.known().isPresent()) {
      Survey known = of(host, host.known().get());
      return new Survey(
          host, known.hostName, known.address, known.cpus, known.base, slots, problem);
    }
    return new Survey(
        host,
        clean(said.text("host").orElse(host.name())),
        host.address().orElse(clean(said.text("address").orElse(""))),
        Math.max(1, said.integer("cpus").orElse(1)),
        said.text("base").orElse(""),
        slots,
        problem);
  }

  private static Slot slot(
      String index, String lock, String model, Json said, Optional<String> foreign) {
    Optional<Json> held = said.object("held").get(lock);
    if (held.isPresent()) {
      Json label = held.get().object("label");
      String gang = clean(label.text("gang").orElse(""));
      return new Slot(index, lock, model, gang, holder(held.get()));
    }
    return new Slot(index, lock, model, "", foreign.orElse(""));
  }

  /** {@code devbox of ann for 2h}. */
  private static String holder(Json held) {
    Json label = held.object("label");
    String name = clean(label.text("name").orElse(""));
    String owner = clean(label.text("owner").orElse(""));
    String since =
        held.number("age")
            .map(seconds -> " for " + DurationText.of(Duration.ofSeconds(seconds)))
            .orElse("");
    String who = name.isEmpty() ? "somebody" : name + (owner.isEmpty() ? "" : " of " + owner);
    return who + since;
  }

  /**
   * A process on a GPU that no gang holds. On this machine only other users' count: users see what
   * they run here themselves, and may want a node beside a notebook or a desktop.
   */
  private static Optional<String> foreign(Host host, Json said, String uuid) {
    boolean isHere = host.known().isPresent();
    return said.items("apps").stream()
        .filter(app -> app.text("uuid").orElse("").equals(uuid))
        .filter(app -> !isHere || isOthers(app))
        .findFirst()
        .map(
            app -> {
              String user = clean(app.text("user").orElse(""));
              String program = clean(app.text("name").orElse("")).replaceFirst("^.*/", "");
              return (program.isEmpty() ? "a process" : program)
                  + " (process "
                  + app.number("pid").orElse(0L)
                  + (user.isEmpty() ? "" : " of " + user)
                  + "), without gpush";
            });
  }

  /** Whose a process is cannot be told for one of another container. */
  private static boolean isOthers(Json app) {
    return !app.flag("own") && !app.text("user").orElse("").isEmpty();
  }

  private static String clean(String text) {
    return CleanText.line(text, MOST_TEXT);
  }

  /** "8 × H100", "1 × A100, 1 × T4", "no GPUs". */
  public static String counted(List<Slot> slots) {
    var counts = new TreeMap<String, Integer>();
    slots.stream().filter(Slot::isGpu).forEach(gpu -> counts.merge(gpu.model(), 1, Integer::sum));
    var words = new ArrayList<String>();
    counts.forEach((model, count) -> words.add(count + " × " + model));
    return words.isEmpty() ? "no GPUs" : String.join(", ", words);
  }
}
