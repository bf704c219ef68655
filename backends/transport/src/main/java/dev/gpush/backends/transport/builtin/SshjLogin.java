package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.builtin.SshAgent.Identity;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import net.schmizz.sshj.SSHClient;
import net.schmizz.sshj.Service;
import net.schmizz.sshj.common.SSHException;
import net.schmizz.sshj.userauth.UserAuthException;
import net.schmizz.sshj.userauth.keyprovider.KeyProvider;
import net.schmizz.sshj.userauth.method.AuthKeyboardInteractive;
import net.schmizz.sshj.userauth.method.AuthMethod;
import net.schmizz.sshj.userauth.method.AuthNone;
import net.schmizz.sshj.userauth.method.AuthPassword;
import net.schmizz.sshj.userauth.method.AuthPublickey;

/** One login: the agent's keys, then key files, then what the server asks a user who is there. */
final class SshjLogin {
  /** What only a user has. */
  private static final List<String> PERSONAL = List.of("keyboard-interactive", "password");

  private final SSHClient client;
  private final HostConfig config;
  private final String login;
  private final Optional<UserAnswers> user;
  private final Map<String, String> environment;
  private final Duration limit;

  SshjLogin(
      SSHClient client,
      HostConfig config,
      String login,
      Optional<UserAnswers> user,
      Map<String, String> environment,
      Duration limit) {
    this.client = client;
    this.config = config;
    this.login = login;
    this.user = user;
    this.environment = environment;
    this.limit = limit;
  }

  /** Logs in, or throws why not. */
  void run() throws IOException {
    try {
      if (isIn(new AuthNone()) || withAgent() || withFiles() || withUser()) {
        return;
      }
    } catch (SSHException gone) {
      String reason = ConnectTrouble.reason(gone);
      if (reason.toLowerCase(Locale.ROOT).contains("too many auth")) {
        throw new GpushException(new MachineFailure.KeyRefused(config.name(), login, reason), gone);
      }
      throw gone;
    }
    throw new GpushException(refusal());
  }

  private MachineFailure refusal() {
    List<String> personal = PERSONAL.stream().filter(this::takes).toList();
    String methods = String.join(", ", client.getUserAuth().getAllowedMethods());
    return personal.isEmpty()
        ? new MachineFailure.KeyRefused(
            config.name(),
            login,
            "it takes " + ConnectTrouble.clean(methods) + " of " + config.user())
        : new MachineFailure.NeedsYou(config.name(), login, String.join(" or ", personal));
  }

  private boolean takes(String method) {
    return client.getUserAuth().getAllowedMethods().contains(method);
  }

  /** A method that cannot be used is like one that is refused; a connection that broke is not. */
  private boolean isIn(AuthMethod method) throws IOException {
    if (!(method instanceof AuthNone) && !takes(method.getName())) {
      return false;
    }
    var service = (Service) client.getConnection();
    try {
      return client
          .getUserAuth()
          .authenticate(config.user(), service, method, (int) limit.toMillis());
    } catch (AgentKey.Wanted wanted) {
      return isIn(wanted.signed());
    } catch (UserAuthException notThis) {
      if (client.getTransport().isRunning() && !Thread.currentThread().isInterrupted()) {
        return false;
      }
      throw notThis;
    }
  }

  private boolean withAgent() throws IOException {
    Optional<Path> socket = config.agent(environment).filter(Files::exists);
    if (socket.isEmpty()) {
      return false;
    }
    try (SshAgent agent = SshAgent.open(socket.get())) {
      Set<String> named = named();
      List<Identity> identities = new ArrayList<>(agent.identities());
      identities.removeIf(key -> config.isFilesOnly() && !named.contains(key.key()));
      identities.sort(Comparator.comparing(key -> !named.contains(key.key())));
      for (Identity identity : identities) {
        if (isIn(new AgentKey(agent, identity, false))) {
          return true;
        }
      }
      return false;
    } catch (SSHException broken) {
      throw broken;
    } catch (IOException noAgent) {
      // Its keys are not there then; files may be.
      return false;
    }
  }

  /** The public keys beside the files that the configuration names. */
  private Set<String> named() throws IOException {
    var keys = new HashSet<String>();
    for (Path file : config.keyFiles()) {
      Path half = file.resolveSibling(file.getFileName() + ".pub");
      if (Files.isReadable(half)) {
        keys.addAll(List.of(Files.readString(half).split("\\s+", -1)));
      }
    }
    return keys;
  }

  private boolean withFiles() throws IOException {
    for (Path file : config.keyFiles()) {
      if (takes("publickey") && Files.isReadable(file)) {
        Optional<KeyProvider> key = load(file);
        if (key.isPresent() && isIn(new AuthPublickey(key.get()))) {
          return true;
        }
      }
    }
    return false;
  }

  /** Read here, with its passphrase: the library would do that while it reads from the network. */
  private Optional<KeyProvider> load(Path file) {
    try {
      String name = file.toString();
      KeyProvider key =
          user.isPresent()
              ? client.loadKeys(name, user.get().passphrase(file))
              : client.loadKeys(name);
      key.getPrivate();
      return Optional.of(key);
    } catch (IOException | RuntimeException unreadable) {
      // Locked, or of a kind that is not known here: as if it were not there.
      return Optional.empty();
    }
  }

  private boolean withUser() throws IOException {
    if (user.isEmpty()) {
      return false;
    }
    user.get().say(client.getUserAuth().getBanner());
    return isIn(new AuthKeyboardInteractive(user.get())) || isIn(new AuthPassword(user.get()));
  }
}
