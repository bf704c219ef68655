package dev.gpush.launch.fabric.rule;

import dev.gpush.core.json.Json;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/** Nodes of a gang as their agents describe them: two H100 nodes on eth0, until changed. */
final class Gangs {
  private static final int GPUS = 8;

  private Gangs() {}

  /** A node of a gang of so many, without RDMA. */
  static Json.Obj plain(int index, int size) {
    List<Json> routes =
        IntStream.range(0, size)
            .filter(other -> other != index)
            .<Json>mapToObj(other -> Json.object("to", address(other), "interface", "eth0"))
            .toList();
    return Json.object(
        "interfaces",
        List.of(net("eth0", "ethernet", 100, address(index)), loopback()),
        "routes",
        routes,
        "default_route",
        "eth0",
        "rdma",
        List.of(),
        "memlock",
        -1,
        "gpu_vendor",
        "nvidia",
        "gpus",
        gpus("NVIDIA H100", "570.86"),
        "plugins",
        List.of());
  }

  /** The same with rails. */
  static Json.Obj rails(int index, int size, int rails, String link, Object gbits) {
    return plain(index, size)
        .with(
            "rdma",
            IntStream.range(0, rails)
                .<Json>mapToObj(rail -> port("mlx5_" + rail, "ACTIVE", link, gbits))
                .toList());
  }

  static Json.Obj port(String device, String state, String link, Object gbits) {
    return Json.object(
        "device", device, "port", 1, "state", state, "link", link, "gbits", gbits, "vendor",
        "0x15b3", "verbs", "open");
  }

  /** A port of RoCE with its IPv4 address at this index. */
  static Json.Obj roce(String device, int index) {
    return port(device, "ACTIVE", "Ethernet", 100)
        .with(
            "gids",
            List.of(
                Json.object(
                    "index",
                    0,
                    "type",
                    "RoCE v2",
                    "gid",
                    "fe80:0000:0000:0000:0000:0000:0000:0001"),
                Json.object(
                    "index",
                    index,
                    "type",
                    "RoCE v2",
                    "gid",
                    "0000:0000:0000:0000:0000:ffff:0a00:0001")));
  }

  static Json.Obj net(String name, String kind, int gbits, String address) {
    return Json.object(
        "name",
        name,
        "state",
        "up",
        "gbits",
        gbits,
        "mtu",
        9000,
        "kind",
        kind,
        "addresses",
        List.of(address + "/24"));
  }

  private static Json.Obj loopback() {
    return Json.object(
        "name", "lo", "state", "unknown", "kind", "loopback", "addresses", List.of("127.0.0.1/8"));
  }

  static List<Json> gpus(String name, String driver) {
    return IntStream.range(0, GPUS)
        .<Json>mapToObj(index -> Json.object("index", index, "name", name, "driver", driver))
        .toList();
  }

  static String address(int index) {
    return "10.0.0." + (index + 1);
  }

  /** With this value under this key of one node. */
  static Json with(Json gang, int node, String key, Object value) {
    var nodes = new ArrayList<>(gang.items());
    nodes.set(node, ((Json.Obj) nodes.get(node)).with(key, value));
    return Json.array(nodes);
  }

  /** The same on every node. */
  static Json withEach(Json gang, String key, Object value) {
    Json changed = gang;
    for (int node = 0; node < gang.items().size(); node++) {
      changed = with(changed, node, key, value);
    }
    return changed;
  }

  static Json two() {
    return Json.array(List.of(plain(0, 2), plain(1, 2)));
  }

  static Json twoWithRails() {
    return Json.array(
        List.of(rails(0, 2, 8, "InfiniBand", 400), rails(1, 2, 8, "InfiniBand", 400)));
  }

  static Json one() {
    return Json.array(List.of(plain(0, 1)));
  }
}
