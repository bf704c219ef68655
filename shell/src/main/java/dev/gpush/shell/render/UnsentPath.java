package dev.gpush.shell.render;

import dev.gpush.core.run.RunFailure;
import dev.gpush.core.run.RunReason;
import dev.gpush.core.session.SendReason;
import dev.gpush.core.session.SendReason.Kind;
import dev.gpush.core.session.SendReason.Verdict;
import dev.gpush.core.text.ShellQuote;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What a rank did not find on its node, because it is here and is not sent.
 *
 * @param reason why it is not
 * @param root of the workspace
 */
public record UnsentPath(SendReason reason, Path root) {
  /** What makes a folder a package; other folders may have the name of an installed one. */
  private static final String PACKAGE = "/__init__.py";

  /** As Python quotes it: in double quotes where it has an apostrophe. */
  private static final Pattern NO_FILE =
      Pattern.compile(
          "No such file or directory: (['\"])((?:\\\\['\"\\\\]|(?!\\1)[^\\\\\\p{Cntrl}])+)\\1");

  /** As HDF5 says it, which quotes nothing in it. */
  private static final Pattern NO_HDF5_FILE = Pattern.compile("\\bname = '(\\P{Cntrl}+?)', errno");

  private static final Pattern NO_MODULE = Pattern.compile("^No module named '([\\w.]+)'");

  /** The paths that the rank may have looked for, as it named them; the likeliest first. */
  public static List<String> named(RunFailure failure) {
    if (!(failure.reason() instanceof RunReason.Raised(var type, var message))) {
      return List.of();
    }
    Matcher module = NO_MODULE.matcher(message);
    if (type.endsWith("ModuleNotFoundError") && module.find()) {
      String path = module.group(1).replace('.', '/');
      return List.of(path + ".py", path + PACKAGE);
    }
    Matcher file = NO_FILE.matcher(message);
    if (file.find()) {
      return List.of(file.group(2).replaceAll("\\\\(.)", "$1"));
    }
    Matcher hdf5 = NO_HDF5_FILE.matcher(message);
    return hdf5.find() ? List.of(hdf5.group(1)) : List.of();
  }

  /** The folder of a package, which is needed as a whole. */
  public static Optional<String> folder(SendReason reason) {
    String path = reason.path();
    return reason.kind() != Kind.MISSING && path.endsWith(PACKAGE)
        ? Optional.of(path.substring(0, path.length() - PACKAGE.length()))
        : Optional.empty();
  }

  /** Empty if it is sent, or is not here. */
  public static Optional<UnsentPath> of(SendReason reason, Path root) {
    boolean isHere = reason.kind() != Kind.MISSING && reason.verdict() != Verdict.OUTSIDE;
    return isHere && !reason.verdict().isSent()
        ? Optional.of(new UnsentPath(reason, root))
        : Optional.empty();
  }

  public String line() {
    return new SendText(reason, root.toString()).line();
  }

  /**
   * What sends it with the next run, for a shell.
   *
   * @param folder where it is typed
   */
  public Optional<String> remedy(Path folder) {
    return reason.addition().map(added -> command(added, folder));
  }

  private String command(SendReason.Added added, Path folder) {
    Path file = root.resolve(added.file());
    Path shown = folder.startsWith(root) ? folder.relativize(file) : file;
    var words = new ArrayList<>(List.of("printf", "%s\\n", "")); // Its last line may have no end.
    words.addAll(added.lines());
    return ShellQuote.join(words) + " >> " + ShellQuote.of(shown.toString());
  }
}
