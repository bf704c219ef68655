package dev.gpush.shell.why;

import dev.gpush.core.sample.NodeStacks;
import dev.gpush.core.sample.RankStack.Problem;
import dev.gpush.core.text.SessionCommands;
import dev.gpush.core.text.ShellQuote;
import dev.gpush.shell.why.RunExplanation.Subject;
import java.util.ArrayList;
import java.util.List;

/** How to get the stacks that are missing. */
record StackAccess(List<NodeStacks> nodes, Subject subject, SessionCommands commands) {
  StackAccess {
    nodes = List.copyOf(nodes);
  }

  List<String> remedies() {
    var lines = new ArrayList<String>();
    if (has(Problem.Reason.MISSING)) {
      String python = subject.python().isEmpty() ? "python3" : ShellQuote.of(subject.python());
      lines.add(
          commands.of("exec --all -- " + python + " -m pip install py-spy")
              + ", then "
              + subject.again(commands)
              + " again: the ranks need not start again");
    }
    if (has(Problem.Reason.DENIED)) {
      lines.add(denied());
    }
    return lines;
  }

  private boolean has(Problem.Reason reason) {
    return nodes.stream().anyMatch(node -> has(node, reason));
  }

  private static boolean has(NodeStacks node, Problem.Reason reason) {
    return node.ranks().stream()
        .flatMap(rank -> rank.problem().stream())
        .anyMatch(problem -> problem.reason() == reason);
  }

  /** By what the first node without the right says of its kernel. */
  private String denied() {
    int scope =
        nodes.stream()
            .filter(node -> has(node, Problem.Reason.DENIED))
            .findFirst()
            .flatMap(NodeStacks::ptraceScope)
            .orElse(0);
    String container =
        "in a container it needs the capability SYS_PTRACE (Kubernetes:"
            + " securityContext.capabilities.add in the pod patch)";
    if (scope == 0) {
      return "stacks need the right to read another process: " + container;
    }
    return "stacks need the right to read another process (ptrace_scope is "
        + scope
        + "): as root on the nodes, sysctl kernel.yama.ptrace_scope=0, or setcap"
        + " cap_sys_ptrace+ep on the py-spy program; "
        + container;
  }
}
