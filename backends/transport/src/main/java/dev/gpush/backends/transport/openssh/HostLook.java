package dev.gpush.backends.transport.openssh;

import dev.gpush.core.failure.FailureText;
import dev.gpush.core.failure.MachineFailure;
import dev.gpush.core.file.FileReason;
import dev.gpush.core.machine.Inquiry;
import dev.gpush.core.machine.Inquiry.Answer;
import dev.gpush.core.machine.Machine;
import dev.gpush.core.machine.Pipe;
import dev.gpush.core.setup.HostSource.ListedHost;
import dev.gpush.core.setup.PlaceCheck;
import dev.gpush.core.setup.PlaceFinding;
import dev.gpush.core.task.Tasks;
import dev.gpush.core.text.CleanText;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Asks one host what it has, by one ssh that shares and keeps no connection. First {@code ssh -G}
 * says what the configuration means. Where a login might need the user, the host is not tried
 * unless the user named it: through a jump host or a proxy program, which do not learn that nobody
 * may be asked; with an agent that asks by itself; and without a key. Hardware keys, which want to
 * be touched, are used only for a host that the user named.
 */
final class HostLook implements PlaceCheck.Inspection {
  /**
   * For {@code sh -s}, so that the login shell may be any; no program may read the rest of it. A
   * sinfo whose controller is down hangs, and must not cost the answer about GPUs.
   */
  private static final String SCRIPT =
      """
      command -v timeout >/dev/null || timeout() { shift; "$@"; }
      echo gpush-look
      gpus=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null </dev/null) &&
        printf '%s\\n' "$gpus" | sed 's/^/gpu /'
      gpus=$(rocm-smi --showproductname --csv 2>/dev/null </dev/null) &&
        printf '%s\\n' "$gpus" | sed -n 's/^card[0-9]*,\\([^,]*\\).*/gpu \\1/p'
      if partitions=$(timeout "$seconds" sinfo -h -o '%R|%G' 2>/dev/null </dev/null); then
        echo "cluster $(scontrol show config 2>/dev/null </dev/null | sed -n 's/^ClusterName *= *//p')"
        printf '%s\\n' "$partitions" | head -n 40 | sed 's/^/partition /'
      fi
      """;

  private static final String MARK = "gpush-look";

  private static final int MOST_WORD = 60;

  private static final int MOST_REASON = 160;

  private static final List<String> WITHOUT_USER =
      List.of("publickey", "gssapi-with-mic", "hostbased");

  private final ListedHost host;
  private final SshCommands commands;
  private final boolean isNamed;
  private final Semaphore turns;
  private final Launch launch;
  private final Tasks tasks;

  HostLook(
      ListedHost host,
      SshCommands commands,
      boolean isNamed,
      Semaphore turns,
      Launch launch,
      Tasks tasks) {
    this.host = host;
    this.commands = commands;
    this.isNamed = isNamed;
    this.turns = turns;
    this.launch = launch;
    this.tasks = tasks;
  }

  @Override
  public PlaceFinding look(Duration limit) throws InterruptedException {
    // Before the search ends, which would call this host one that did not answer.
    if (!turns.tryAcquire(limit.toNanos() * 4 / 5, TimeUnit.NANOSECONDS)) {
      return unasked("there was no time for it", again());
    }
    try {
      var ssh = new Inquiry(new Here(host.host(), launch, commands), tasks);
      Answer meaning = ssh.ask(commands.effective(), "", limit);
      if (!meaning.succeeded()) {
        return unreached(meaning.errors());
      }
      Map<String, String> effective = SshCommands.values(meaning.output());
      if (effective.getOrDefault("user", "").equals("git")) {
        return unusable("is for git");
      }
      Optional<String> person = isNamed ? Optional.empty() : person(effective);
      if (person.isPresent()) {
        return unasked(person.get(), again());
      }
      String script = "seconds=" + limit.toSeconds() * 2 / 5 + "\n" + SCRIPT;
      Answer answer = ssh.ask(commands.look(limit, isNamed), script, limit);
      int mark = answer.output().indexOf(MARK);
      return mark < 0
          ? answer.status() == 255 ? unreached(answer.errors()) : unusable("runs no commands")
          : finding(answer.output().substring(mark + MARK.length()), effective);
    } catch (TimeoutException late) {
      return unasked("did not answer in time", again());
    } catch (IOException broken) {
      return unasked("ssh cannot be run: " + FileReason.of(broken), "ssh " + host.host());
    } finally {
      turns.release();
    }
  }

  /** Why a login might need the user. */
  private static Optional<String> person(Map<String, String> effective) {
    String jump = effective.getOrDefault("proxyjump", "none");
    if (!jump.equals("none")) {
      return Optional.of("is reached through " + word(jump));
    }
    if (!effective.getOrDefault("proxycommand", "none").equals("none")) {
      return Optional.of("is reached through a program (ProxyCommand)");
    }
    if (!effective.getOrDefault("knownhostscommand", "none").equals("none")) {
      return Optional.of("runs a program for host keys (KnownHostsCommand)");
    }
    String agent = effective.getOrDefault("identityagent", "SSH_AUTH_SOCK");
    if (!agent.equals("SSH_AUTH_SOCK") && !agent.equals("none")) {
      return Optional.of("has an agent of its own (IdentityAgent), which may ask you");
    }
    String methods = effective.getOrDefault("preferredauthentications", "publickey");
    boolean hasKeys = !effective.getOrDefault("pubkeyauthentication", "true").matches("no|false");
    if (!hasKeys || List.of(methods.split(",", -1)).stream().noneMatch(WITHOUT_USER::contains)) {
      return Optional.of("takes no key, only what you type");
    }
    return Optional.empty();
  }

  private PlaceFinding unreached(String errors) {
    String name = host.host();
    return switch (Diagnosis.of(name, name, errors)) {
      case MachineFailure.NeedsYou(_, _, var methods) ->
          unasked(
              "asks for " + methods,
              "add it to config.yaml as kind slurm (login: NAME) or ssh, then gpush login");
      case MachineFailure.KeyRefused _ -> unasked("accepts none of your keys", again());
      case MachineFailure.HostKeyUnknown _ -> unasked("has a host key that is new", "ssh " + name);
      case MachineFailure other ->
          unasked(CleanText.line(FailureText.clause(other), MOST_REASON), "ssh " + name);
    };
  }

  private PlaceFinding finding(String answer, Map<String, String> effective) {
    String address =
        effective.getOrDefault("user", "")
            + "@"
            + effective.getOrDefault("hostname", host.host())
            + ":"
            + effective.getOrDefault("port", "");
    Map<String, Integer> gpus = new TreeMap<>();
    words(answer, "gpu ")
        .forEach(name -> gpus.merge(name.replaceFirst("(?i)^nvidia ", ""), 1, Integer::sum));
    List<String> clusters = words(answer, "cluster ");
    if (!clusters.isEmpty()) {
      List<String> partitions =
          words(answer, "partition ").stream().distinct().map(HostLook::partition).toList();
      return new PlaceFinding.Login(
          host.host(), host.origin(), address, clusters.getFirst(), partitions);
    }
    if (gpus.isEmpty()) {
      return unusable("no GPUs and no Slurm");
    }
    String what =
        gpus.entrySet().stream()
            .map(kind -> kind.getValue() + " × " + kind.getKey())
            .collect(Collectors.joining(", "));
    return new PlaceFinding.GpuHost(host.host(), host.origin(), address, host.group(), what);
  }

  private static List<String> words(String answer, String prefix) {
    return answer
        .lines()
        .filter(line -> line.startsWith(prefix))
        .map(line -> word(line.substring(prefix.length())))
        .toList();
  }

  private static String word(String text) {
    return CleanText.line(text, MOST_WORD);
  }

  /** {@code gpu|gpu:a100:4(S:0-1)} as {@code gpu (gpu:a100:4)}; without GPUs the name alone. */
  private static String partition(String text) {
    String[] parts = text.split("\\|", 2);
    String gres = parts.length == 1 ? "" : parts[1].replaceAll("\\(.*?\\)", "");
    return gres.startsWith("gpu") ? parts[0] + " (" + gres + ")" : parts[0];
  }

  private PlaceFinding unasked(String why, String remedy) {
    return new PlaceFinding.Unasked(host.host(), host.origin(), why, remedy);
  }

  private PlaceFinding unusable(String why) {
    return new PlaceFinding.Unusable(host.host(), host.origin(), why);
  }

  private String again() {
    return isNamed ? "ssh " + host.host() : "gpush init " + host.host();
  }

  /** ssh here, as the machine on which it runs. */
  private record Here(String name, Launch launch, SshCommands commands) implements Machine {
    @Override
    public Pipe spawn(List<String> arguments) throws IOException {
      return launch.start(arguments, commands.alone());
    }
  }
}
