package dev.gpush.backends.kubernetes.api;

import io.fabric8.kubernetes.client.okhttp.OkHttpClientFactory;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import javax.net.SocketFactory;
import okhttp3.OkHttpClient;

/**
 * HTTP over sockets that send at once: a keystroke must not wait for the answer to the last one.
 */
final class PromptSockets extends OkHttpClientFactory {
  @Override
  protected void additionalConfig(OkHttpClient.Builder builder) {
    builder.socketFactory(new Prompt(SocketFactory.getDefault()));
  }

  private static final class Prompt extends SocketFactory {
    private final SocketFactory usual;

    Prompt(SocketFactory usual) {
      this.usual = usual;
    }

    private static Socket prompt(Socket socket) throws IOException {
      socket.setTcpNoDelay(true);
      return socket;
    }

    @Override
    public Socket createSocket() throws IOException {
      return prompt(usual.createSocket());
    }

    @Override
    public Socket createSocket(String host, int port) throws IOException {
      return prompt(usual.createSocket(host, port));
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress from, int fromPort)
        throws IOException {
      return prompt(usual.createSocket(host, port, from, fromPort));
    }

    @Override
    public Socket createSocket(InetAddress host, int port) throws IOException {
      return prompt(usual.createSocket(host, port));
    }

    @Override
    public Socket createSocket(InetAddress host, int port, InetAddress from, int fromPort)
        throws IOException {
      return prompt(usual.createSocket(host, port, from, fromPort));
    }
  }
}
