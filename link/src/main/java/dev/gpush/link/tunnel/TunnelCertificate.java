package dev.gpush.link.tunnel;

import dev.gpush.core.file.Sha256;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.spec.ECGenParameterSpec;
import java.util.HexFormat;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocketFactory;

/**
 * The key and certificate with which this gateway answers in tunnels: made once per process, and
 * never on a disk. The content of the certificate does not matter; an agent compares its hash with
 * the {@link #pin} that it received.
 */
public final class TunnelCertificate {
  /** Every TLS library knows it, also that of the oldest Python. */
  private static final String CURVE = "secp256r1";

  private static final int SERIAL_BITS = 127;
  private static final int MOST_SESSIONS = 1;

  private final String pin;
  private final SSLSocketFactory sockets;

  private TunnelCertificate(String pin, SSLSocketFactory sockets) {
    this.pin = pin;
    this.sockets = sockets;
  }

  public static TunnelCertificate create(SecureRandom random) {
    try {
      KeyPairGenerator keys = KeyPairGenerator.getInstance("EC");
      keys.initialize(new ECGenParameterSpec(CURVE), random);
      KeyPair pair = keys.generateKeyPair();
      byte[] encoded = certificate(pair, random);
      Certificate certificate =
          CertificateFactory.getInstance("X.509")
              .generateCertificate(new ByteArrayInputStream(encoded));
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(keyManagers(pair.getPrivate(), certificate).getKeyManagers(), null, random);
      // A tunnel never resumes the TLS session of another one.
      context.getServerSessionContext().setSessionCacheSize(MOST_SESSIONS);
      return new TunnelCertificate(sha256(encoded), context.getSocketFactory());
    } catch (GeneralSecurityException | IOException impossible) {
      throw new IllegalStateException(impossible);
    }
  }

  private static KeyManagerFactory keyManagers(PrivateKey key, Certificate certificate)
      throws GeneralSecurityException, IOException {
    var none = new char[0];
    KeyStore store = KeyStore.getInstance("PKCS12");
    store.load(null, none);
    store.setKeyEntry("gateway", key, none, new Certificate[] {certificate});
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(store, none);
    return managers;
  }

  /** SHA-256 of the certificate, in hex: how an agent knows it. */
  String pin() {
    return pin;
  }

  /** Sockets of TLS in which this side is the server. */
  SSLSocketFactory sockets() {
    return sockets;
  }

  static String sha256(byte[] bytes) {
    return HexFormat.of().formatHex(Sha256.of(bytes));
  }

  // ---- X.509, of which the JDK can read all and write nothing: RFC 5280, signed by its own key

  private static byte[] certificate(KeyPair pair, SecureRandom random)
      throws GeneralSecurityException {
    byte[] algorithm = der(0x30, hex("06082a8648ce3d040302")); // ecdsa-with-SHA256
    byte[] commonName = der(0x30, hex("0603550403"), der(0x0c, text("gpush")));
    byte[] name = der(0x30, der(0x31, commonName));
    // Clocks of nodes are wrong: valid from long ago until the year that stands for never.
    byte[] always = der(0x30, der(0x17, text("000101000000Z")), der(0x18, text("99991231235959Z")));
    byte[] serial = new BigInteger(SERIAL_BITS, random).add(BigInteger.ONE).toByteArray();
    byte[] body =
        der(
            0x30,
            hex("a003020102"), // version 3
            der(0x02, serial),
            algorithm,
            name,
            always,
            name,
            pair.getPublic().getEncoded());
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(pair.getPrivate(), random);
    signature.update(body);
    return der(0x30, body, algorithm, der(0x03, new byte[1], signature.sign()));
  }

  /** One element of DER: its tag, its length, its parts. */
  private static byte[] der(int tag, byte[]... parts) {
    int length = 0;
    for (byte[] part : parts) {
      length += part.length;
    }
    byte[] size =
        length < 0x80
            ? new byte[] {(byte) length}
            : new byte[] {(byte) 0x82, (byte) (length >> 8), (byte) length};
    var element = java.nio.ByteBuffer.allocate(1 + size.length + length);
    element.put((byte) tag).put(size);
    for (byte[] part : parts) {
      element.put(part);
    }
    return element.array();
  }

  private static byte[] hex(String digits) {
    return HexFormat.of().parseHex(digits);
  }

  private static byte[] text(String ascii) {
    return ascii.getBytes(StandardCharsets.US_ASCII);
  }
}
