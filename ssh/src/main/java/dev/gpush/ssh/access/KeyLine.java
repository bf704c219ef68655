package dev.gpush.ssh.access;

import dev.gpush.core.text.CleanText;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.sshd.common.SshException;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.config.keys.OpenSshCertificate;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;

/**
 * One line of an {@code authorized_keys} file. SSHD's own reader gives up on the whole file at the
 * first line that it cannot read, and takes a quote in a comment for one of an option.
 */
record KeyLine(KeyOptions options, PublicKey key, String comment) {
  private static final System.Logger LOG = System.getLogger("gpush.ssh");

  private static final int SHOWN = 200;

  /** The least that OpenSSH's own default asks for today is half of it. */
  private static final int LEAST_RSA_BITS = 2_048;

  /** Options, type, key and comment. A base64 key always begins with three zero bytes. */
  private static final Pattern LINE =
      Pattern.compile(
          "(?:((?:[^\\s\"]|\"(?:[^\"\\\\]|\\\\.)*\")+)\\s+)??"
              + "([a-z0-9@.-]+)\\s+(AAAA[A-Za-z0-9+/=]+)(?:\\s+(.*))?");

  /** Every line that is valid; the others are named in the log. */
  static List<KeyLine> all(String file, String text) {
    var lines = new ArrayList<KeyLine>();
    List<String> all = text.lines().toList();
    for (int i = 0; i < all.size(); i++) {
      try {
        parse(all.get(i)).ifPresent(lines::add);
      } catch (IllegalArgumentException invalid) {
        LOG.log(
            System.Logger.Level.WARNING,
            CleanText.line(file + ":" + (i + 1) + " is ignored: " + invalid.getMessage(), SHOWN));
      }
    }
    return lines;
  }

  /**
   * Empty for a comment.
   *
   * @throws IllegalArgumentException with the reason
   */
  static Optional<KeyLine> parse(String line) {
    String text = line.strip();
    if (text.isEmpty() || text.startsWith("#")) {
      return Optional.empty();
    }
    Matcher parts = LINE.matcher(text);
    if (!parts.matches()) {
      throw new IllegalArgumentException("it is not a public key");
    }
    Optional<String> options = Optional.ofNullable(parts.group(1));
    return Optional.of(
        new KeyLine(
            options.map(KeyOptions::parse).orElse(KeyOptions.NONE),
            key(parts.group(2), parts.group(3)),
            Optional.ofNullable(parts.group(4)).orElse("").strip()));
  }

  private static PublicKey key(String type, String base64) {
    try {
      var buffer = new ByteArrayBuffer(Base64.getDecoder().decode(base64));
      PublicKey key = buffer.getRawPublicKey();
      if (!type.equals(KeyUtils.getKeyType(key)) || key instanceof OpenSshCertificate) {
        throw new IllegalArgumentException("it is not a key of type " + type);
      }
      requireSound(key);
      return key;
    } catch (SshException | RuntimeException broken) {
      throw new IllegalArgumentException("its key cannot be read", broken);
    }
  }

  /** As for a key that is part of a certificate. */
  static void requireSound(PublicKey key) {
    int bits = KeyUtils.getKeySize(key);
    if (KeyUtils.getKeyType(key).equals("ssh-rsa") && bits < LEAST_RSA_BITS) {
      throw new IllegalArgumentException("an RSA key of " + bits + " bits is too short");
    }
  }

  /** What the protocol sends of a key; the same for equal keys. */
  static byte[] encoded(PublicKey key) {
    var buffer = new ByteArrayBuffer();
    buffer.putRawPublicKey(key);
    return buffer.getCompactData();
  }

  /** {@code SHA256:…}; that of the certified key for a certificate. */
  static String fingerprint(PublicKey key) {
    PublicKey plain =
        key instanceof OpenSshCertificate certificate ? certificate.getCertPubKey() : key;
    return KeyUtils.getFingerPrint(plain);
  }

  /** The person of this key. */
  String person() {
    return comment.isEmpty() ? fingerprint(key) : comment;
  }
}
