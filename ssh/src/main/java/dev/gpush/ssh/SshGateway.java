package dev.gpush.ssh;

import dev.gpush.core.failure.GatewayFailure;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.talk.SshAccess;
import dev.gpush.core.task.Clock;
import dev.gpush.core.task.Tasks;
import dev.gpush.ssh.channel.ChannelKinds;
import dev.gpush.ssh.channel.GlobalRequests;
import dev.gpush.ssh.channel.SessionChannel;
import dev.gpush.ssh.connection.ChannelService;
import dev.gpush.ssh.connection.ConnectionLog;
import dev.gpush.ssh.connection.Connections;
import dev.gpush.ssh.connection.PublishedSession;
import dev.gpush.ssh.connection.Routes;
import dev.gpush.ssh.files.HomeIdentity;
import dev.gpush.ssh.files.JdkEd25519;
import dev.gpush.ssh.files.KeyFiles;
import dev.gpush.ssh.files.PortMemory;
import dev.gpush.ssh.files.SshAddress;
import dev.gpush.ssh.files.SshConfigFiles;
import dev.gpush.ssh.files.SshServerSettings;
import dev.gpush.ssh.socket.Logins;
import dev.gpush.ssh.socket.SocketServices;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyPair;
import java.security.MessageDigest;
import java.security.PublicKey;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.keyprovider.KeyPairProvider;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.session.helpers.AbstractConnectionService;
import org.apache.sshd.common.session.helpers.AbstractSession;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;
import org.apache.sshd.server.SshServer;
import org.apache.sshd.server.auth.pubkey.UserAuthPublicKeyFactory;
import org.apache.sshd.server.session.ServerSession;
import org.apache.sshd.server.session.ServerUserAuthServiceFactory;

/**
 * The SSH server, on 127.0.0.1 and on the same port as long as it is free, or on a socket of its
 * user alone. Thread-safe.
 *
 * <p>Apache SSHD does transport, authentication and channel numbers. Channels are implemented here:
 * each is connected to a stream of the node's link; SSHD's own shells, forwarders and file systems
 * are not used.
 */
public final class SshGateway implements AutoCloseable {
  private static final String HOST = "127.0.0.1";

  /** For commands to end; a gateway has five seconds in all before it is halted. */
  private static final Duration GRACE = Duration.ofSeconds(2);

  private static final Duration POLL = Duration.ofMillis(20);

  private final SshServer server;
  private final SocketServices services;
  private final SshAddress address;
  private final Tasks tasks;
  private final SshConfigFiles config;
  private final AtomicBoolean isClosed = new AtomicBoolean();
  private final Logins logins;

  /** Why it ends, once it was asked to. */
  private volatile Optional<String> stopping = Optional.empty();

  private SshGateway(
      SshServer server,
      SocketServices services,
      Tasks tasks,
      SshConfigFiles config,
      SshAddress address,
      Logins logins) {
    this.server = server;
    this.services = services;
    this.address = address;
    this.tasks = tasks;
    this.config = config;
    this.logins = logins;
  }

  /**
   * Creates keys if there are none, and listens. The ssh config is unchanged until {@link
   * #publish}.
   *
   * @throws GpushException when the home cannot be used, or nothing can be listened on
   */
  public static SshGateway start(
      SshServerSettings settings, Routes routes, Tasks tasks, Clock clock) {
    JdkEd25519.register();
    var keys = new KeyFiles(settings.home());
    KeyPair host = keys.hostKey();
    KeyPair user = keys.userKey();
    var identity = HomeIdentity.of(host);
    var ports = new PortMemory(settings.home());
    Tasks own = tasks.group("ssh");
    var logins = new Logins(clock);
    var connections = new Connections(own, routes);
    Optional<IOException> taken = Optional.empty();
    for (SshAddress address : addresses(settings, ports)) {
      var services = new SocketServices(own, clock, logins, settings.socket());
      SshServer server = server(identity, host, user.getPublic());
      server.setServiceFactories(
          List.of(ServerUserAuthServiceFactory.INSTANCE, new ChannelService.Factory()));
      server.setChannelFactories(ChannelKinds.of(connections));
      server.setGlobalRequestHandlers(List.of(new GlobalRequests(connections)));
      server.addSessionListener(logins);
      server.addSessionListener(new ConnectionLog(clock));
      server.setIoServiceFactoryFactory(services);
      taken = listen(server, address);
      if (taken.isEmpty()) {
        if (address instanceof SshAddress.Port(var number)) {
          ports.remember(number);
        }
        var config = new SshConfigFiles(settings, keys.userKeyFile(), identity, address);
        return new SshGateway(server, services, own, config, address, logins);
      }
    }
    throw new GpushException(
        new GatewayFailure.HomeUnusable(
            settings.home().toString(),
            "gpush cannot listen for ssh on "
                + settings.socket().map(Path::toString).orElse("any port of " + HOST)
                + taken.map(failed -> ": " + FileReason.of(failed)).orElse("")));
  }

  private static List<SshAddress> addresses(SshServerSettings settings, PortMemory ports) {
    return settings.socket().isPresent()
        ? List.of(new SshAddress.Socket(settings.socket().orElseThrow()))
        : ports.candidates().stream().<SshAddress>map(SshAddress.Port::new).toList();
  }

  private static SshServer server(HomeIdentity identity, KeyPair host, PublicKey user) {
    SshServer server = Algorithms.server();
    server.setHost(HOST);
    server.setKeyPairProvider(KeyPairProvider.wrap(host));
    server.setUserAuthFactories(List.of(new UserAuthPublicKeyFactory()));
    server.setPublickeyAuthenticator((name, key, session) -> isTheKey(user, name, key, session));
    SshdSettings.apply(server, identity);
    return server;
  }

  /**
   * Only this home's own key may log in, whatever the user name: names are looked up only after the
   * key was proved, so other clients cannot learn which sessions there are, not even from the time
   * of an answer.
   */
  private static boolean isTheKey(
      PublicKey user, String name, PublicKey offered, ServerSession session) {
    boolean isIt = MessageDigest.isEqual(encoded(user), encoded(offered));
    if (!isIt) {
      ConnectionLog.refused(session, name, KeyUtils.getFingerPrint(offered));
    }
    return isIt;
  }

  private static byte[] encoded(PublicKey key) {
    var bytes = new ByteArrayBuffer();
    bytes.putRawPublicKey(key);
    return bytes.getCompactData();
  }

  /** Why it cannot, if so: the port is in use, say. */
  private static Optional<IOException> listen(SshServer server, SshAddress address) {
    // SSHD knows ports only, and asks the address of port 0.
    server.setPort(address instanceof SshAddress.Port(var number) ? number : 1);
    try {
      server.start();
      return Optional.empty();
    } catch (IOException failed) {
      server.close(true);
      return Optional.of(failed);
    }
  }

  /** None once the server is closed, of which SSHD cannot be asked. */
  private List<AbstractSession> connections() {
    return isClosed.get() ? List.of() : server.getActiveSessions();
  }

  /** Whether a client is connected, whose terminal would end with the gateway. */
  public boolean hasClients() {
    return connections().stream().anyMatch(AbstractSession::isAuthenticated);
  }

  /** Whether a client is connected or logs in, which another build should not interrupt. */
  public boolean isInUse() {
    return hasClients() || logins.areInProgress();
  }

  public SshAddress address() {
    return address;
  }

  /** For clients that know no files of ours; 0 when it listens on a socket. */
  int port() {
    return address instanceof SshAddress.Port(var number) ? number : 0;
  }

  /** Restores a socket that a cleaner of temporary folders removed. */
  public void ensureBound() throws IOException {
    if (!isClosed.get()) {
      services.ensureBound();
      config.ensureWritten();
    }
  }

  /** Writes the ssh config for exactly these sessions, at once or when it can be written. */
  public void publish(List<PublishedSession> sessions) {
    config.publish(sessions);
  }

  public SshAccess access() {
    return config;
  }

  /**
   * Prepares the end: listens no longer, tells the users of terminals why, and waits until no login
   * is in progress and no command runs, or the grace time is over.
   */
  public void drain(String why) {
    String reason = "the gpush gateway is stopping: " + why;
    stopping = Optional.of(reason);
    services.end();
    programs().forEach(program -> program.announce("gpush: " + reason));
    try {
      for (int i = 0; i < GRACE.dividedBy(POLL) && isBusy(); i++) {
        Thread.sleep(POLL);
      }
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
    }
  }

  private boolean isBusy() {
    return logins.areInProgress() || programs().findAny().isPresent();
  }

  private Stream<SessionChannel> programs() {
    return connections().stream()
        .filter(AbstractSession::isAuthenticated)
        .flatMap(session -> channels(session).stream())
        .filter(SessionChannel::hasProgram);
  }

  private static List<SessionChannel> channels(AbstractSession session) {
    try {
      return session.getService(AbstractConnectionService.class).getChannels().stream()
          .flatMap(
              channel -> channel instanceof SessionChannel own ? Stream.of(own) : Stream.empty())
          .toList();
    } catch (IllegalStateException notYet) {
      // It has just logged in, and its service has not started; SSHD cannot be asked.
      return List.of();
    }
  }

  private static void end(Session session, String reason) {
    try {
      session.disconnect(SshConstants.SSH2_DISCONNECT_BY_APPLICATION, reason);
    } catch (IOException gone) {
      // It need not be notified.
    }
  }

  /** Notifies the clients and ends; processes on the nodes continue. */
  @Override
  public void close() {
    List<AbstractSession> open = connections();
    if (isClosed.getAndSet(true)) {
      return;
    }
    for (var session : open) {
      end(session, stopping.orElse("the gpush gateway is stopping"));
    }
    server.close(true);
    tasks.close();
  }
}
