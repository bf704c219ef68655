package dev.gpush.backends.hosts.rack;

import dev.gpush.backends.hosts.rack.Survey.Slot;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.text.Phrase;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Which hosts and slots a gang gets. Pure. Hosts that are in use already come first, so that whole
 * ones stay whole for who needs them; among equals the inventory's order decides, in which they are
 * also taken.
 */
public record HostChoice(String backend, Rack.Shape shape, int nodes, GpuRequest gpus) {
  /**
   * A node that could be: these slots of this host.
   *
   * @param slots none where a node holds nothing
   */
  public record Seat(Survey survey, List<Slot> slots) {
    public Seat {
      slots = List.copyOf(slots);
    }

    public boolean hasGpus() {
      return slots.stream().anyMatch(Slot::isGpu);
    }
  }

  /**
   * Seats for so many more nodes; empty when too few are free.
   *
   * @param taken names of hosts that have a node of this gang
   */
  public Optional<List<Seat>> seats(List<Survey> surveys, int missing, Set<String> taken) {
    List<Survey> free =
        surveys.stream()
            .filter(survey -> isShared() || !taken.contains(survey.host().name()))
            .filter(survey -> room(survey.free(gpus)) > 0)
            .sorted(Comparator.comparingInt(survey -> survey.free(gpus).size()))
            .toList();
    var chosen = new ArrayList<Survey>();
    int seats = 0;
    for (Survey survey : free) {
      if (seats < missing) {
        chosen.add(survey);
        seats += room(survey.free(gpus));
      }
    }
    if (seats < missing) {
      return Optional.empty();
    }
    chosen.sort(Comparator.comparing(survey -> survey.host().name()));
    return Optional.of(chosen.stream().flatMap(this::seatsOn).limit(missing).toList());
  }

  private Stream<Seat> seatsOn(Survey survey) {
    List<Slot> free = survey.free(gpus);
    int each = holdsNothing() ? 0 : needed();
    return IntStream.range(0, room(free))
        .mapToObj(seat -> new Seat(survey, free.subList(seat * each, (seat + 1) * each)));
  }

  /** How many nodes of this gang these slots of one host make. */
  private int room(List<Slot> slots) {
    return switch (shape) {
      case Rack.Shape.HostPerNode _ -> Math.min(1, slots.size() / needed());
      case Rack.Shape.OneMachine _ -> holdsNothing() ? nodes : slots.size() / needed();
    };
  }

  private boolean isShared() {
    return shape instanceof Rack.Shape.OneMachine;
  }

  private boolean holdsNothing() {
    return isShared() && gpus.isNone();
  }

  /** Slots that one node takes. */
  private int needed() {
    return gpus.isNone() ? 1 : gpus.count();
  }

  /** What the surveys say about the whole gang. */
  public Plan plan(Surveys.Result result) {
    int free = room(result, survey -> survey.free(gpus));
    int able = room(result, survey -> survey.fitting(gpus));
    return switch (shape) {
      case Rack.Shape.HostPerNode _ -> onHosts(result, free, able);
      case Rack.Shape.OneMachine _ -> onThisMachine(result, free, able);
    };
  }

  private int room(Surveys.Result result, Function<Survey, List<Slot>> slots) {
    return result.surveys().stream().mapToInt(survey -> room(slots.apply(survey))).sum();
  }

  private Plan onHosts(Surveys.Result result, int free, int able) {
    String found = free + " of " + Phrase.counted(able, "host") + " free";
    if (free >= nodes) {
      return new Plan.Now(found);
    }
    // A host that cannot be asked may have what is wanted.
    if (able + unknown(result) < nodes) {
      return neverOnHosts(result, able);
    }
    List<Survey> fit =
        result.surveys().stream().filter(survey -> room(survey.fitting(gpus)) > 0).toList();
    return new Plan.Later(found + withSilent(result), Optional.empty(), holders(fit));
  }

  private int unknown(Surveys.Result result) {
    long broken =
        gpus.isNone()
            ? 0
            : result.surveys().stream()
                .filter(survey -> !survey.problem().isEmpty())
                .filter(survey -> room(survey.fitting(gpus)) == 0)
                .count();
    return result.silent().size() + Math.toIntExact(broken);
  }

  private Plan.Never neverOnHosts(Surveys.Result result, int able) {
    String what = gpus.isNone() ? "" : " with " + gpus + " GPUs each";
    String reason =
        backend + " has " + Phrase.counted(able, "host") + what + ", " + nodes + " are asked for";
    var works = new ArrayList<String>();
    if (able > 0) {
      works.add("--nodes " + able + " --gpus " + (gpus.isNone() ? "0" : gpus.toString()));
    }
    if (!gpus.isNone()) {
      int most =
          result.surveys().stream()
              .map(survey -> survey.fitting(gpus).size())
              .sorted(Comparator.reverseOrder())
              .skip(Math.min(nodes, result.surveys().size()) - 1L)
              .findFirst()
              .orElse(0);
      if (most > 0 && most < gpus.count() && nodes <= result.surveys().size()) {
        works.add("--nodes " + nodes + " --gpus " + new GpuRequest(gpus.model(), most));
      }
      if (result.surveys().size() >= nodes) {
        works.add("--nodes " + nodes + " --gpus 0");
      }
    }
    if (works.isEmpty()) {
      works.add("--nodes " + Math.max(1, result.surveys().size()) + " --gpus 0");
    }
    return new Plan.Never(reason, works);
  }

  private Plan onThisMachine(Surveys.Result result, int free, int able) {
    if (gpus.isNone()) {
      return new Plan.Now(Phrase.counted(nodes, "CPU node"));
    }
    List<Slot> all =
        result.surveys().stream().flatMap(survey -> survey.fitting(gpus).stream()).toList();
    if (able < nodes) {
      return neverOnThisMachine(result, all.size());
    }
    if (free >= nodes) {
      return new Plan.Now(nodes * gpus.count() + " of " + Phrase.counted(all.size(), "GPU"));
    }
    long unheld = all.stream().filter(Slot::isFree).count();
    return new Plan.Later(
        unheld + " of " + Phrase.counted(all.size(), "GPU") + " free",
        Optional.empty(),
        holders(result.surveys()));
  }

  private Plan.Never neverOnThisMachine(Surveys.Result result, int has) {
    String model = gpus.model().map(wanted -> wanted + " ").orElse("");
    String found =
        has == 0
            ? "this machine has no " + model + "GPU"
            : "this machine has "
                + Phrase.counted(has, model + "GPU")
                + ", "
                + nodes * gpus.count()
                + " are asked for";
    var works = new ArrayList<String>();
    if (has >= gpus.count()) {
      works.add("--nodes " + has / gpus.count() + " --gpus " + gpus);
    } else if (has > 0) {
      works.add("--nodes 1 --gpus " + new GpuRequest(gpus.model(), has));
    }
    works.add("--nodes " + nodes + " --gpus 0");
    String problem =
        result.surveys().stream()
            .map(Survey::problem)
            .filter(text -> !text.isEmpty())
            .findFirst()
            .map(text -> " (" + text + ")")
            .orElse("");
    return new Plan.Never(found + problem, works);
  }

  /** "devbox of ann for 2h on h1 (8 GPUs)"; without the host where there is only this one. */
  private List<String> holders(List<Survey> surveys) {
    var holders = new ArrayList<String>();
    for (Survey survey : surveys) {
      var users = new TreeSet<String>();
      survey.fitting(gpus).stream()
          .filter(slot -> !slot.isFree())
          .forEach(slot -> users.add(slot.user()));
      String where = isShared() ? "" : " on " + survey.host().name();
      for (String user : users) {
        long count = survey.fitting(gpus).stream().filter(slot -> slot.user().equals(user)).count();
        String much = gpus.isNone() ? "" : " (" + Phrase.counted(count, "GPU") + ")";
        holders.add(user + where + much);
      }
    }
    return holders;
  }

  private static String withSilent(Surveys.Result result) {
    return result.silent().isEmpty()
        ? ""
        : "; no word of "
            + String.join(", ", result.silent().stream().map(each -> each.host().name()).toList());
  }
}
