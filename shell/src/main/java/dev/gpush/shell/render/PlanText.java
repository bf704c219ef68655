package dev.gpush.shell.render;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.shell.text.Clean;

/** A plan for NCCL as people read it: the network, the variables, then what is wrong. */
public final class PlanText {
  private static final String UNSET = "(unset)";

  private PlanText() {}

  /**
   * The lines.
   *
   * @param columns what the reader's window holds; the table is cut there. 0: no limit
   */
  public static String of(FabricPlan plan, int columns) {
    var text = new StringBuilder();
    line(text, plan.fabric());
    line(text, plan.gang());
    if (!plan.variables().isEmpty() || !plan.scripts().isEmpty()) {
      text.append('\n');
      Table table = new Table("VARIABLE", "VALUE", "NODES", "WHY", "FROM");
      for (PlannedScript script : plan.scripts()) {
        table.row(
            "source", script.path(), script.nodes().cell(plan.nodes()), script.reason(), script.source());
      }
      for (PlannedVariable variable : plan.variables()) {
        table.row(
            variable.name(),
            variable.value().orElse(UNSET),
            variable.nodes().cell(plan.nodes()),
            variable.reason(),
            variable.source());
      }
      table.lines(columns).forEach(row -> text.append(row).append('\n'));
    }
    for (FabricFinding finding : plan.findings()) {
      text.append('\n');
      line(text, finding.severity().word() + ": " + finding.what());
      line(text, "  cost: " + finding.cost());
      if (!finding.remedy().isEmpty()) {
        line(text, "  try:  " + finding.remedy());
      }
    }
    return text.toString();
  }

  /** Texts of nodes are in it; the indent stays. */
  private static void line(StringBuilder text, String line) {
    String indent = line.startsWith("  ") ? "  " : "";
    text.append(indent).append(Clean.line(line)).append('\n');
  }
}
