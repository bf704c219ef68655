package dev.gpush.shell.command;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.gpush.core.json.Json;
import dev.gpush.core.setup.SetupProposal;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What gpush init shows, asks and writes, to the letter. */
final class InitTranscriptTest {
  private static final String SHOWN =
      """
      FOUND  KIND   WHAT             FROM             BACKEND
      local  local  8 CPUs, no GPUs  this machine     local
      hpc    slurm  a Slurm login    ~/.ssh/config:1  hpc (new)
      2> of no use: web (no GPUs and no Slurm)

      NOT LOOKED AT  WHY                     TRY
      far            is reached through hop  gpush init far

      ~/.gpush/config.yaml, new:
          backends:
            hpc:
              kind: slurm
      """;

  private static final Path CONFIG = Path.of("/home/ann/.gpush/config.yaml");

  private final Desk desk = new Desk();

  @Test
  void whatIsAgreedToIsWritten() {
    desk.expect(
        "$ gpush init\n"
            + SHOWN
            + "?> Write ~/.gpush/config.yaml? [y/N] y\n2> wrote ~/.gpush/config.yaml\n2> next: gpush up --gpus 1, or gpush up without GPUs\n",
        "y");

    assertEquals(List.of(CONFIG), desk.written);
  }

  @Test
  void withoutATerminalItOnlyShows() {
    desk.expect("$ gpush init\n" + SHOWN + "2> nothing was written; gpush init --yes writes it\n");

    assertEquals(List.of(), desk.written);
  }

  @Test
  void yesAnswersTheQuestionAndNamesNarrowTheSearch() {
    desk.expect(
        "$ gpush init --yes hpc far\n"
            + SHOWN
            + "2> wrote ~/.gpush/config.yaml\n2> next: gpush up --gpus 1, or gpush up without GPUs\n");

    assertEquals(List.of(CONFIG), desk.written);
    assertEquals(List.of("hpc", "far"), desk.placesAsked);
  }

  @Test
  void withoutAnythingNewItSaysSo() {
    desk.proposal = new SetupProposal(desk.proposal.found(), List.of(), List.of(), List.of(), "");

    desk.expect(
        """
        $ gpush init --yes
        FOUND  KIND   WHAT             FROM             BACKEND
        local  local  8 CPUs, no GPUs  this machine     local
        hpc    slurm  a Slurm login    ~/.ssh/config:1  hpc (new)
        2> nothing new to write
        2> next: gpush up --gpus 1, or gpush up without GPUs
        """);
  }

  @Test
  void whatCannotBeAddedSafelyIsShownForPasting() {
    desk.proposal =
        new SetupProposal(
            desk.proposal.found(), List.of(), List.of(), List.of(), "  hpc:\n    kind: slurm\n");

    desk.expect(
        """
        $ gpush init --yes
        FOUND  KIND   WHAT             FROM             BACKEND
        local  local  8 CPUs, no GPUs  this machine     local
        hpc    slurm  a Slurm login    ~/.ssh/config:1  hpc (new)

        Your config.yaml cannot be added to safely. Write its backends: as lines, one block each, then add:
              hpc:
                kind: slurm
        2> nothing was written
        ? 1
        """);
  }

  @Test
  void jsonWritesOnlyWithYes() {
    assertEquals(false, Json.parse(printed("gpush init --json")).flag("written"));
    assertEquals(List.of(), desk.written);

    assertEquals(true, Json.parse(printed("gpush init --json --yes")).flag("written"));
    assertEquals(List.of(CONFIG), desk.written);
  }

  private String printed(String line) {
    FakeInvocation client = desk.client(line);
    assertEquals(0, desk.call(client), client.errText());
    return client.outText();
  }
}
