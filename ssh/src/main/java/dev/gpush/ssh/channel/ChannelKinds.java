package dev.gpush.ssh.channel;

import dev.gpush.ssh.connection.Connections;
import java.util.List;
import java.util.function.Supplier;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.channel.ChannelFactory;
import org.apache.sshd.common.session.Session;

/** The channels that a client may open. */
public record ChannelKinds(String getName, Supplier<Channel> make) implements ChannelFactory {

  public static List<ChannelFactory> of(Connections connections) {
    return List.of(
        new ChannelKinds("session", () -> new SessionChannel(connections)),
        new ChannelKinds(
            "direct-tcpip", () -> new DialChannel(connections, DialChannel.Target::tcp)),
        new ChannelKinds(
            "direct-streamlocal@openssh.com",
            () -> new DialChannel(connections, DialChannel.Target::unix)));
  }

  @Override
  public Channel createChannel(Session session) {
    return make.get();
  }
}
