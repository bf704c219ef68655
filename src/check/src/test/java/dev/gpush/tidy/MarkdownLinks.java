package dev.gpush.tidy;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** The links of a Markdown text that lead to files of this project. Code is not searched. */
final class MarkdownLinks {
  private static final Pattern LINK = Pattern.compile("\\[[^\\]]*\\]\\(<?([^)\\s>]+)[^)]*\\)");
  private static final Pattern REFERENCE = Pattern.compile("^\\s*\\[[^\\]]+\\]:\\s*<?([^\\s>]+)");
  private static final Pattern CODE = Pattern.compile("`[^`]*`");
  private static final Pattern WITH_SCHEME = Pattern.compile("^[a-zA-Z][a-zA-Z0-9+.-]*:.*");

  private MarkdownLinks() {}

  /** Where the links lead, without the part after a hash. */
  static List<String> relativeTargets(String markdown) {
    var targets = new ArrayList<String>();
    boolean inFence = false;
    for (String line : markdown.lines().toList()) {
      if (line.strip().startsWith("```") || line.strip().startsWith("~~~")) {
        inFence = !inFence;
      } else if (!inFence) {
        String prose = CODE.matcher(line).replaceAll("");
        Pattern.compile(LINK + "|" + REFERENCE)
            .matcher(prose)
            .results()
            .map(match -> match.group(1) == null ? match.group(2) : match.group(1))
            .filter(target -> !WITH_SCHEME.matcher(target).matches())
            .map(target -> target.replaceAll("#.*", ""))
            .filter(target -> !target.isEmpty())
            .map(target -> URLDecoder.decode(target, StandardCharsets.UTF_8))
            .forEach(targets::add);
      }
    }
    return targets;
  }
}
