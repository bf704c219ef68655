package dev.gpush.launch.journal;

import dev.gpush.core.json.Json;
import java.util.List;
import java.util.Optional;

/**
 * What one node has found out about the network of a run: the event {@code transport} of
 * docs/technical/runs.md. Any part of it may be missing.
 */
public record NodeTransport(Json facts) {
  static final String INFINIBAND = "InfiniBand";
  static final String ROCE = "RoCE";

  /** No link is faster. */
  private static final double MOST_GBITS = 1e6;

  /** Whether the user asked for NCCL's log. */
  boolean isAsked() {
    return facts.flag("asked");
  }

  String by() {
    return facts.text("by").orElse("");
  }

  boolean isCounted() {
    return by().equals("counters");
  }

  /** False where no process of the run has a GPU open: then TCP is what gloo always uses. */
  boolean usesGpu() {
    return facts.get("gpu").isEmpty() || facts.flag("gpu");
  }

  /** NCCL's name of its network: IB, Socket, or the name of a plugin; empty when it said none. */
  String network() {
    return facts.text("network").orElse("");
  }

  /** How many nodes its communicators span; 0 when it did not say. */
  long nodes() {
    return facts.number("nodes").orElse(0L);
  }

  /** The devices or interfaces that carry traffic; empty when that is not known. */
  List<String> used() {
    return facts.texts("used");
  }

  List<String> interfaces() {
    return facts.texts("interfaces");
  }

  /** How many devices it may use. */
  int ports() {
    return facts.items("ports").size();
  }

  /** The kind of their links; empty when that is not known. */
  Optional<String> link() {
    return facts.items("ports").stream()
        .flatMap(port -> port.text("link").stream())
        .filter(link -> !link.isEmpty())
        .map(link -> link.equals("IB") ? INFINIBAND : link)
        .findFirst();
  }

  Optional<Double> gbits() {
    return facts.real("gbits").filter(rate -> rate >= 0 && rate < MOST_GBITS);
  }

  /** Of libfabric: efa, cxi, tcp. */
  Optional<String> provider() {
    return facts.text("provider");
  }

  long providerDevices() {
    return facts.number("provider_devices").orElse(0L);
  }

  /** Whether the network reads GPU memory itself; empty when that is not known. */
  Optional<Boolean> isDirect() {
    return facts.get("direct").isPresent() ? Optional.of(facts.flag("direct")) : Optional.empty();
  }

  /** How GPUs of one node reach each other: {@code P2P/CUMEM}, {@code SHM}. */
  List<String> inside() {
    return facts.texts("inside");
  }

  /** What NCCL said about a reason with this code; empty when it did not say it. */
  Optional<String> said(String code) {
    return facts.items("reasons").stream()
        .filter(reason -> reason.text("code").equals(Optional.of(code)))
        .map(reason -> reason.text("said").orElse(""))
        .findFirst();
  }

  /** The log level of a process that wrote no log. */
  String level() {
    return facts.text("level").orElse("");
  }

  /** A pattern of file names; empty where there are no logs. */
  String logs() {
    return facts.text("logs").orElse("");
  }
}
