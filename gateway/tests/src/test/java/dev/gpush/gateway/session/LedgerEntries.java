package dev.gpush.gateway.session;

import dev.gpush.core.file.RandomHex;
import dev.gpush.core.gang.Gang;
import dev.gpush.core.gang.GangId;
import dev.gpush.core.gang.GpuRequest;
import dev.gpush.core.gang.NodeInfo;
import dev.gpush.core.session.Holder;
import dev.gpush.core.session.SessionName;
import dev.gpush.core.session.SessionState;
import dev.gpush.core.talk.Trace;
import dev.gpush.gateway.session.ledger.Bid;
import dev.gpush.gateway.session.ledger.LedgerEntry;
import dev.gpush.gateway.session.ledger.Reservation;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/** Entries for tests, from a seed. */
public final class LedgerEntries {
  private final Random random;

  public LedgerEntries(long seed) {
    this.random = new Random(seed);
  }

  public LedgerEntry any(SessionState state) {
    GangId gang = GangId.random(random);
    int nodes = 1 + random.nextInt(3);
    var identity =
        new LedgerEntry.Identity(
            RandomHex.of(random, 6),
            new SessionName("devbox" + (random.nextInt(9) + 1)),
            Path.of("/home/me", "p" + random.nextInt(100)),
            Instant.ofEpochSecond(random.nextInt(2_000_000_000), random.nextInt(1_000_000_000)));
    var keeper = new LedgerEntry.Keeper(text(), new Holder(text()), random.nextInt(1, 9));
    var asked =
        new LedgerEntry.Asked(
            nodes,
            gpus(),
            random.nextBoolean() ? Optional.of(text()) : none(),
            random.nextBoolean() ? List.of("--account=" + text(), text()) : List.of(),
            random.nextBoolean() ? Optional.of("job/train") : none());
    var lease =
        new LedgerEntry.Lease(
            random.nextBoolean()
                ? Optional.of(Duration.ofSeconds(random.nextInt(1, 90_000)))
                : none(),
            Duration.ofSeconds(random.nextInt(1, 90_000)),
            LedgerEntry.IdleRule.values()[random.nextInt(3)]);
    var reservation =
        new Reservation(
            new Bid("local", text(), gang, price(), true),
            Map.of("PATH", text(), "A", text()),
            random.nextBoolean() ? Optional.of(gang(gang, nodes)) : none(),
            others());
    var status = new LedgerEntry.Status(state, text(), random.nextBoolean(), trace());
    return new LedgerEntry(identity, keeper, asked, lease, reservation, status);
  }

  private Trace trace() {
    if (random.nextBoolean()) {
      return Trace.none();
    }
    var queue = new Trace.Phase(Trace.Stage.QUEUE, Duration.ofMillis(random.nextInt(9999)), text());
    return new Trace(queue.took().plusMillis(1), List.of(queue));
  }

  private List<Bid> others() {
    var others = new ArrayList<Bid>();
    for (int other = random.nextInt(3); other > 0; other--) {
      others.add(new Bid("place" + other, text(), GangId.random(random), price(), false));
    }
    return others;
  }

  private Optional<Double> price() {
    return random.nextBoolean() ? Optional.of(random.nextInt(1, 999) / 4.0) : none();
  }

  private static <T> Optional<T> none() {
    return Optional.empty();
  }

  private GpuRequest gpus() {
    return switch (random.nextInt(3)) {
      case 0 -> GpuRequest.none();
      case 1 -> GpuRequest.parse("" + (1 + random.nextInt(8)));
      default -> GpuRequest.parse("H100:" + (1 + random.nextInt(8)));
    };
  }

  private Gang gang(GangId id, int nodes) {
    var infos = new ArrayList<NodeInfo>();
    for (int node = 0; node < nodes; node++) {
      infos.add(
          new NodeInfo(
              node, text(), "127.0.0.1", List.of("0", "1"), text(), 2, "/w/" + random.nextInt()));
    }
    return new Gang(id, "local", infos, text());
  }

  private String text() {
    String letters = "aZ09 \"\\\n\t/é\u2028\uD83D\uDE00,:{}";
    var text = new StringBuilder();
    int length = random.nextInt(12);
    while (text.length() < length) {
      int at = random.nextInt(letters.length());
      if (!Character.isSurrogate(letters.charAt(at))) {
        text.append(letters.charAt(at));
      }
    }
    return text.toString();
  }
}
