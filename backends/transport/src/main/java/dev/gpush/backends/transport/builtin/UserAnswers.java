package dev.gpush.backends.transport.builtin;

import dev.gpush.core.failure.GpushException;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.file.Sha256;
import dev.gpush.core.talk.Person;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import net.schmizz.sshj.common.KeyType;
import net.schmizz.sshj.userauth.method.ChallengeResponseProvider;
import net.schmizz.sshj.userauth.password.PasswordFinder;
import net.schmizz.sshj.userauth.password.Resource;

/**
 * What the user answers. The library asks on a thread of its own, which only {@link #stop} ends.
 */
final class UserAnswers implements ChallengeResponseProvider, PasswordFinder {
  /** As ssh: how often an answer may be wrong. */
  private static final int TRIES = 3;

  private static final String INTERACTIVE = "keyboard-interactive";

  private final Person person;
  private final HostConfig host;
  private final String login;
  private final Map<Object, Integer> tries = new ConcurrentHashMap<>();

  private volatile Optional<Thread> asking = Optional.empty();
  private volatile boolean isAsked;

  UserAnswers(Person person, HostConfig host, String login) {
    this.person = person;
    this.host = host;
    this.login = login;
  }

  /** Whether the server has asked the user for something. */
  boolean isAsked() {
    return isAsked;
  }

  /** The login is over: a question that waits for its answer has none. */
  void stop() {
    asking.ifPresent(Thread::interrupt);
  }

  void say(String text) {
    String clean = ConnectTrouble.clean(text);
    if (!clean.isEmpty()) {
      person.say(clean);
    }
  }

  /** Whether a key that is not known is the host's. */
  boolean confirm(String name, KeyType kind, String key) {
    person.say("nobody knows yet whether this is " + name + "; its " + kind);
    person.say("key has the fingerprint " + fingerprint(key));
    Optional<String> answer = ask("is it the right one? (yes/no) ", false);
    return answer.filter(word -> word.strip().equalsIgnoreCase("yes")).isPresent();
  }

  /** As ssh prints it. */
  private static String fingerprint(String key) {
    byte[] hash = Sha256.of(Base64.getDecoder().decode(key));
    return "SHA256:" + Base64.getEncoder().withoutPadding().encodeToString(hash);
  }

  @Override
  public List<String> getSubmethods() {
    return List.of();
  }

  @Override
  @SuppressWarnings("rawtypes")
  public void init(Resource resource, String name, String instruction) {
    say((name + " " + instruction).strip());
  }

  @Override
  public char[] getResponse(String prompt, boolean echo) {
    isAsked = true;
    return answer(prefix() + ConnectTrouble.clean(prompt) + " ", !echo, INTERACTIVE);
  }

  @Override
  public boolean shouldRetry() {
    return isTriedAgain(INTERACTIVE);
  }

  /** The password of the account. */
  @Override
  public char[] reqPassword(Resource<?> resource) {
    isAsked = true;
    return answer(prefix() + "Password: ", true, "password");
  }

  @Override
  public boolean shouldRetry(Resource<?> resource) {
    return isTriedAgain("password");
  }

  /** For one key file: the library does not say about which one it asks. */
  PasswordFinder passphrase(Path file) {
    return new PasswordFinder() {
      @Override
      public char[] reqPassword(Resource<?> resource) {
        return answer("passphrase for key " + file + ": ", true, "passphrase");
      }

      @Override
      public boolean shouldRetry(Resource<?> resource) {
        return isTriedAgain(file);
      }
    };
  }

  private boolean isTriedAgain(Object what) {
    return tries.merge(what, 1, Integer::sum) < TRIES;
  }

  private String prefix() {
    return "(" + host.user() + "@" + host.destination().host() + ") ";
  }

  private char[] answer(String question, boolean isHidden, String what) {
    return ask(question, isHidden)
        .map(String::toCharArray)
        .orElseThrow(
            () -> new GpushException(new MachineFailure.NeedsYou(host.name(), login, what)));
  }

  private Optional<String> ask(String question, boolean isHidden) {
    asking = Optional.of(Thread.currentThread());
    try {
      return person.ask(question, isHidden);
    } catch (InterruptedException stop) {
      Thread.currentThread().interrupt();
      return Optional.empty();
    } finally {
      asking = Optional.empty();
    }
  }
}
