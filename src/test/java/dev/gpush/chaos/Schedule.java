package dev.gpush.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * One run, drawn from a seed.
 *
 * @param isDown whether the first gateway also gives the gang back
 * @param last the first gateway's last moment, or {@link #NEVER}
 * @param loses from which moment on a command loses its answer, or {@link #NEVER}
 * @param expires nobody comes before the lease is over
 * @param recoversUntil the last moment of a second gateway, which only recovers; or {@link #NEVER}
 *     for none
 * @param isHealedLate whether the last gateway comes while what was struck is still so
 * @param isAskedAgain whether somebody says up to the last gateway
 */
record Schedule(
    int nodes,
    boolean isDown,
    int last,
    int loses,
    List<Strike> strikes,
    boolean expires,
    int recoversUntil,
    boolean isHealedLate,
    boolean isAskedAgain) {
  static final int NEVER = -1;

  /** More than an up and a down of two nodes have, so that some gateways live. */
  private static final int MOMENTS = 70;

  private static final int RECOVERY_MOMENTS = 12;

  Schedule {
    strikes = List.copyOf(strikes);
  }

  /** Something happens at a moment of the first gateway. */
  record Strike(Scene.Fault fault, int moment) {}

  static Schedule of(Random random, Scene scene) {
    int most = scene.name().startsWith("slurm") ? MOMENTS : MOMENTS / 2;
    boolean expires = random.nextInt(8) == 0;
    var strikes = new ArrayList<Strike>();
    int count = expires ? 0 : random.nextInt(3);
    for (int i = 0; i < count; i++) {
      Scene.Fault fault = scene.faults().get(random.nextInt(scene.faults().size()));
      strikes.add(new Strike(fault, random.nextInt(most)));
    }
    return new Schedule(
        1 + random.nextInt(2),
        !expires && random.nextInt(3) == 0,
        expires || random.nextInt(4) == 0 ? NEVER : random.nextInt(most),
        !expires && random.nextInt(3) == 0 ? random.nextInt(most / 2) : NEVER,
        strikes,
        expires,
        random.nextInt(3) == 0 ? random.nextInt(RECOVERY_MOMENTS) : NEVER,
        random.nextBoolean(),
        random.nextInt(3) == 0);
  }

  /** The kinds of trouble in it, for the counts. */
  List<String> kinds() {
    var kinds = new ArrayList<String>();
    if (last != NEVER) {
      kinds.add("gateway killed");
    }
    if (recoversUntil != NEVER) {
      kinds.add("killed while it recovers");
    }
    if (loses != NEVER) {
      kinds.add("lost reply");
    }
    if (expires) {
      kinds.add("expiry");
    }
    strikes.forEach(
        strike ->
            kinds.add(strike.fault().name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ')));
    return kinds;
  }
}
