package dev.gpush.launch.fabric.facts;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * One port of one RDMA device.
 *
 * @param device as NCCL names it: {@code mlx5_0}
 * @param interfaces the network interfaces on the same port
 */
public record RdmaPort(
    String device, int port, Link link, Adapter adapter, List<String> interfaces, List<Gid> gids) {
  /** The PCI vendor of Amazon: EFA is no InfiniBand to NCCL. */
  public static final String EFA_VENDOR = "0x1d0f";

  /** Names end up in variables: a comma or a blank would make two of one. */
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_.-]{0,63}");

  private static final int MOST_PORTS = 255;

  public RdmaPort {
    interfaces = List.copyOf(interfaces);
    gids = List.copyOf(gids);
  }

  /**
   * The link of a port.
   *
   * @param state ACTIVE, DOWN, INIT … as the driver says it
   * @param layer InfiniBand, Ethernet, or what else the driver says
   */
  public record Link(String state, String layer, Optional<Double> gbits) {}

  /**
   * What the port belongs to.
   *
   * @param verbs whether a process can open the device; absent where that is not known
   * @param isSoftware made of a network interface (rxe, siw)
   */
  public record Adapter(String vendor, Optional<Verbs> verbs, boolean isSoftware) {}

  /** Whether a process can open the device. */
  public enum Verbs {
    OPEN,
    MISSING,
    DENIED
  }

  /** An entry of the port's GID table. */
  public record Gid(int index, String type, String gid) {
    private static final String MAPPED = "0000:0000:0000:0000:0000:ffff:";

    /** RoCE v2 on an IPv4 address that packets can be sent to. */
    public boolean isRoutableRoce() {
      return type.equals("RoCE v2") && gid.startsWith(MAPPED) && !gid.startsWith(MAPPED + "a9fe");
    }
  }

  public boolean isActive() {
    return link.state().equals("ACTIVE");
  }

  public boolean isEfa() {
    return adapter.vendor().equals(EFA_VENDOR);
  }

  /** As NCCL_IB_HCA takes it. */
  public String name() {
    return device + ":" + port;
  }

  static Optional<RdmaPort> read(FactReader json) {
    String device = json.word("device");
    long port = json.whole("port").orElse(1L);
    if (!NAME.matcher(device).matches() || port < 1 || port > MOST_PORTS) {
      return Optional.empty();
    }
    var gids = new ArrayList<Gid>();
    for (FactReader gid : json.objects("gids")) {
      gid.whole("index")
          .filter(index -> index >= 0 && index < Integer.MAX_VALUE)
          .ifPresent(
              index -> gids.add(new Gid(index.intValue(), gid.word("type"), gid.word("gid"))));
    }
    return Optional.of(
        new RdmaPort(
            device,
            (int) port,
            new Link(json.word("state"), json.word("link"), json.rate("gbits")),
            new Adapter(json.word("vendor"), verbs(json.word("verbs")), json.flag("software")),
            json.texts("interfaces"),
            gids));
  }

  private static Optional<Verbs> verbs(String word) {
    return switch (word) {
      case "open" -> Optional.of(Verbs.OPEN);
      case "missing" -> Optional.of(Verbs.MISSING);
      case "denied" -> Optional.of(Verbs.DENIED);
      default -> Optional.empty();
    };
  }
}
