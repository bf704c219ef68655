package dev.gpush.ssh.access;

import java.math.BigInteger;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.PublicKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.sshd.common.config.keys.OpenSshCertificate;

/**
 * The keys and certificates of one file that may no longer log in. The file has public keys, one in
 * a line, or it is a key revocation list as {@code ssh-keygen -k} makes it. A file with anything
 * that is not understood is no file: a revoked key would be accepted.
 */
final class RevokedKeys {
  private static final byte[] MAGIC = "SSHKRL\n\0".getBytes(StandardCharsets.ISO_8859_1);
  private static final int VERSION = 1;

  // sections of a list
  private static final int CERTIFICATES = 1;
  private static final int KEYS = 2;
  private static final int SHA1 = 3;
  private static final int SIGNATURE = 4;
  private static final int SHA256 = 5;

  // parts of its section about certificates
  private static final int SERIALS = 0x20;
  private static final int RANGE = 0x21;
  private static final int BITMAP = 0x22;
  private static final int IDS = 0x23;

  /** Certificates by one authority, or by any; serials are unsigned. */
  private record Serials(ByteBuffer authority, BigInteger least, BigInteger most) {}

  private record Ids(ByteBuffer authority, Set<String> ids) {
    Ids {
      ids = Set.copyOf(ids);
    }
  }

  private final Set<ByteBuffer> keys = new HashSet<>();
  private final Set<ByteBuffer> sha1 = new HashSet<>();
  private final Set<ByteBuffer> sha256 = new HashSet<>();
  private final List<Serials> serials = new ArrayList<>();
  private final List<Ids> ids = new ArrayList<>();

  private RevokedKeys() {}

  /**
   * @throws IllegalArgumentException with the reason
   */
  static RevokedKeys parse(byte[] file) {
    var revoked = new RevokedKeys();
    ByteBuffer bytes = ByteBuffer.wrap(file);
    if (file.length >= MAGIC.length && take(bytes, MAGIC.length).equals(ByteBuffer.wrap(MAGIC))) {
      try {
        revoked.list(bytes);
      } catch (BufferUnderflowException cut) {
        throw new IllegalArgumentException("the key revocation list is cut off", cut);
      }
    } else {
      new String(file, StandardCharsets.UTF_8).lines().forEach(revoked::line);
    }
    return revoked;
  }

  private void line(String line) {
    KeyLine.parse(line).ifPresent(key -> keys.add(ByteBuffer.wrap(KeyLine.encoded(key.key()))));
  }

  private void list(ByteBuffer bytes) {
    int version = bytes.getInt();
    if (version != VERSION) {
      throw new IllegalArgumentException("a key revocation list of version " + version);
    }
    // Its number, when it was made, and flags.
    take(bytes, 3 * Long.BYTES);
    string(bytes);
    string(bytes);
    while (bytes.hasRemaining()) {
      int section = bytes.get() & 0xff;
      ByteBuffer data = string(bytes);
      switch (section) {
        case CERTIFICATES -> certificates(data);
        case KEYS -> strings(data, keys);
        case SHA1 -> strings(data, sha1);
        case SHA256 -> strings(data, sha256);
        case SIGNATURE -> {
          // Over the list itself: who may write the file may sign it too.
          return;
        }
        default -> throw new IllegalArgumentException("it has an unknown section " + section);
      }
    }
  }

  private void certificates(ByteBuffer bytes) {
    ByteBuffer authority = string(bytes);
    string(bytes);
    while (bytes.hasRemaining()) {
      int part = bytes.get() & 0xff;
      ByteBuffer data = string(bytes);
      switch (part) {
        case SERIALS -> {
          while (data.hasRemaining()) {
            BigInteger one = unsigned(data);
            serials.add(new Serials(authority, one, one));
          }
        }
        case RANGE -> serials.add(new Serials(authority, unsigned(data), unsigned(data)));
        case BITMAP -> bitmap(authority, unsigned(data), string(data));
        case IDS -> {
          var names = new HashSet<String>();
          while (data.hasRemaining()) {
            names.add(StandardCharsets.UTF_8.decode(string(data)).toString());
          }
          ids.add(new Ids(authority, names));
        }
        default -> throw new IllegalArgumentException("it has an unknown part " + part);
      }
    }
  }

  private void bitmap(ByteBuffer authority, BigInteger first, ByteBuffer bits) {
    var raw = new byte[bits.remaining()];
    bits.get(raw);
    var set = new BigInteger(1, raw);
    for (int bit = set.getLowestSetBit(); bit >= 0 && bit < set.bitLength(); bit++) {
      if (set.testBit(bit)) {
        BigInteger serial = first.add(BigInteger.valueOf(bit));
        serials.add(new Serials(authority, serial, serial));
      }
    }
  }

  boolean has(PublicKey key) {
    if (key instanceof OpenSshCertificate certificate) {
      return hasCertificate(certificate)
          || has(certificate.getCertPubKey())
          || has(certificate.getCaPubKey());
    }
    byte[] encoded = KeyLine.encoded(key);
    return keys.contains(ByteBuffer.wrap(encoded))
        || sha1.contains(hash("SHA-1", encoded))
        || sha256.contains(hash("SHA-256", encoded));
  }

  private boolean hasCertificate(OpenSshCertificate certificate) {
    ByteBuffer authority = ByteBuffer.wrap(KeyLine.encoded(certificate.getCaPubKey()));
    var serial = new BigInteger(Long.toUnsignedString(certificate.getSerial()));
    boolean hasSerial =
        serials.stream()
            .filter(each -> isOf(each.authority(), authority))
            .anyMatch(
                each -> each.least().compareTo(serial) <= 0 && serial.compareTo(each.most()) <= 0);
    return hasSerial
        || ids.stream()
            .filter(each -> isOf(each.authority(), authority))
            .anyMatch(each -> each.ids().contains(certificate.getId()));
  }

  private static boolean isOf(ByteBuffer authority, ByteBuffer one) {
    return !authority.hasRemaining() || authority.equals(one);
  }

  private static ByteBuffer hash(String algorithm, byte[] bytes) {
    try {
      return ByteBuffer.wrap(MessageDigest.getInstance(algorithm).digest(bytes));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static void strings(ByteBuffer bytes, Set<ByteBuffer> into) {
    while (bytes.hasRemaining()) {
      into.add(string(bytes));
    }
  }

  private static ByteBuffer string(ByteBuffer bytes) {
    return take(bytes, bytes.getInt());
  }

  private static ByteBuffer take(ByteBuffer bytes, int count) {
    if (count < 0 || count > bytes.remaining()) {
      throw new IllegalArgumentException("the key revocation list is cut off");
    }
    ByteBuffer part = bytes.slice(bytes.position(), count);
    bytes.position(bytes.position() + count);
    return part;
  }

  private static BigInteger unsigned(ByteBuffer bytes) {
    return new BigInteger(Long.toUnsignedString(bytes.getLong()));
  }
}
