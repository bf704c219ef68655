package dev.gpush.shell.command.session;

import dev.gpush.core.talk.SshAccess;
import dev.gpush.shell.command.call.Action;
import dev.gpush.shell.command.call.Call;
import dev.gpush.shell.command.call.Values;
import dev.gpush.shell.render.Documents;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

@Command(
    name = "link",
    header = "Let ssh and editors find your sessions by name",
    description = {
      "Puts one Include line at the top of your ~/.ssh/config, so that ssh devbox works, and"
          + " editors list it. Asks first. --remove removes the line again, and nothing else."
          + " Inside WSL, --windows does the same for the ssh of Windows, which gets a copy of"
          + " the key."
    },
    footer = {"$ gpush link --yes", "linked: ssh devbox works now"})
public final class LinkCommand implements Action {
  @Option(names = "--print", description = "show what ssh reads; change nothing")
  boolean print;

  @Option(names = "--remove", description = "remove the line again")
  boolean remove;

  @Option(names = "--windows", description = "the ssh of Windows, from inside WSL")
  boolean windows;

  @Override
  public int run(Call call) {
    SshAccess ssh = call.services().gateway().ssh();
    if (print && remove) {
      throw Values.bad("link", "--print and --remove cannot be used together");
    }
    if (windows && print) {
      throw Values.bad("link", "--print shows what ssh reads here, without --windows");
    }
    if (windows && !ssh.hasWindows()) {
      throw Values.bad("link", "--windows is for WSL, and this is no WSL");
    }
    if (windows && remove) {
      ssh.unlinkWindows(call.talk());
    } else if (windows) {
      ssh.linkWindows(call.talk());
    } else if (remove) {
      ssh.unlink(call.talk());
    } else if (!print) {
      ssh.link(call.talk());
    }
    if (call.common().json) {
      call.print(Documents.link(ssh));
    } else if (print) {
      call.print(ssh.configText());
    }
    return 0;
  }
}
