package dev.gpush.architecture;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import dev.gpush.core.text.Worded;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The words of all enums that make them from their names: JSON, records and the ledger have them,
 * so that a constant with another name would be another word there.
 */
final class EnumWordsTest {
  private static final String WORDS =
      """
      Authority: user site recipe discovery nccl
      CheckReport.Verdict: ok warning failed
      CheckStep.Outcome: passed failed skipped
      Explanation.Code: queued starting needs-login refused degraded ending idle busy \
      failed done stopped unknown unreachable rank-gone rank-apart collectives-differ \
      same-place places-differ partly-seen no-stacks loader-bound behind stands-out \
      storage slow slow-network working
      FabricFinding.Severity: refused warning note
      HelpTopic: slurm kubernetes skypilot ide nccl agents
      LauncherCommand.Kind: accelerate deepspeed fabric
      LedgerEntry.IdleRule: chosen built-in after-queue
      PodGroupGang.Kind: native volcano coscheduling kai
      RankSpot.Kind: collective peer loader code
      RankStack.Problem.Reason: missing denied late failed
      Recipe.Kind: files product vendors environment gpus devices interfaces link
      RunDifference.Kind: code command python environment plan
      RunKind: program notebook
      RunReason.Loss: node supervisor start
      RunView.State: starting running stopping done failed stopped lost unknown
      SendReason.Kind: file folder link other missing
      SendReason.Verdict: sent tracked large tracked-only ignored never leads-out \
      no-regular-file behind-link below-file outside
      SessionState: asked queued granted ready degraded releasing released leaked
      SyncView.Incoming: none coming waiting
      SyncView.Mode: live paused off
      TopView.Sort: node util mem power temp
      Trace.Stage: plan queue reserve agents session workspace environment python network \
      slots ranks output
      """;

  @Test
  void constantsKeepTheirWords() {
    String found =
        new ClassFileImporter()
            .importPackages("dev.gpush").stream()
                .filter(type -> type.isEnum() && type.isAssignableTo(Worded.class))
                .map(EnumWordsTest::words)
                .sorted()
                .collect(Collectors.joining());

    assertEquals(WORDS, found);
  }

  private static String words(JavaClass type) {
    String name = type.getName().substring(type.getPackageName().length() + 1);
    return Stream.of(type.reflect().getEnumConstants())
        .map(each -> ((Worded) each).word())
        .collect(Collectors.joining(" ", name.replace('$', '.') + ": ", "\n"));
  }
}
