package dev.gpush.sync.scan;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;

/**
 * Names as UTF-8, whatever locale this JVM was started in: a name that Java may have mistaken is
 * taken from the path's URI, which has its bytes.
 */
public final class ExactNames {
  private ExactNames() {}

  /** The last component; empty when it is not UTF-8. */
  static Optional<String> name(Path file) {
    String plain = file.getFileName().toString();
    if (isAscii(plain)) {
      return Optional.of(plain);
    }
    String raw = raw(file);
    return decode(raw.substring(raw.lastIndexOf('/') + 1));
  }

  /** The bytes of an absolute path, as the kernel has them. */
  public static byte[] bytes(Path file) {
    String plain = file.toString();
    return isAscii(plain) ? plain.getBytes(StandardCharsets.US_ASCII) : unescape(raw(file));
  }

  private static String raw(Path file) {
    String raw = file.toUri().getRawPath();
    return raw.endsWith("/") ? raw.substring(0, raw.length() - 1) : raw;
  }

  /** A link's target; empty when it is not UTF-8, or cannot be read. */
  static Optional<String> target(Path link) throws IOException {
    Path target;
    try {
      target = Files.readSymbolicLink(link);
    } catch (IOException gone) {
      return Optional.empty();
    }
    if (isAscii(target.toString())) {
      return Optional.of(target.toString());
    }
    URI here = Path.of("").toAbsolutePath().toUri();
    String raw = Path.of("").toAbsolutePath().resolve(target).toUri().getRawPath();
    String start = here.getRawPath();
    if (!raw.startsWith(start)) {
      return Optional.empty();
    }
    // A URI ends in a slash where the target is a folder.
    boolean isAdded = raw.endsWith("/") && !target.toString().endsWith("/");
    return decode(raw.substring(start.length(), raw.length() - (isAdded ? 1 : 0)));
  }

  private static Optional<String> decode(String raw) {
    try {
      var bytes = ByteBuffer.wrap(unescape(raw));
      return Optional.of(StandardCharsets.UTF_8.newDecoder().decode(bytes).toString());
    } catch (CharacterCodingException notUtf8) {
      return Optional.empty();
    }
  }

  private static byte[] unescape(String raw) {
    var bytes = ByteBuffer.allocate(raw.length());
    for (int i = 0; i < raw.length(); i++) {
      if (raw.charAt(i) == '%') {
        bytes.put((byte) Integer.parseInt(raw, i + 1, i + 3, 16));
        i += 2;
      } else {
        bytes.put((byte) raw.charAt(i));
      }
    }
    var exact = new byte[bytes.position()];
    bytes.flip().get(exact);
    return exact;
  }

  static boolean isAscii(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) >= 128) {
        return false;
      }
    }
    return true;
  }
}
