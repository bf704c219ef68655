package dev.gpush.backends.transport.builtin;

import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import net.schmizz.sshj.common.Buffer;
import net.schmizz.sshj.common.Message;
import net.schmizz.sshj.common.SSHPacket;
import net.schmizz.sshj.transport.TransportException;
import net.schmizz.sshj.userauth.UserAuthException;
import net.schmizz.sshj.userauth.method.AbstractAuthMethod;

/**
 * One step of keyboard-interactive: asks to be asked, or gives the answers. What the server wants
 * to know is thrown to the thread that logs in, which may wait for a person; sshj's own method
 * would wait on the thread that reads from the network.
 */
final class Questions extends AbstractAuthMethod {
  /** A server that asks more at once is none to talk to. */
  private static final int MOST = 32;

  private final Optional<List<String>> answers;

  private Questions(Optional<List<String>> answers) {
    super("keyboard-interactive");
    this.answers = answers;
  }

  static Questions please() {
    return new Questions(Optional.empty());
  }

  static Questions answered(List<String> answers) {
    return new Questions(Optional.of(List.copyOf(answers)));
  }

  record Prompt(String text, boolean isShown) {}

  /** The server asks. */
  static final class Asked extends UserAuthException {
    private final String title;
    private final List<Prompt> prompts;

    Asked(String title, List<Prompt> prompts) {
      super("asked");
      this.title = title;
      this.prompts = List.copyOf(prompts);
    }

    String title() {
      return title;
    }

    List<Prompt> prompts() {
      return prompts;
    }
  }

  @Override
  public void request() throws UserAuthException, TransportException {
    if (answers.isEmpty()) {
      super.request();
      return;
    }
    SSHPacket packet = new SSHPacket(Message.USERAUTH_INFO_RESPONSE);
    packet.putUInt32(answers.get().size());
    answers.get().forEach(answer -> packet.putSensitiveString(answer.toCharArray()));
    params.getTransport().write(packet);
  }

  @Override
  protected SSHPacket buildReq() throws UserAuthException {
    return super.buildReq().putString("").putString("");
  }

  @Override
  public void handle(Message message, SSHPacket packet) throws UserAuthException {
    if (message != Message.USERAUTH_60) {
      throw new UserAuthException("an answer that does not belong: " + message);
    }
    try {
      String title = (packet.readString() + " " + packet.readString()).strip();
      packet.readString();
      int count = packet.readUInt32AsInt();
      if (count > MOST) {
        throw new UserAuthException("it asks " + count + " things at once");
      }
      var prompts = new ArrayList<Prompt>();
      for (int i = 0; i < count; i++) {
        prompts.add(new Prompt(packet.readString(), packet.readBoolean()));
      }
      throw new Asked(title, prompts);
    } catch (Buffer.BufferException cut) {
      throw new UserAuthException(cut);
    }
  }
}
