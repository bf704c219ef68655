package dev.gpush.launch.fabric.gang;

import java.util.List;
import java.util.Locale;

/**
 * A list of names as NCCL_SOCKET_IFNAME and NCCL_IB_HCA take it: names are the beginnings of names,
 * with {@code =} in front they are exact, with {@code ^} those that match are left out.
 */
public record NameList(boolean isExcluding, boolean isExact, List<String> names) {
  public NameList {
    names = List.copyOf(names);
  }

  public static NameList parse(String value) {
    boolean isExcluding = value.startsWith("^");
    String rest = isExcluding ? value.substring(1) : value;
    boolean isExact = rest.startsWith("=");
    List<String> names =
        List.of((isExact ? rest.substring(1) : rest).split(",", -1)).stream()
            .map(String::strip)
            .filter(name -> !name.isEmpty())
            .toList();
    return new NameList(isExcluding, isExact, names);
  }

  /** Whether an interface is chosen. */
  public boolean chooses(String name) {
    return names.stream().anyMatch(each -> matches(each, name)) != isExcluding;
  }

  /** Whether a port of a device is chosen: {@code mlx5_0} stands for all its ports. */
  public boolean chooses(String device, int port) {
    boolean isNamed =
        names.stream()
            .anyMatch(
                each -> {
                  String[] parts = each.split(":", 2);
                  return matches(parts[0], device)
                      && (parts.length == 1 || parts[1].equals("" + port));
                });
    return isNamed != isExcluding;
  }

  private boolean matches(String pattern, String name) {
    String wanted = pattern.toLowerCase(Locale.ROOT);
    String there = name.toLowerCase(Locale.ROOT);
    return isExact ? there.equals(wanted) : there.startsWith(wanted);
  }
}
