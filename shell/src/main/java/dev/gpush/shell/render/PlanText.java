package dev.gpush.shell.render;

import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricPlan;
import dev.gpush.core.fabric.PlannedScript;
import dev.gpush.core.fabric.PlannedVariable;
import dev.gpush.core.text.Clean;
import dev.gpush.shell.text.Width;
import java.util.ArrayList;
import java.util.List;

/** A plan for NCCL as people read it: the network, the variables, then what is wrong. */
public final class PlanText {
  private static final String UNSET = "(unset)";

  private PlanText() {}

  /**
   * The whole plan as lines.
   *
   * @param columns the width of the terminal: in a table that is wider, each reason is a line of
   *     its own. 0: no limit
   */
  public static String of(FabricPlan plan, int columns) {
    var text = new StringBuilder();
    if (!plan.fabric().isEmpty()) {
      line(text, plan.fabric());
    }
    line(text, plan.gang());
    List<List<String>> rows = rows(plan);
    if (!rows.isEmpty()) {
      text.append('\n');
      Table wide = new Table("VARIABLE", "VALUE", "NODES", "WHY", "FROM");
      rows.forEach(row -> wide.row(row.toArray(String[]::new)));
      boolean isTooWide =
          columns > 0 && wide.lines(0).stream().anyMatch(line -> Width.of(line) > columns);
      (isTooWide ? narrow(rows) : wide.lines(0)).forEach(line -> text.append(line).append('\n'));
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

  private static List<List<String>> rows(FabricPlan plan) {
    var rows = new ArrayList<List<String>>();
    for (PlannedScript script : plan.scripts()) {
      String nodes = script.nodes().cell(plan.nodes());
      rows.add(List.of("source", script.path(), nodes, script.reason(), script.source()));
    }
    for (PlannedVariable variable : plan.variables()) {
      rows.add(
          List.of(
              variable.name(),
              variable.value().orElse(UNSET),
              variable.nodes().cell(plan.nodes()),
              variable.reason(),
              variable.source()));
    }
    return rows;
  }

  private static List<String> narrow(List<List<String>> rows) {
    Table table = new Table("VARIABLE", "VALUE", "NODES");
    rows.forEach(row -> table.row(row.get(0), row.get(1), row.get(2)));
    List<String> heads = table.lines(0);
    var lines = new ArrayList<String>();
    lines.add(heads.getFirst());
    for (int i = 0; i < rows.size(); i++) {
      lines.add(heads.get(i + 1));
      lines.add("    " + Clean.line(rows.get(i).get(3) + " (" + rows.get(i).get(4) + ")"));
    }
    return lines;
  }

  /** Cleans what nodes may have written, and keeps the indent. */
  private static void line(StringBuilder text, String line) {
    String indent = line.startsWith("  ") ? "  " : "";
    text.append(indent).append(Clean.line(line)).append('\n');
  }
}
