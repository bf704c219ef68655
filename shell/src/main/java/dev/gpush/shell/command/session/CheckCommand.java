package dev.gpush.shell.command.session;

import dev.gpush.core.config.Setting;
import dev.gpush.core.fabric.CheckLevel;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.FabricPlans.UserVariable;
import dev.gpush.core.failure.ExitStatus;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.talk.Talk;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.CheckText;
import dev.gpush.shell.render.PlanText;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "check",
    header = "Check the nodes and how their ranks reach each other",
    description = {
      "Level 0 compares what the nodes say of themselves. Level 1, the default, also starts CUDA"
          + " on each GPU, and connects every node with every other on the interface that the plan"
          + " chose. Level 2 also runs a collective through your torch"
          + " and names a node that is slow; it uses all nodes for a minute at most. Exit status 1"
          + " when something failed.",
      "With --plan instead: every NCCL variable that ranks get or keep, with its value, reason and"
          + " source. The nodes are those of the session, asked now. With --facts they are those of"
          + " a file, so that a plan can be read before there are nodes: a JSON list with the facts"
          + " of each node.",
    },
    footer = {
      "$ gpush check --plan --facts gang.json",
      "TCP over eth0 (100G)",
      "2 nodes, 8 × NVIDIA H100 80GB HBM3 each",
      "",
      "VARIABLE            VALUE    NODES",
      "GLOO_SOCKET_IFNAME  eth0     all",
      "    eth0 reaches all nodes; gloo would go by the host's name (node facts)",
      "NCCL_IB_HCA         (unset)  all",
      "    no RDMA device that NCCL can use (NCCL)",
      "NCCL_SOCKET_IFNAME  (unset)  all",
      "    NCCL chooses eth0 itself (NCCL)"
    })
public final class CheckCommand implements Action {
  private static final String ENV = "--env";
  private static final int MOST = CheckLevel.COLLECTIVE.number();

  /** It takes seconds and disturbs no run; the next level loads network and GPUs. */
  private static final int USUAL = CheckLevel.CONNECTIONS.number();

  @Option(names = "--plan", description = "show the plan for NCCL, change nothing")
  boolean plan;

  @Option(
      names = "--facts",
      paramLabel = "FILE",
      description = "of these nodes, not of the session's: a JSON list of node facts")
  Optional<String> facts = Optional.empty();

  @Option(
      names = ENV,
      paramLabel = "NAME=VALUE",
      description = "as if run got this variable; may be given several times")
  List<String> env = List.of();

  @Option(names = "--level", paramLabel = "N", description = "0, 1 or 2; default 1")
  Optional<String> level = Optional.empty();

  @Override
  public int run(Call call) throws InterruptedException {
    if (!plan) {
      return check(call);
    }
    if (level.isPresent()) {
      throw Values.bad("check", "--plan and --level cannot be used together");
    }
    FabricPlan made = facts.isPresent() ? imagined(call, facts.get()) : present(call);
    if (call.common().json) {
      call.print(made.json());
    } else {
      call.print(PlanText.of(made, call.console().look().columns()));
    }
    return (made.refusals().isEmpty() ? ExitStatus.DONE : ExitStatus.FAILED).number();
  }

  private int check(Call call) throws InterruptedException {
    if (facts.isPresent()) {
      throw Values.bad("check", "--facts needs --plan: nodes of a file cannot be connected");
    }
    CheckLevel asked =
        CheckLevel.of(level.map(text -> Values.number("--level", text, 0, MOST)).orElse(USUAL));
    CheckReport report =
        call.services()
            .runs()
            .check(call.session().name(), call.noCommand(), options(), asked, call.talk());
    if (call.common().json) {
      call.print(report.json());
    } else {
      call.print(CheckText.of(report, call.commands()));
    }
    return (report.isPassed() ? ExitStatus.DONE : ExitStatus.FAILED).number();
  }

  /** Of the nodes of the session, as they are now. */
  private FabricPlan present(Call call) throws InterruptedException {
    SessionName session = call.session().name();
    try (Talk.Step _ = call.talk().step("asking the nodes for their network")) {
      return call.services().runs().plan(session, call.noCommand(), options(), call.talk());
    }
  }

  private FabricPlan imagined(Call call, String file) {
    Json gang = FactsFile.read(call.folder(), file);
    var variables = new ArrayList<UserVariable>();
    for (Setting setting : call.services().configs().load(call.folder()).settings()) {
      if (setting.key().equals("env")) {
        setting
            .value()
            .textMap()
            .forEach(
                (name, value) -> variables.add(new UserVariable(name, value, setting.origin())));
      }
    }
    variables.addAll(options());
    return call.services().plans().plan(gang, variables);
  }

  private List<UserVariable> options() {
    var variables = new ArrayList<UserVariable>();
    for (String each : env) {
      int at = each.indexOf('=');
      if (at < 1) {
        throw Values.bad("check", ENV + " takes NAME=VALUE, not '" + each + "'");
      }
      variables.add(new UserVariable(each.substring(0, at), each.substring(at + 1), ENV));
    }
    return variables;
  }
}
