package dev.gpush.backends.transport.builtin;

import dev.gpush.backends.transport.builtin.config.HostConfig;
import dev.gpush.backends.transport.builtin.keys.KeyOffer;
import dev.gpush.backends.transport.builtin.keys.SshAgent;
import dev.gpush.backends.transport.builtin.keys.SshAgent.Identity;
import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.talk.Person;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import net.schmizz.sshj.SSHClient;
import net.schmizz.sshj.Service;
import net.schmizz.sshj.common.SSHException;
import net.schmizz.sshj.transport.TransportException;
import net.schmizz.sshj.userauth.UserAuthException;
import net.schmizz.sshj.userauth.keyprovider.KeyProvider;
import net.schmizz.sshj.userauth.method.AuthMethod;
import net.schmizz.sshj.userauth.method.AuthNone;
import net.schmizz.sshj.userauth.method.AuthPassword;
import net.schmizz.sshj.userauth.method.AuthPublickey;
import net.schmizz.sshj.userauth.password.PasswordFinder;
import net.schmizz.sshj.userauth.password.Resource;

/**
 * One login: the agent's keys, then key files, and where a person is there, what the server asks
 * them.
 */
final class SshLogin {
  /** As ssh: how often a person may be wrong. */
  private static final int TRIES = 3;

  /** What only a person has. */
  private static final List<String> PERSONAL = List.of("keyboard-interactive", "password");

  private final SSHClient client;
  private final HostConfig config;
  private final String login;
  private final Optional<Person> person;
  private final Map<String, String> environment;
  private final Duration limit;

  // one thread
  private boolean isAsked;

  SshLogin(
      SSHClient client,
      HostConfig config,
      String login,
      Optional<Person> person,
      Map<String, String> environment,
      Duration limit) {
    this.client = client;
    this.config = config;
    this.login = login;
    this.person = person;
    this.environment = environment;
    this.limit = limit;
  }

  /**
   * Logs in, or throws why not.
   *
   * @return whether a person was asked for it
   */
  boolean run() throws IOException, InterruptedException {
    try {
      if (isIn(new AuthNone()) || withKeys() || withPerson()) {
        return isAsked;
      }
    } catch (TransportException gone) {
      if (ConnectTrouble.reason(gone)
          .toLowerCase(java.util.Locale.ROOT)
          .contains("too many auth")) {
        throw new GpushException(
            new MachineFailure.KeyRefused(name(), login, ConnectTrouble.reason(gone)));
      }
      throw gone;
    }
    throw new GpushException(refusal());
  }

  private String name() {
    return config.destination().toString();
  }

  private MachineFailure refusal() {
    Collection<String> methods = client.getUserAuth().getAllowedMethods();
    List<String> personal = PERSONAL.stream().filter(methods::contains).toList();
    return personal.isEmpty()
        ? new MachineFailure.KeyRefused(
            name(),
            login,
            "it takes " + ConnectTrouble.clean(String.join(", ", methods)) + " of " + config.user())
        : new MachineFailure.NeedsYou(name(), login, String.join(" or ", personal));
  }

  private boolean takes(String method) {
    return client.getUserAuth().getAllowedMethods().contains(method);
  }

  private boolean isIn(AuthMethod method) throws IOException {
    var service = (Service) client.getConnection();
    int millis = (int) limit.toMillis();
    return client.getUserAuth().authenticate(config.user(), service, method, millis);
  }

  private boolean withKeys() throws IOException, InterruptedException {
    Set<String> named = new HashSet<>();
    for (Path file : config.keyFiles()) {
      publicKey(file).ifPresent(named::add);
    }
    Set<String> offered = new HashSet<>();
    return withAgent(named, offered) || withFiles(offered);
  }

  private boolean withAgent(Set<String> named, Set<String> offered) throws IOException {
    Optional<Path> socket = config.agent(environment);
    if (socket.isEmpty() || !Files.exists(socket.get())) {
      return false;
    }
    try (SshAgent agent = SshAgent.open(socket.get())) {
      List<Identity> identities = new ArrayList<>(agent.identities());
      identities.removeIf(key -> config.isFilesOnly() && !named.contains(key.key()));
      identities.sort(Comparator.comparing(key -> !named.contains(key.key())));
      for (Identity identity : identities) {
        if (!takes("publickey")) {
          return false;
        }
        offered.add(identity.key());
        if (isIn(agent, identity)) {
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

  private boolean isIn(SshAgent agent, Identity identity) throws IOException {
    KeyOffer offer = KeyOffer.of(agent, identity);
    try {
      return isIn(offer);
    } catch (KeyOffer.Taken taken) {
      return isSigned(offer);
    } catch (UserAuthException notThis) {
      return passOver(notThis);
    }
  }

  private boolean isSigned(KeyOffer offer) throws IOException {
    try {
      return isIn(offer.signed());
    } catch (UserAuthException notThis) {
      return passOver(notThis);
    }
  }

  /** A key that cannot be used is like one that is not taken; a connection that broke is not. */
  private boolean passOver(UserAuthException notThis) throws UserAuthException {
    if (!client.getTransport().isRunning()) {
      throw notThis;
    }
    return false;
  }

  private boolean withFiles(Set<String> offered) throws IOException, InterruptedException {
    for (Path file : config.keyFiles()) {
      if (!takes("publickey")) {
        return false;
      }
      boolean isNew = publicKey(file).filter(offered::contains).isEmpty();
      if (isNew && Files.isReadable(file)) {
        Optional<KeyProvider> key = load(file);
        if (key.isPresent() && isIn(key.get())) {
          return true;
        }
      }
    }
    return false;
  }

  private boolean isIn(KeyProvider key) throws IOException {
    try {
      return isIn(new AuthPublickey(key));
    } catch (UserAuthException notThis) {
      return passOver(notThis);
    }
  }

  /** Read here, with its passphrase: the library would do that while it reads from the network. */
  private Optional<KeyProvider> load(Path file) throws InterruptedException {
    try {
      KeyProvider key = client.loadKeys(file.toString(), new Passphrase(file));
      key.getPrivate();
      return Optional.of(key);
    } catch (IOException | RuntimeException unreadable) {
      if (Thread.interrupted()) {
        throw new InterruptedException();
      }
      // Locked, or of a kind that is not known here: as if it were not there.
      return Optional.empty();
    }
  }

  /** Asks for the passphrase of a file, if anybody is there to ask. */
  private final class Passphrase implements PasswordFinder {
    private final Path file;
    private int tries;

    Passphrase(Path file) {
      this.file = file;
    }

    @Override
    public char[] reqPassword(Resource<?> resource) {
      tries++;
      try {
        return person
            .flatMap(somebody -> ask(somebody, "passphrase for key " + file + ": ", true))
            .orElse("")
            .toCharArray();
      } catch (Stopped stop) {
        Thread.currentThread().interrupt();
        return new char[0];
      }
    }

    @Override
    public boolean shouldRetry(Resource<?> resource) {
      return person.isPresent() && tries < TRIES && !Thread.currentThread().isInterrupted();
    }
  }

  /** An interrupt on its way through a lambda. */
  private static final class Stopped extends RuntimeException {
    Stopped(InterruptedException stop) {
      super(stop);
    }
  }

  private static Optional<String> ask(Person person, String question, boolean isHidden) {
    try {
      return person.ask(question, isHidden);
    } catch (InterruptedException stop) {
      throw new Stopped(stop);
    }
  }

  private boolean withPerson() throws IOException, InterruptedException {
    if (person.isEmpty()) {
      return false;
    }
    String banner = ConnectTrouble.clean(client.getUserAuth().getBanner());
    if (!banner.isEmpty()) {
      person.get().say(banner);
    }
    for (int i = 0; i < TRIES && takes("keyboard-interactive"); i++) {
      if (isAnswered(person.get())) {
        return true;
      }
    }
    for (int i = 0; i < TRIES && takes("password"); i++) {
      isAsked = true;
      Optional<String> password = person.get().ask(prefix() + "Password: ", true);
      if (password.isEmpty()) {
        return false;
      }
      if (isIn(new AuthPassword(new Known(password.get())))) {
        return true;
      }
    }
    return false;
  }

  private String prefix() {
    return "(" + config.user() + "@" + config.destination().host() + ") ";
  }

  private boolean isAnswered(Person somebody) throws IOException, InterruptedException {
    Questions step = Questions.please();
    while (true) {
      try {
        return isIn(step);
      } catch (Questions.Asked asked) {
        if (!asked.title().isEmpty()) {
          somebody.say(ConnectTrouble.clean(asked.title()));
        }
        var answers = new ArrayList<String>();
        for (Questions.Prompt prompt : asked.prompts()) {
          isAsked = true;
          String text = prefix() + ConnectTrouble.clean(prompt.text()) + " ";
          Optional<String> answer = somebody.ask(text, !prompt.isShown());
          if (answer.isEmpty()) {
            throw new GpushException(refusal());
          }
          answers.add(answer.get());
        }
        step = Questions.answered(answers);
      }
    }
  }

  /** What a person gave, for a library that asks. */
  private record Known(String password) implements PasswordFinder {
    @Override
    public char[] reqPassword(Resource<?> resource) {
      return password.toCharArray();
    }

    @Override
    public boolean shouldRetry(Resource<?> resource) {
      return false;
    }
  }

  /** The public half of a key file, where it lies beside. */
  private static Optional<String> publicKey(Path file) {
    Path half = file.resolveSibling(file.getFileName() + ".pub");
    try {
      List<String> words = Arrays.asList(Files.readString(half).strip().split("\\s+", -1));
      return words.size() < 2 ? Optional.empty() : Optional.of(words.get(1));
    } catch (IOException none) {
      return Optional.empty();
    }
  }
}
