package dev.gpush.backends.transport.builtin.config;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The known_hosts files of one host, as ssh reads them: patterns, hashed names, revoked keys and
 * authorities. sshj's own reader was weighed: to it a line with {@code !other} is about every host
 * but that one, and a revoked key counts when another line has it.
 */
public final class KnownHosts {
  private static final int MOST_BYTES = 16 * 1024 * 1024;
  private static final int SALT_BYTES = 20;

  private final String name;
  private final List<Line> lines;

  private KnownHosts(String name, List<Line> lines) {
    this.name = name;
    this.lines = lines;
  }

  /** What the files say about one key. */
  public sealed interface Verdict {
    record Right() implements Verdict {}

    /** Nothing is known of it. */
    record Unknown() implements Verdict {}

    /** Others of its keys are known, none of this kind. */
    record OtherKind(String known) implements Verdict {}

    /** It had another, or this one is revoked. */
    record Wrong(String reason) implements Verdict {}
  }

  private enum Mark {
    NONE,
    AUTHORITY,
    REVOKED
  }

  /** A line about this host. */
  private record Line(Mark mark, String kind, String key, String place) {}

  /**
   * What the files know of a host.
   *
   * @param name as {@link HostConfig#keyName} gives it
   */
  public static KnownHosts read(List<Path> files, String name) throws IOException {
    var lines = new ArrayList<Line>();
    for (Path file : files) {
      if (Files.isRegularFile(file) && Files.size(file) <= MOST_BYTES) {
        List<String> texts = Files.readAllLines(file, StandardCharsets.ISO_8859_1);
        for (int i = 0; i < texts.size(); i++) {
          line(texts.get(i), name, file + ":" + (i + 1)).ifPresent(lines::add);
        }
      }
    }
    return new KnownHosts(name, lines);
  }

  private static Optional<Line> line(String text, String name, String place) {
    List<String> words = List.of(text.strip().split("\\s+", -1));
    Mark mark =
        switch (words.getFirst()) {
          case "@cert-authority" -> Mark.AUTHORITY;
          case "@revoked" -> Mark.REVOKED;
          default -> Mark.NONE;
        };
    int at = mark == Mark.NONE ? 0 : 1;
    if (text.strip().startsWith("#") || words.size() < at + 3 || !isAbout(words.get(at), name)) {
      return Optional.empty();
    }
    return Optional.of(new Line(mark, words.get(at + 1), words.get(at + 2), place));
  }

  private static boolean isAbout(String names, String name) {
    return names.startsWith("|1|")
        ? isHashOf(names, name)
        : SshConfig.matches(List.of(names.split(",", -1)), name);
  }

  private static boolean isHashOf(String hashed, String name) {
    List<String> parts = List.of(hashed.split("\\|", -1));
    if (parts.size() != 4) {
      return false;
    }
    try {
      byte[] salt = Base64.getDecoder().decode(parts.get(2));
      return MessageDigest.isEqual(Base64.getDecoder().decode(parts.get(3)), hash(salt, name));
    } catch (IllegalArgumentException notBase64) {
      return false;
    }
  }

  private static byte[] hash(byte[] salt, String name) {
    try {
      Mac mac = Mac.getInstance("HmacSHA1");
      mac.init(new SecretKeySpec(salt, "HmacSHA1"));
      return mac.doFinal(name.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  /**
   * Whether the host may have this key.
   *
   * @param kind such as ssh-ed25519
   * @param key in Base64, as the files have it
   * @param authority who signed it, where it is a certificate
   */
  public Verdict verdict(String kind, String key, Optional<String> authority) {
    for (Line line : lines) {
      boolean isIt = line.key.equals(key) || authority.filter(line.key::equals).isPresent();
      if (line.mark == Mark.REVOKED && isIt) {
        return new Verdict.Wrong("that key is revoked in " + line.place);
      }
    }
    for (Line line : lines) {
      boolean isKnown = line.mark == Mark.NONE && line.key.equals(key);
      boolean isSigned =
          line.mark == Mark.AUTHORITY && authority.filter(line.key::equals).isPresent();
      if (isKnown || isSigned) {
        return new Verdict.Right();
      }
    }
    List<Line> others = lines.stream().filter(line -> line.mark == Mark.NONE).toList();
    Optional<Line> same = others.stream().filter(line -> line.kind.equals(kind)).findFirst();
    if (same.isPresent()) {
      String plain = kind.replaceFirst("^ssh-", "");
      return new Verdict.Wrong("the " + plain + " key it had is in " + same.get().place);
    }
    return others.isEmpty()
        ? new Verdict.Unknown()
        : new Verdict.OtherKind(others.getFirst().kind + " in " + others.getFirst().place);
  }

  /** Kinds of key to ask the host for first; whether one of them is of an authority. */
  public List<String> kinds() {
    return lines.stream()
        .filter(line -> line.mark == Mark.NONE)
        .map(Line::kind)
        .distinct()
        .toList();
  }

  public boolean hasAuthority() {
    return lines.stream().anyMatch(line -> line.mark == Mark.AUTHORITY);
  }

  /** Writes a new key to the file, as ssh does: the file and its folder are the user's alone. */
  public void add(Path file, String kind, String key, boolean isHashed, SecureRandom random)
      throws IOException {
    Path folder = file.getParent();
    if (folder != null && !Files.isDirectory(folder)) {
      Files.createDirectories(
          folder,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    boolean isCut = Files.isRegularFile(file) && Files.size(file) > 0 && !endsWithLine(file);
    String line =
        (isCut ? "\n" : "") + (isHashed ? hashed(random) : name) + " " + kind + " " + key + "\n";
    Files.writeString(file, line, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
  }

  private static boolean endsWithLine(Path file) throws IOException {
    byte[] all = Files.readAllBytes(file);
    return all[all.length - 1] == '\n';
  }

  private String hashed(SecureRandom random) {
    byte[] salt = new byte[SALT_BYTES];
    random.nextBytes(salt);
    Base64.Encoder encoder = Base64.getEncoder();
    return "|1|" + encoder.encodeToString(salt) + "|" + encoder.encodeToString(hash(salt, name));
  }
}
