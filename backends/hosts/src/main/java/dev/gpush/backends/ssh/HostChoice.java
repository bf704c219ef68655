package dev.gpush.backends.ssh;

import dev.gpush.backends.ssh.Survey.Slot;
import dev.gpush.backends.ssh.Surveys.Silent;
import dev.gpush.core.backend.Plan;
import dev.gpush.core.gang.GpuRequest;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Which hosts and slots a gang gets: each node a host of its own. Pure. Hosts that are in use
 * already come first, so that whole ones stay whole for who needs them; among equals the
 * inventory's order decides, in which they are also taken.
 */
record HostChoice(String backend, int nodes, GpuRequest gpus) {
  /** A node that could be: these slots of this host. */
  record Seat(Survey survey, List<Slot> slots) {
    Seat {
      slots = List.copyOf(slots);
    }
  }

  /**
   * Hosts for so many more nodes, none of them taken yet; empty when too few are free.
   *
   * @param taken names of hosts that have a node of this gang
   */
  Optional<List<Seat>> seats(List<Survey> surveys, int missing, Set<String> taken) {
    int needed = Survey.needed(gpus);
    List<Survey> free =
        surveys.stream()
            .filter(survey -> !taken.contains(survey.host().name()))
            .filter(survey -> survey.free(gpus).size() >= needed)
            .sorted(Comparator.comparingInt(survey -> survey.free(gpus).size()))
            .toList();
    if (free.size() < missing) {
      return Optional.empty();
    }
    return Optional.of(
        free.subList(0, missing).stream()
            .sorted(Comparator.comparing((Survey survey) -> survey.host().name()))
            .map(survey -> new Seat(survey, survey.free(gpus).subList(0, needed)))
            .toList());
  }

  Plan plan(Surveys.Result result) {
    int needed = Survey.needed(gpus);
    List<Survey> able =
        result.surveys().stream().filter(survey -> survey.fitting(gpus).size() >= needed).toList();
    long free = able.stream().filter(survey -> survey.free(gpus).size() >= needed).count();
    if (free >= nodes) {
      return new Plan.Now(free + " of " + count(able.size(), "host") + " free");
    }
    // A host that cannot be asked may have what is wanted.
    if (able.size() + unknown(result) < nodes) {
      return never(result, able.size());
    }
    String reason =
        free + " of " + count(able.size(), "host") + " free" + withSilent(result.silent());
    return new Plan.Later(reason, Optional.empty(), holders(able));
  }

  private int unknown(Surveys.Result result) {
    long broken =
        gpus.isNone()
            ? 0
            : result.surveys().stream()
                .filter(survey -> !survey.problem().isEmpty())
                .filter(survey -> survey.fitting(gpus).size() < Survey.needed(gpus))
                .count();
    return result.silent().size() + Math.toIntExact(broken);
  }

  private Plan.Never never(Surveys.Result result, int able) {
    String what = gpus.isNone() ? "" : " with " + gpus + " GPUs each";
    String reason =
        backend + " has " + count(able, "host") + what + ", " + nodes + " are asked for";
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

  /** "h1: devbox of ann for 2h (8 GPUs)". */
  List<String> holders(List<Survey> surveys) {
    var holders = new ArrayList<String>();
    for (Survey survey : surveys) {
      var users = new TreeSet<String>();
      survey.fitting(gpus).stream()
          .filter(slot -> !slot.isFree())
          .forEach(slot -> users.add(slot.user()));
      for (String user : users) {
        long count = survey.fitting(gpus).stream().filter(slot -> slot.user().equals(user)).count();
        String much = gpus.isNone() ? "" : " (" + count(Math.toIntExact(count), "GPU") + ")";
        holders.add(user + " on " + survey.host().name() + much);
      }
    }
    return holders;
  }

  static String withSilent(List<Silent> silent) {
    return silent.isEmpty()
        ? ""
        : "; no word of "
            + String.join(", ", silent.stream().map(each -> each.host().name()).toList());
  }

  private static String count(int number, String what) {
    return number + " " + what + (number == 1 ? "" : "s");
  }
}
