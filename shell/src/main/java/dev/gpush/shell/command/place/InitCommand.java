package dev.gpush.shell.command.place;

import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.UsageFailure;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupProposal;
import dev.gpush.core.setup.SetupProposal.Change;
import dev.gpush.core.setup.SetupQuestion;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.CleanText;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.render.SetupDocuments;
import dev.gpush.shell.render.Table;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
    name = "init",
    header = "Look for places with GPUs and configure them",
    description = {
      "Looks for at most five seconds, twenty with names: at hosts of your ssh configuration, contexts of your"
          + " kubeconfig, this machine, and hosts of SkyPilot and dstack. Shows what it found and"
          + " what it would write, config.yaml and, in a project, gpush.yaml, and asks; with --json"
          + " it writes only with --yes. Nothing is tried that might need you, such as a second"
          + " factor; name such a host or context to have it tried."
    },
    footer = {
      "$ gpush init --yes",
      "FOUND  KIND   WHAT                           FROM             BACKEND",
      "local  local  this machine: 8 CPUs, no GPUs  built in         local",
      "hpc    slurm  a Slurm login of hpc1          ~/.ssh/config:1  hpc (new)",
      "",
      "~/.gpush/config.yaml, new:",
      "    …",
      "wrote ~/.gpush/config.yaml",
      "next: gpush up --gpus 1, or gpush up without GPUs"
    })
public final class InitCommand implements Action {
  /** More are a screen of no use; --json has them all. */
  private static final int MOST_SHOWN = 12;

  private static final int MOST_REASON = 80;

  @Parameters(paramLabel = "HOST", arity = "0..*", description = "only these hosts, or contexts")
  List<String> names = new ArrayList<>();

  @Override
  public int run(Call call) throws InterruptedException {
    SetupProposal proposal = propose(call);
    if (call.common().json) {
      boolean isWritten = call.common().yes && !proposal.changes().isEmpty();
      if (isWritten) {
        proposal.changes().forEach(call.services().setup()::write);
      }
      call.print(SetupDocuments.proposal(proposal, isWritten));
      return status(call, proposal);
    }
    show(call, proposal);
    if (proposal.changes().isEmpty()) {
      call.say(proposal.paste().isEmpty() ? "nothing new to write" : "nothing was written");
      next(call, proposal);
    } else if (isAgreed(call, proposal)) {
      for (Change change : proposal.changes()) {
        call.services().setup().write(change);
        call.say("wrote " + call.shortened(change.file()));
      }
      next(call, proposal);
    }
    return status(call, proposal);
  }

  private static void next(Call call, SetupProposal proposal) {
    if (proposal.paste().isEmpty()) {
      boolean isOnlyHere =
          proposal.found().stream().allMatch(found -> found.kind().equals("local"));
      call.say("next: gpush up" + (isOnlyHere ? "" : " --gpus 1, or gpush up without GPUs"));
    }
  }

  /** A script that says --yes must notice that backends are missing. */
  private static int status(Call call, SetupProposal proposal) {
    return call.common().yes && !proposal.paste().isEmpty() ? ExitStatus.FAILED.number() : 0;
  }

  private SetupProposal propose(Call call) throws InterruptedException {
    String home = call.environment().getOrDefault("HOME", "/nonexistent");
    var question = new SetupQuestion(Path.of(home), call.folder(), call.environment(), names);
    try (Talk.Step _ = call.talk().step("looking for places with GPUs")) {
      return call.services().setup().propose(question);
    }
  }

  private static boolean isAgreed(Call call, SetupProposal proposal) {
    String files =
        proposal.changes().stream()
            .map(change -> call.shortened(change.file()))
            .collect(Collectors.joining(" and "));
    try {
      call.talk().confirm("Write " + files + "?", "--yes");
      return true;
    } catch (GpushException refused) {
      if (refused.failure() instanceof UsageFailure.NobodyToAsk) {
        call.say("nothing was written; gpush init --yes writes it");
        return false;
      }
      throw refused;
    }
  }

  private static void show(Call call, SetupProposal proposal) {
    Table found = new Table("FOUND", "KIND", "WHAT", "FROM", "BACKEND");
    proposal
        .found()
        .forEach(
            place ->
                found.row(
                    place.name(),
                    place.kind(),
                    place.what(),
                    place.origin(),
                    place.backend() + (place.isNew() ? " (new)" : "")));
    call.print(found);
    unusable(call, proposal.unusable());
    unasked(call, proposal.unasked());
    for (Change change : proposal.changes()) {
      String what = change.before().isEmpty() ? "new" : "added below backends";
      call.print("\n" + call.shortened(change.file()) + ", " + what + ":\n");
      call.print(indented(change.added()));
    }
    if (!proposal.paste().isEmpty()) {
      call.print(
          "\nYour config.yaml cannot be added to safely. Write its backends: as lines, one block each,"
              + " then add:\n");
      call.print(indented(proposal.paste()));
    }
  }

  private static String indented(String text) {
    return text.replaceAll("(?m)^(?=.)", "    ");
  }

  private static void unusable(Call call, List<PlaceFinding.Unusable> places) {
    if (!places.isEmpty()) {
      String shown =
          places.stream()
              .limit(MOST_SHOWN)
              .map(place -> place.name() + " (" + place.why() + ")")
              .collect(Collectors.joining(", "));
      int more = places.size() - MOST_SHOWN;
      call.say("of no use: " + shown + (more > 0 ? " and " + more + " more" : ""));
    }
  }

  private static void unasked(Call call, List<PlaceFinding.Unasked> places) {
    if (places.isEmpty()) {
      return;
    }
    Table table = new Table("NOT LOOKED AT", "WHY", "TRY");
    places.stream()
        .limit(MOST_SHOWN)
        .forEach(
            place ->
                table.row(place.name(), CleanText.line(place.why(), MOST_REASON), place.remedy()));
    // Not cut at the edge of the window: what to try is last.
    call.print("\n" + String.join("\n", table.lines(0)) + "\n");
    if (places.size() > MOST_SHOWN) {
      call.say((places.size() - MOST_SHOWN) + " more: gpush init --json");
    }
  }
}
