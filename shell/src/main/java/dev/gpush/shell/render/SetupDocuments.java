package dev.gpush.shell.render;

import dev.gpush.core.json.Json;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.setup.SetupProposal;
import dev.gpush.core.setup.SetupProposal.Change;

/** What {@code gpush init --json} prints; promised as in {@link Documents}. */
public final class SetupDocuments {
  private SetupDocuments() {}

  public static Json.Obj proposal(SetupProposal proposal, boolean isWritten) {
    return Json.object(
        "found", proposal.found().stream().map(SetupDocuments::found).toList(),
        "unusable", proposal.unusable().stream().map(SetupDocuments::unusable).toList(),
        "unasked", proposal.unasked().stream().map(SetupDocuments::unasked).toList(),
        "changes", proposal.changes().stream().map(SetupDocuments::change).toList(),
        "paste", proposal.paste(),
        "written", isWritten);
  }

  private static Json.Obj found(SetupProposal.Found found) {
    return Json.object(
        "name", found.name(),
        "kind", found.kind(),
        "what", found.what(),
        "from", found.origin(),
        "backend", found.backend(),
        "new", found.isNew());
  }

  private static Json.Obj unusable(PlaceFinding.Unusable place) {
    return Json.object("name", place.name(), "from", place.origin(), "why", place.why());
  }

  private static Json.Obj unasked(PlaceFinding.Unasked place) {
    return Json.object(
        "name", place.name(), "from", place.origin(), "why", place.why(), "try", place.remedy());
  }

  private static Json.Obj change(Change change) {
    return Json.object(
        "file", change.file().toString(),
        "new", change.before().isEmpty(),
        "text", change.added());
  }
}
