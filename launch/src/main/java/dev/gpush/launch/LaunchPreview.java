package dev.gpush.launch;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.LaunchFailure;
import dev.gpush.core.json.Json;
import dev.gpush.core.run.RunRequest;
import dev.gpush.core.run.Runs.Preview.Launch;
import dev.gpush.core.run.Runs.Preview.Start;
import dev.gpush.core.talk.Talk;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.launch.node.LaunchSite;
import dev.gpush.launch.plan.LaunchMaker;
import dev.gpush.launch.plan.LaunchMaker.ModeAndPythons;
import dev.gpush.launch.plan.LaunchMaker.ResolvedRun;
import dev.gpush.launch.plan.LaunchPlan;
import dev.gpush.launch.plan.SlotPlan;
import dev.gpush.launch.run.RunRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The plan of a launch, in words. Its commands are read from the specs that nodes would get. */
record LaunchPreview(LaunchSite site, LaunchMaker maker, ResolvedRun run) {
  /** The port of the rendezvous is chosen when the ranks start. */
  private static final String PORT = "PORT";

  /** In its place; no word of a user is this number. */
  private static final int NO_PORT = Integer.MIN_VALUE;

  /**
   * The words.
   *
   * @param number that the run would have
   * @param busy node → slot → the run that claims it
   */
  Launch of(int number, Map<Integer, Map<String, Integer>> busy, Talk talk)
      throws InterruptedException {
    ModeAndPythons decided = maker.decide(run, talk);
    List<String> waits = List.of();
    SlotPlan slots;
    RunRequest.Claim claim = run.options().claim();
    try {
      slots = SlotPlan.of(site.infos(), claim, busy);
    } catch (GpushException full) {
      if (!run.isQueued()
          || !(full.failure() instanceof LaunchFailure.NoFreeSlots(_, var holders))) {
        throw full;
      }
      waits = holders;
      slots = SlotPlan.of(site.infos(), claim, Map.of());
    }
    LaunchPlan plan = maker.plan(run, decided, slots, talk);
    List<Json.Obj> specs = plan.specs(number, NO_PORT, 0, Json.object());
    List<RunRecord.Part> parts = plan.parts();
    var starts = new ArrayList<Start>();
    for (int i = 0; i < parts.size(); i++) {
      RunRecord.Part part = parts.get(i);
      starts.add(new Start(part.node(), part.slots(), part.ranks(), command(i, specs.get(i))));
    }
    String header = plan.header(number, 0, run.place().home());
    return new Launch(header, starts, waits, plan.fabric());
  }

  private String command(int index, Json spec) {
    if (run.parsed().startsFromNodeZero()) {
      return index == 0 ? line(run.words()) : "";
    }
    return switch (spec.text("mode").orElse("")) {
      case "torchrun" -> line(torchrun(spec));
      case "ranks" -> line(program(spec));
      default -> spec.text("command").map(Clean::masked).orElseGet(() -> line(spec.texts("argv")));
    };
  }

  private static String line(List<String> words) {
    return ShellQuote.join(Clean.masked(words)).replace("" + NO_PORT, PORT);
  }

  private static List<String> program(Json spec) {
    var words = new ArrayList<String>();
    words.add(spec.text("python").orElse("python3"));
    words.addAll(spec.texts("program"));
    return words;
  }

  private static List<String> torchrun(Json spec) {
    Json master = spec.object("master");
    var words =
        new ArrayList<>(
            List.of(
                "torchrun",
                "--nnodes",
                number(spec, "nodes"),
                "--node-rank",
                number(spec, "node_rank"),
                "--nproc-per-node",
                number(spec, "procs"),
                "--master-addr",
                master.text("addr").orElse(""),
                "--master-port",
                PORT));
    words.addAll(spec.texts("torchrun"));
    words.addAll(spec.texts("program"));
    return words;
  }

  private static String number(Json spec, String key) {
    return Long.toString(spec.number(key).orElse(0L));
  }
}
