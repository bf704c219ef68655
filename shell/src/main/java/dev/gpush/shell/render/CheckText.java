package dev.gpush.shell.render;

import dev.gpush.core.fabric.BusRate;
import dev.gpush.core.fabric.CheckReport;
import dev.gpush.core.fabric.CheckStep;
import dev.gpush.core.fabric.FabricFinding;
import dev.gpush.core.fabric.FabricFinding.Severity;
import dev.gpush.core.text.Clean;
import dev.gpush.core.text.SessionCommands;
import java.util.List;
import java.util.Locale;

/** A report of a check as people read it: what was looked at, the nodes, then what is wrong. */
public final class CheckText {
  private static final long MEBI = 1 << 20;
  private static final int BITS_PER_BYTE = 8;

  private CheckText() {}

  public static String of(CheckReport report, SessionCommands commands) {
    var text = new StringBuilder();
    line(text, "", report.gang());
    for (CheckStep step : report.steps()) {
      line(text, "", step.outcome().word() + ": " + step.name() + ", " + step.detail());
    }
    rates(text, report);
    text.append('\n');
    Table table = new Table("NODE", "HOST", "VERDICT");
    for (int node = 0; node < report.hosts().size(); node++) {
      table.row("" + node, report.hosts().get(node), report.verdict(node).word());
    }
    table.lines(0).forEach(row -> text.append(row).append('\n'));
    for (FabricFinding finding : report.findings()) {
      text.append('\n');
      line(text, "", word(finding.severity()) + ": " + finding.what());
      line(text, "  ", "cost: " + finding.cost());
      if (!finding.remedy().isEmpty()) {
        line(text, "  ", "try:  " + finding.remedy());
      }
    }
    report
        .rest()
        .ifPresent(
            rest ->
                text.append("\nwithout what failed: ")
                    .append(commands.of("run --on " + rest.cell(report.hosts().size()) + " SCRIPT"))
                    .append("\n"));
    return text.toString();
  }

  private static void rates(StringBuilder text, CheckReport report) {
    List<BusRate> rates = report.rates();
    if (rates.isEmpty()) {
      return;
    }
    text.append('\n');
    Table table = new Table("ALL_REDUCE", "BUS GB/S", "GBIT/S");
    for (BusRate rate : rates) {
      table.row(
          size(rate.bytes()),
          String.format(Locale.ROOT, "%.2f", rate.gbits() / BITS_PER_BYTE),
          String.format(Locale.ROOT, "%.1f", rate.gbits()));
    }
    table.lines(0).forEach(row -> text.append(row).append('\n'));
    report
        .expectedGbits()
        .ifPresent(
            expected ->
                text.append(
                    String.format(
                        Locale.ROOT, "the network of a node carries %.0f Gbit/s%n", expected)));
  }

  private static String size(long bytes) {
    return bytes >= MEBI ? bytes / MEBI + " MiB" : bytes / 1024 + " KiB";
  }

  private static String word(Severity severity) {
    return severity == Severity.REFUSED ? "failed" : severity.word();
  }

  private static void line(StringBuilder text, String indent, String line) {
    text.append(indent).append(Clean.line(line)).append('\n');
  }
}
