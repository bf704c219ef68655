package dev.gpush.sync.home;

import java.nio.charset.StandardCharsets;
import java.text.Normalizer;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Decides which names a node may give to files on the laptop. A node is not trusted, and the disk
 * of a laptop may take many names for one: those that differ in case (macOS, Windows), in
 * characters that are not shown (HFS+, ext4 with casefold), in dots and spaces at the end, in the
 * short form of eight letters, or in a stream behind a colon (NTFS). Whatever the disk, a name is
 * refused if one of these would take it for {@code .git}: hooks that are written there run on the
 * laptop. Git refuses the same names ({@code core.protectHFS}, {@code core.protectNTFS}),
 * everywhere as well.
 */
public final class LocalNames {
  /** The names that NTFS makes up for .git, {@code GIT~1} and on, beside others of that kind. */
  private static final Pattern SHORT_GIT = Pattern.compile("git~[0-9]+");

  /** The same for .gitmodules; {@code gi7eba} follows when the first four are in use. */
  private static final Pattern SHORT_MODULES = Pattern.compile("(gitmod|gi7eba)~[0-9]+");

  /** Behind one of these NTFS sees a stream of the file, or what is in the folder. */
  private static final Pattern CUT = Pattern.compile("[:\\\\/]");

  private static final Pattern END = Pattern.compile("[. ]+$");

  /** First and last code points that some disk or program leaves out when it compares names. */
  private static final int[][] IGNORED = {
    {0x00AD, 0x00AD},
    {0x034F, 0x034F},
    {0x061C, 0x061C},
    {0x115F, 0x1160},
    {0x17B4, 0x17B5},
    {0x180B, 0x180F},
    {0x200B, 0x200F},
    {0x202A, 0x202E},
    {0x2060, 0x206F},
    {0x3164, 0x3164},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFFA0, 0xFFA0},
    {0xFFF0, 0xFFF8},
    {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A},
    {0xE0000, 0xE0FFF},
  };

  private LocalNames() {}

  /** Why nothing may have this name, as a sentence; empty when it may. */
  public static Optional<String> refusal(String name) {
    if (name.isEmpty() || name.equals(".") || name.equals("..")) {
      return Optional.of("it is not a file name");
    }
    if (name.indexOf('/') >= 0 || name.indexOf('\0') >= 0) {
      return Optional.of("it has a character that file names cannot have");
    }
    if (!StandardCharsets.UTF_8.newEncoder().canEncode(name)) {
      return Optional.of("it is not UTF-8");
    }
    return isGit(name)
        ? Optional.of("some disks treat it as .git, and files there may be executed here")
        : Optional.empty();
  }

  /** Whether some disk takes it for {@code .git}, or for something in it. */
  public static boolean isGit(String name) {
    String first = firstPart(name);
    boolean isBehind = CUT.splitAsStream(name).skip(1).anyMatch(LocalNames::isGit);
    return first.equals(".git") || SHORT_GIT.matcher(first).matches() || isBehind;
  }

  /** Some versions of git follow a link of this name, to a file that was not checked. */
  public static boolean isGitModules(String name) {
    String first = firstPart(name);
    return first.equals(".gitmodules") || SHORT_MODULES.matcher(first).matches();
  }

  private static String firstPart(String name) {
    return folded(CUT.split(name, 2)[0]);
  }

  /** Two names with the same folded form may be one name on some disk. */
  public static String folded(String name) {
    var shown = new StringBuilder();
    Normalizer.normalize(name, Normalizer.Form.NFD)
        .codePoints()
        .filter(point -> !isIgnored(point))
        .forEach(shown::appendCodePoint);
    // Upper case first: some letters have one upper and two lower cases.
    String folded = shown.toString().toUpperCase(Locale.ROOT).toLowerCase(Locale.ROOT);
    String whole = Normalizer.normalize(folded, Normalizer.Form.NFC);
    return END.matcher(whole).replaceAll("");
  }

  private static boolean isIgnored(int point) {
    for (int[] range : IGNORED) {
      if (point >= range[0] && point <= range[1]) {
        return true;
      }
    }
    return false;
  }
}
