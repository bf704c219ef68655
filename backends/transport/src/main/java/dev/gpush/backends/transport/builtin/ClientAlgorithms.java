package dev.gpush.backends.transport.builtin;

import com.hierynomus.sshj.key.KeyAlgorithms;
import com.hierynomus.sshj.transport.cipher.BlockCiphers;
import com.hierynomus.sshj.transport.cipher.ChachaPolyCiphers;
import com.hierynomus.sshj.transport.cipher.GcmCiphers;
import com.hierynomus.sshj.transport.kex.DHGroups;
import com.hierynomus.sshj.transport.kex.ExtInfoClientFactory;
import com.hierynomus.sshj.transport.mac.Macs;
import com.hierynomus.sshj.userauth.keyprovider.OpenSSHKeyV1KeyFile;
import java.util.List;
import net.schmizz.keepalive.KeepAliveProvider;
import net.schmizz.sshj.Config;
import net.schmizz.sshj.ConfigImpl;
import net.schmizz.sshj.common.LoggerFactory;
import net.schmizz.sshj.transport.compression.NoneCompression;
import net.schmizz.sshj.transport.kex.Curve25519SHA256;
import net.schmizz.sshj.transport.kex.DHGexSHA256;
import net.schmizz.sshj.transport.kex.ECDHNistP;
import net.schmizz.sshj.transport.random.JCERandom;
import net.schmizz.sshj.transport.random.SingletonRandomFactory;
import net.schmizz.sshj.userauth.keyprovider.OpenSSHKeyFile;
import net.schmizz.sshj.userauth.keyprovider.PKCS8KeyFile;

/**
 * What is offered to servers: what OpenSSH of the last ten years takes. sshj's own list ends with
 * group1, arcfour and md5, and tries every cipher once to make it.
 */
final class ClientAlgorithms {
  /** Bytes that may be under way on a channel: 8 MiB in 100 ms are 80 MB/s. */
  static final int WINDOW = 8 * 1024 * 1024;

  private ClientAlgorithms() {}

  static Config offered() {
    var config = new ConfigImpl();
    config.setLoggerFactory(LoggerFactory.DEFAULT);
    config.setVersion("gpush");
    config.setKeyExchangeFactories(
        List.of(
            new Curve25519SHA256.Factory(),
            new Curve25519SHA256.FactoryLibSsh(),
            new ECDHNistP.Factory256(),
            new ECDHNistP.Factory384(),
            new ECDHNistP.Factory521(),
            new DHGexSHA256.Factory(),
            DHGroups.Group16SHA512(),
            DHGroups.Group18SHA512(),
            DHGroups.Group14SHA256(),
            new ExtInfoClientFactory()));
    // Certificates last: they are no use where no authority is known, and first where one is.
    config.setKeyAlgorithms(
        List.of(
            KeyAlgorithms.EdDSA25519(),
            KeyAlgorithms.ECDSASHANistp256(),
            KeyAlgorithms.ECDSASHANistp384(),
            KeyAlgorithms.ECDSASHANistp521(),
            KeyAlgorithms.RSASHA512(),
            KeyAlgorithms.RSASHA256(),
            KeyAlgorithms.EdDSA25519CertV01(),
            KeyAlgorithms.ECDSASHANistp256CertV01(),
            KeyAlgorithms.ECDSASHANistp384CertV01(),
            KeyAlgorithms.ECDSASHANistp521CertV01()));
    // The processor does AES; ChaCha it does not.
    config.setCipherFactories(
        List.of(
            GcmCiphers.AES128GCM(),
            GcmCiphers.AES256GCM(),
            ChachaPolyCiphers.CHACHA_POLY_OPENSSH(),
            BlockCiphers.AES128CTR(),
            BlockCiphers.AES192CTR(),
            BlockCiphers.AES256CTR()));
    config.setMACFactories(
        List.of(
            Macs.HMACSHA2256Etm(), Macs.HMACSHA2512Etm(), Macs.HMACSHA2256(), Macs.HMACSHA2512()));
    config.setCompressionFactories(List.of(new NoneCompression.Factory()));
    config.setRandomFactory(new SingletonRandomFactory(new JCERandom.Factory()));
    config.setFileKeyProviderFactories(
        List.of(
            new OpenSSHKeyV1KeyFile.Factory(),
            new PKCS8KeyFile.Factory(),
            new OpenSSHKeyFile.Factory()));
    // Not used: neither of sshj's two notices a network that swallows what is written.
    config.setKeepAliveProvider(KeepAliveProvider.KEEP_ALIVE);
    config.setVerifyHostKeyCertificates(true);
    config.setMaxCircularBufferSize(2 * WINDOW);
    return config;
  }
}
