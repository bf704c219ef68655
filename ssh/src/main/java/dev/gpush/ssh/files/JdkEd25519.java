package dev.gpush.ssh.files;

import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.Key;
import java.security.KeyFactory;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.Provider;
import java.security.PublicKey;
import java.security.SecureRandom;
import java.security.Security;
import java.security.interfaces.EdECPrivateKey;
import java.security.interfaces.EdECPublicKey;
import java.security.spec.KeySpec;
import java.security.spec.NamedParameterSpec;
import java.security.spec.PKCS8EncodedKeySpec;
import java.security.spec.X509EncodedKeySpec;
import java.util.Arrays;
import java.util.Optional;
import org.apache.sshd.common.config.keys.PrivateKeyEntryDecoder;
import org.apache.sshd.common.config.keys.PublicKeyEntryDecoder;
import org.apache.sshd.common.signature.Signature;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.security.SecurityProviderRegistrar;
import org.apache.sshd.common.util.security.SecurityUtils;
import org.apache.sshd.common.util.security.eddsa.generic.EdDSASupport;
import org.apache.sshd.common.util.security.eddsa.generic.EdDSAUtils;
import org.apache.sshd.common.util.security.eddsa.generic.GenericEd25519PublicKeyDecoder;
import org.apache.sshd.common.util.security.eddsa.generic.GenericOpenSSHEd25519PrivateKeyEntryDecoder;
import org.apache.sshd.common.util.security.eddsa.generic.GenericSignatureEd25519;

/**
 * Ed25519 by the JDK. SSHD 2 has it only through Bouncy Castle's security provider, whose several
 * hundred classes come from a signed jar and were most of the gateway's start. Bouncy Castle's
 * plain classes are still used, for the key exchanges that the JDK does not have.
 */
public final class JdkEd25519 implements EdDSASupport<EdECPublicKey, EdECPrivateKey> {
  private static final String ALGORITHM = "Ed25519";
  private static final int BITS = 256;

  private JdkEd25519() {}

  /**
   * Registers it for the whole process, as SSHD requires; must be called before anything else of
   * SSHD.
   */
  public static void register() {
    SecurityUtils.setAPrioriDisabledProvider(SecurityUtils.BOUNCY_CASTLE, true);
    SecurityUtils.registerSecurityProvider(new Registrar());
  }

  static KeyPair generate() throws GeneralSecurityException {
    return KeyPairGenerator.getInstance(ALGORITHM).generateKeyPair();
  }

  private record Registrar() implements SecurityProviderRegistrar {
    private static final String PROVIDER = "SunEC";

    @Override
    public String getName() {
      return PROVIDER;
    }

    @Override
    public boolean isNamedProviderUsed() {
      return false;
    }

    @Override
    public Provider getSecurityProvider() {
      return Security.getProvider(PROVIDER);
    }

    @Override
    public boolean isSupported() {
      return Security.getProvider(PROVIDER) != null;
    }

    @Override
    public Optional<EdDSASupport<?, ?>> getEdDSASupport() {
      return Optional.of(new JdkEd25519());
    }
  }

  @Override
  public PublicKeyEntryDecoder<EdECPublicKey, EdECPrivateKey> getEDDSAPublicKeyEntryDecoder() {
    return new GenericEd25519PublicKeyDecoder<>(EdECPublicKey.class, EdECPrivateKey.class, this);
  }

  @Override
  public PrivateKeyEntryDecoder<EdECPublicKey, EdECPrivateKey>
      getOpenSSHEDDSAPrivateKeyEntryDecoder() {
    return new GenericOpenSSHEd25519PrivateKeyEntryDecoder<>(
        EdECPublicKey.class, EdECPrivateKey.class, this);
  }

  @Override
  public Signature getEDDSASigner() {
    return new GenericSignatureEd25519(ALGORITHM);
  }

  @Override
  public int getEDDSAKeySize(Key key) {
    return key instanceof EdECPublicKey || key instanceof EdECPrivateKey ? BITS : -1;
  }

  @Override
  public Class<EdECPublicKey> getEDDSAPublicKeyType() {
    return EdECPublicKey.class;
  }

  @Override
  public Class<EdECPrivateKey> getEDDSAPrivateKeyType() {
    return EdECPrivateKey.class;
  }

  @Override
  public boolean compareEDDSAPPublicKeys(PublicKey one, PublicKey other) {
    return one instanceof EdECPublicKey && one.equals(other);
  }

  @Override
  public boolean compareEDDSAPrivateKeys(PrivateKey one, PrivateKey other) {
    return one instanceof EdECPrivateKey && one.equals(other);
  }

  /**
   * The JDK has no call for it, but makes the pair from the first 32 random bytes that it asks for.
   */
  @Override
  public EdECPublicKey recoverEDDSAPublicKey(PrivateKey key) throws GeneralSecurityException {
    byte[] seed = EdDSAUtils.getBytes(key);
    try {
      var generator = KeyPairGenerator.getInstance(ALGORITHM);
      generator.initialize(NamedParameterSpec.ED25519, new Seed(seed));
      KeyPair pair = generator.generateKeyPair();
      if (!pair.getPrivate().equals(key)) {
        throw new InvalidKeyException("the public key cannot be found");
      }
      return (EdECPublicKey) pair.getPublic();
    } finally {
      Arrays.fill(seed, (byte) 0);
    }
  }

  private static final class Seed extends SecureRandom {
    private static final long serialVersionUID = 1;

    private final transient byte[] bytes;

    Seed(byte[] bytes) {
      this.bytes = bytes;
    }

    @Override
    public void nextBytes(byte[] target) {
      System.arraycopy(bytes, 0, target, 0, target.length);
    }
  }

  @Override
  public EdECPublicKey generateEDDSAPublicKey(byte[] point) throws GeneralSecurityException {
    return (EdECPublicKey) factory().generatePublic(EdDSAUtils.createPublicKeySpec(point));
  }

  @Override
  public EdECPrivateKey generateEDDSAPrivateKey(byte[] seed) throws GeneralSecurityException {
    return (EdECPrivateKey) factory().generatePrivate(EdDSAUtils.createPrivateKeySpec(seed));
  }

  private static KeyFactory factory() throws GeneralSecurityException {
    return KeyFactory.getInstance(ALGORITHM);
  }

  @Override
  public <B extends Buffer> B putRawEDDSAPublicKey(B buffer, PublicKey key) {
    buffer.putBytes(publicBytes(key));
    return buffer;
  }

  @Override
  public <B extends Buffer> B putEDDSAKeyPair(B buffer, PublicKey key, PrivateKey secret) {
    throw new UnsupportedOperationException("only ssh agents need it");
  }

  @Override
  public KeySpec createPublicKeySpec(EdECPublicKey key) {
    return new X509EncodedKeySpec(key.getEncoded());
  }

  @Override
  public KeySpec createPrivateKeySpec(EdECPrivateKey key) {
    return new PKCS8EncodedKeySpec(key.getEncoded());
  }

  @Override
  public byte[] getPublicKeyData(EdECPublicKey key) {
    return publicBytes(key);
  }

  private static byte[] publicBytes(PublicKey key) {
    try {
      return EdDSAUtils.getBytes(key);
    } catch (InvalidKeyException wrong) {
      throw new IllegalArgumentException(wrong);
    }
  }

  @Override
  public byte[] getPrivateKeyData(EdECPrivateKey key) {
    try {
      return EdDSAUtils.getBytes(key);
    } catch (InvalidKeyException wrong) {
      throw new IllegalArgumentException(wrong);
    }
  }

  @Override
  public String getKeyFactoryAlgorithm() {
    return ALGORITHM;
  }
}
