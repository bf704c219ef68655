package dev.gpush.ssh;

import java.util.List;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.cipher.BuiltinCiphers;
import org.apache.sshd.common.compression.BuiltinCompressions;
import org.apache.sshd.common.kex.BuiltinDHFactories;
import org.apache.sshd.common.mac.BuiltinMacs;
import org.apache.sshd.common.signature.BuiltinSignatures;
import org.apache.sshd.server.ServerBuilder;
import org.apache.sshd.server.SshServer;

/**
 * The algorithms: those that OpenSSH has preferred for years, and none older. Mostly the client's
 * order decides, so algorithms that are slow here must not be offered: chacha20 is plain Java in
 * SSHD and a third as fast as AES-GCM, and it is the first choice of OpenSSH.
 */
final class Algorithms {
  private static final List<BuiltinDHFactories> KEY_EXCHANGES =
      List.of(
          BuiltinDHFactories.mlkem768x25519,
          BuiltinDHFactories.sntrup761x25519,
          BuiltinDHFactories.sntrup761x25519_openssh,
          BuiltinDHFactories.curve25519,
          BuiltinDHFactories.curve25519_libssh);

  private static final List<BuiltinCiphers> CIPHERS =
      List.of(
          BuiltinCiphers.aes128gcm,
          BuiltinCiphers.aes256gcm,
          BuiltinCiphers.aes128ctr,
          BuiltinCiphers.aes256ctr);

  /** The last one is for Dropbear's client, which has no other that is sound. */
  private static final List<BuiltinMacs> MACS =
      List.of(BuiltinMacs.hmacsha256etm, BuiltinMacs.hmacsha512etm, BuiltinMacs.hmacsha256);

  private static final List<BuiltinCompressions> COMPRESSIONS =
      List.of(BuiltinCompressions.none, BuiltinCompressions.delayedZlib);

  /**
   * The keys and certificates that users may have; SHA-1 is not among their signatures. Of host
   * keys, only the kinds of those that there are are offered.
   */
  private static final List<BuiltinSignatures> USER_KEYS =
      List.of(
          BuiltinSignatures.ed25519,
          BuiltinSignatures.ed25519_cert,
          BuiltinSignatures.nistp256,
          BuiltinSignatures.nistp256_cert,
          BuiltinSignatures.nistp384,
          BuiltinSignatures.nistp384_cert,
          BuiltinSignatures.nistp521,
          BuiltinSignatures.nistp521_cert,
          BuiltinSignatures.rsaSHA512,
          BuiltinSignatures.rsaSHA512_cert,
          BuiltinSignatures.rsaSHA256,
          BuiltinSignatures.rsaSHA256_cert);

  private Algorithms() {}

  static SshServer server() {
    // Does not check whether they are supported: that would load Bouncy Castle before it is needed.
    boolean ignoreUnsupported = false;
    return ServerBuilder.builder()
        .keyExchangeFactories(
            NamedFactory.setUpTransformedFactories(
                ignoreUnsupported, List.copyOf(KEY_EXCHANGES), ServerBuilder.DH2KEX))
        .cipherFactories(List.copyOf(CIPHERS))
        .macFactories(List.copyOf(MACS))
        .compressionFactories(List.copyOf(COMPRESSIONS))
        .signatureFactories(List.copyOf(USER_KEYS))
        .build();
  }
}
