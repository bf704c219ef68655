package dev.gpush.gateway.session.ledger;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.json.Json;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Trace;
import dev.gpush.gateway.session.LedgerEntries;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class LedgerTest {
  @TempDir private Path temporary;
  private Path folder;
  private Ledger ledger;
  private final LedgerEntries entries = new LedgerEntries(1);

  @BeforeEach
  void begin() {
    folder = temporary.resolve("ledger");
    ledger = new Ledger(folder);
  }

  @Test
  void whatWasPutIsLoadedAndOnlyThatLiesThere() throws IOException {
    LedgerEntry entry = entries.any(SessionState.ASKED);

    ledger.put(entry);
    ledger.put(entry.in(SessionState.READY, "now"));

    assertEquals(List.of(entry.in(SessionState.READY, "now")), ledger.load());
    assertEquals(List.of(entry.id() + ".json"), names());
  }

  /** Its agents refuse the lower term, so the next gateway would only watch. */
  @Test
  void anEntryOfALowerTermDoesNotReplaceThatOfTheGatewayThatTookTheGang() {
    LedgerEntry entry = entries.any(SessionState.READY);
    LedgerEntry taken = entry.keptBy(new Holder("ann@other"), entry.keeper().term() + 1);
    ledger.put(entry);
    ledger.put(taken);

    ledger.put(entry.in(SessionState.READY, "its environment was not finished"));

    assertEquals(List.of(taken), ledger.load());
    ledger.put(taken.in(SessionState.RELEASED, ""));
    assertEquals(List.of(taken.in(SessionState.RELEASED, "")), ledger.load());
  }

  /** Sessions outlive an upgrade, so what is on disk keeps its form. */
  @Test
  void theFormOnDiskStaysWhatItWas() {
    String text =
        """
        {"id": "0123456789ab", "name": "devbox", "gang": "00112233aabbccdd", "state": "ready",
         "detail": "why", "backend": "hpc", "nodes": 2, "gpus": "H100:8", "hard_end_s": 7200,
         "idle_s": 3600, "python": ".venv", "root": "/home/me/proj", "owner": "me",
         "holder": "me@laptop", "created": "2026-01-02T03:04:05Z",
         "term": 3, "inherit": {"PATH": "/bin"}, "natives": ["--account=a"], "grant": null,
         "others": [], "foreign": true, "attach": "job/train"}\
        """;

    LedgerEntry entry = LedgerEntry.from(Json.parse(text));

    var identity =
        new LedgerEntry.Identity(
            "0123456789ab",
            new SessionName("devbox"),
            Path.of("/home/me/proj"),
            Instant.parse("2026-01-02T03:04:05Z"));
    assertEquals(identity, entry.identity());
    assertEquals(new LedgerEntry.Keeper("me", new Holder("me@laptop"), 3), entry.keeper());
    assertEquals(
        new LedgerEntry.Asked(
            2,
            GpuRequest.parse("H100:8"),
            Optional.of(".venv"),
            List.of("--account=a"),
            Optional.of("job/train")),
        entry.asked());
    assertEquals(
        new LedgerEntry.Lease(Optional.of(Duration.ofHours(2)), Duration.ofHours(1)),
        entry.lease());
    assertEquals(
        Reservation.of("hpc", new GangId("00112233aabbccdd"), Map.of("PATH", "/bin")),
        entry.reservation());
    assertEquals(
        new LedgerEntry.Status(SessionState.READY, "why", true, Trace.none()), entry.status());
    String later =
        """
        , "place": "", "price": null, "idle_rule": "chosen",
         "trace": {"took_ms": 0, "phases": []}}\
        """;
    assertEquals(Json.parse(text.replaceFirst("}$", later)).write(), entry.json().write());
  }

  @Test
  void everyEntryComesBackAsItWas() {
    long seed = Long.getLong("gpush.seed", new Random().nextLong());
    System.err.println("LedgerTest seed " + seed + " (-Dgpush.seed)");
    var seeded = new LedgerEntries(seed);
    for (int round = 0; round < 100; round++) {
      for (SessionState state : SessionState.values()) {
        LedgerEntry entry = seeded.any(state);

        assertEquals(entry, LedgerEntry.from(Json.parse(entry.json().pretty())));
      }
    }
  }

  @Test
  void oldestComesFirst() {
    List<LedgerEntry> all =
        Stream.generate(() -> entries.any(SessionState.READY)).limit(9).toList();

    all.forEach(ledger::put);

    assertEquals(
        all.stream().sorted(Comparator.comparing(LedgerEntry::created)).toList(), ledger.load());
  }

  @Test
  void aFileThatWasCutOffLeavesTheOldEntry() throws IOException {
    LedgerEntry entry = entries.any(SessionState.READY);
    ledger.put(entry);

    Files.writeString(folder.resolve("." + entry.id() + ".new"), "{\"id\": \"");

    assertEquals(List.of(entry), ledger.load());
    ledger.put(entry.in(SessionState.LEAKED, ""));
    assertEquals(List.of(entry.in(SessionState.LEAKED, "")), ledger.load());
  }

  @Test
  void damagedFilesArePutAsideListedAndNeverLost() throws IOException {
    LedgerEntry whole = entries.any(SessionState.READY);
    LedgerEntry wrong = entries.any(SessionState.READY);
    ledger.put(whole);
    ledger.put(wrong);
    Path file = folder.resolve(wrong.id() + ".json");
    for (String text :
        List.of(
            "",
            "not json",
            "[]",
            Files.readString(file).replace("\"ready\"", "\"asleep\""),
            Files.readString(file).replace(wrong.gang().text(), "../../etc"),
            Files.readString(file).replace(wrong.id(), "../../../etc0"))) {
      int before = ledger.damaged().size();

      Files.writeString(file, text);

      assertEquals(List.of(whole), ledger.load());
      assertEquals(before + 1, ledger.damaged().size());
    }
    assertEquals("", Files.readString(folder.resolve(wrong.id() + ".json.damaged")));
    assertEquals("not json", Files.readString(folder.resolve(wrong.id() + ".json.2.damaged")));
  }

  @Test
  void aFileThatIsFarTooLongIsPutAside() throws IOException {
    LedgerEntry entry = entries.any(SessionState.READY);
    ledger.put(entry);
    Files.writeString(
        folder.resolve(entry.id() + ".json"), entry.json().pretty() + " ".repeat(1 << 20));

    assertEquals(List.of(), ledger.load());
    assertEquals(1, ledger.damaged().size());
  }

  @Test
  void aCopyOfAnEntryIsNotASecondSession() throws IOException {
    LedgerEntry entry = entries.any(SessionState.READY);
    ledger.put(entry);
    Files.copy(folder.resolve(entry.id() + ".json"), folder.resolve("backup.json"));

    assertEquals(List.of(entry), ledger.load());
    assertEquals(List.of(folder.resolve("backup.json.damaged")), ledger.damaged());
  }

  @Test
  void endedSessionsArePrunedAndOthersAreNot() {
    for (int count = 0; count < 205; count++) {
      ledger.put(entries.any(SessionState.RELEASED));
    }
    LedgerEntry leaked = entries.any(SessionState.LEAKED);
    ledger.put(leaked);

    List<LedgerEntry> loaded = ledger.load();

    assertEquals(201, loaded.size());
    assertTrue(loaded.contains(leaked));
    assertEquals(loaded, ledger.load());
    assertEquals(
        loaded.stream()
            .filter(each -> !each.equals(leaked))
            .map(LedgerEntry::created)
            .min(Comparator.naturalOrder()),
        loaded.stream()
            .filter(each -> each.state().isOver())
            .map(LedgerEntry::created)
            .findFirst());
  }

  @Test
  void whatIsForgottenIsGoneAndCanBeForgottenAgain() throws IOException {
    LedgerEntry entry = entries.any(SessionState.ASKED);
    ledger.put(entry);

    ledger.forget(entry);
    ledger.forget(entry);

    assertEquals(List.of(), ledger.load());
    assertEquals(List.of(), names());
  }

  @Test
  void forgettingInAHomeThatHasNoLedgerYetIsNoFailure() {
    ledger.forget(entries.any(SessionState.ASKED));

    assertEquals(List.of(), ledger.load());
    assertEquals(List.of(), ledger.damaged());
    assertFalse(Files.exists(folder));
  }

  /** Its session would be forgotten while its nodes go on. */
  @Test
  void whatCannotBeReadNowIsNotPutAside() throws IOException {
    LedgerEntry good = entries.any(SessionState.READY);
    ledger.put(good);
    Path unreadable = Files.createDirectory(folder.resolve("unreadable.json"));

    GpushException thrown = assertThrows(GpushException.class, ledger::load);

    assertInstanceOf(GatewayFailure.HomeUnusable.class, thrown.failure());
    assertEquals(List.of(), ledger.damaged());
    Files.delete(unreadable);
    assertEquals(List.of(good), ledger.load());
  }

  @Test
  void aHomeThatCannotBeWrittenIsNamed() throws IOException {
    Files.createDirectories(folder.getParent());
    Files.writeString(folder, "a file where the folder should be");

    GpushException thrown =
        assertThrows(GpushException.class, () -> ledger.put(entries.any(SessionState.ASKED)));

    assertInstanceOf(GatewayFailure.HomeUnusable.class, thrown.failure());
  }

  private List<String> names() throws IOException {
    try (Stream<Path> all = Files.list(folder)) {
      return all.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }
}
