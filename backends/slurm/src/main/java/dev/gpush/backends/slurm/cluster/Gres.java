package dev.gpush.backends.slurm.cluster;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A number of GPUs of one type, as the site names it.
 *
 * @param type empty if the site does not distinguish GPUs
 */
public record Gres(String type, int count) {
  /** {@code gpu:8}, {@code gpu:3090:8(S:0-1)}, {@code gpu:(null):2(IDX:0-1)}. */
  private static final Pattern GPU =
      Pattern.compile("(?:gres/)?gpu:(?:(\\(null\\)|[^:(),]+):)?([0-9]{1,6})(?:\\(.*\\))?");

  public static List<Gres> parse(String text) {
    var found = new ArrayList<Gres>();
    for (String part : HostList.split(text)) {
      Matcher gpu = GPU.matcher(part.strip());
      if (gpu.matches()) {
        String type = gpu.group(1) == null || gpu.group(1).equals("(null)") ? "" : gpu.group(1);
        found.add(new Gres(type, Integer.parseInt(gpu.group(2))));
      }
    }
    return List.copyOf(found);
  }

  public static int total(List<Gres> all) {
    return all.stream().mapToInt(Gres::count).sum();
  }
}
